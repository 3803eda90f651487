"""Health: whether every part of the house is as it should be, what ails it, and its cure."""

from rehi.operations.health.ailment import Ailment, HousePart
from rehi.operations.health.examination import Examination, examine, examine_house
from rehi.operations.health.mending import LostVersion, Mended, mend

__all__ = ["Ailment", "Examination", "HousePart", "LostVersion", "Mended", "examine", "examine_house", "mend"]
