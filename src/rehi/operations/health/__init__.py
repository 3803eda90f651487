"""Health: whether every part of the house is as it should be, what ails it, and its cure."""

from rehi.operations.health.ailment import Ailment, HousePart
from rehi.operations.health.examination import Examination, examine, examine_house
from rehi.operations.health.mended import LostRecord, LostVersion, Mended
from rehi.operations.health.mending import mend

__all__ = [
    "Ailment",
    "Examination",
    "HousePart",
    "LostRecord",
    "LostVersion",
    "Mended",
    "examine",
    "examine_house",
    "mend",
]
