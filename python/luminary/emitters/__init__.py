"""Emitters: where new solutions come from."""

from luminary.emitters import operators, opt, rankers
from luminary.emitters._bayesian_optimization_emitter import BayesianOptimizationEmitter
from luminary.emitters._emitter_base import EmitterBase
from luminary.emitters._evolution_strategy_emitter import EvolutionStrategyEmitter
from luminary.emitters._genetic_algorithm_emitter import GeneticAlgorithmEmitter
from luminary.emitters._gradient_arborescence_emitter import GradientArborescenceEmitter
from luminary.emitters._gradient_operator_emitter import GradientOperatorEmitter
from luminary.emitters._variation import GaussianEmitter, IsoLineEmitter

__all__ = [
    "BayesianOptimizationEmitter",
    "EvolutionStrategyEmitter",
    "GaussianEmitter",
    "GeneticAlgorithmEmitter",
    "GradientArborescenceEmitter",
    "GradientOperatorEmitter",
    "IsoLineEmitter",
    "EmitterBase",
]
