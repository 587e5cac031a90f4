"""Wrappers, one a module, each a complete ``gymnasium.Wrapper``.

Apply those of text first, next to the environment; ``TokenIds``, ``ActionMasking`` and
``MaskInObservation`` go outside of them.
"""

from textcraft_gym.wrappers.action_masking import ActionMasking
from textcraft_gym.wrappers.helpful_feedback import HelpfulFeedback
from textcraft_gym.wrappers.mask_in_observation import MaskInObservation
from textcraft_gym.wrappers.subgoal_reward import SubgoalReward
from textcraft_gym.wrappers.text_history import TextHistory
from textcraft_gym.wrappers.think_actions import ThinkActions
from textcraft_gym.wrappers.token_ids import TokenIds, vocabulary_of
from textcraft_gym.wrappers.transcript_recorder import TranscriptRecorder

__all__ = [
    "ActionMasking",
    "HelpfulFeedback",
    "MaskInObservation",
    "SubgoalReward",
    "TextHistory",
    "ThinkActions",
    "TokenIds",
    "TranscriptRecorder",
    "vocabulary_of",
]
