"""Reading runs, and what they show: rates, comparisons, tables, pages."""
