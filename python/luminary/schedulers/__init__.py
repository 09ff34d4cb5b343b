"""Schedulers: the loop around emitters and archive."""

from luminary.schedulers._bandit_scheduler import BanditScheduler
from luminary.schedulers._scheduler import Scheduler

__all__ = ["Scheduler", "BanditScheduler"]
