"""AutoPlan: one plan for all tasks of a kind, in plain language, rewritten from experience.

Source: Ouyang and Li, AutoPlan: Automatic Planning of Interactive Decision-Making Tasks With Large
Language Models, 2023.
"""
