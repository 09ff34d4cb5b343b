"""Schedulers: the loop around emitters and archive."""

from luminary.schedulers._bandit_scheduler import BanditScheduler
from luminary.schedulers._bayesian_optimization_scheduler import BayesianOptimizationScheduler
from luminary.schedulers._scheduler import Scheduler

__all__ = ["Scheduler", "BanditScheduler", "BayesianOptimizationScheduler"]
