"""The parts of Bayesian optimisation, each of use on its own: samples, model, acquisition, search."""

from luminary.emitters._bayesian._acquisition import JointImprovement
from luminary.emitters._bayesian._gaussian_process import GaussianProcess
from luminary.emitters._bayesian._pattern_search import pattern_search
from luminary.emitters._bayesian._sobol import SobolSequence

__all__ = ["SobolSequence", "GaussianProcess", "JointImprovement", "pattern_search"]
