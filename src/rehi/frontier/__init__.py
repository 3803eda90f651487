"""The frontier: what is due, when, and for whom. Hosts are leased, not URLs."""

from rehi.frontier.agenda import Agenda, Errand
from rehi.frontier.schedule import next_visit, wait_after_failures

__all__ = ["Agenda", "Errand", "next_visit", "wait_after_failures"]
