"""Evolution strategies and gradient optimisers for emitters.

Emitters take them as classes or by name: ``cma_es``, ``sep_cma_es``, ``lm_ma_es``, ``openai_es`` and ``pycma_es`` for
evolution strategies; ``adam`` and ``gradient_ascent`` for gradient optimisers; full class names work too.
"""

from luminary.emitters.opt._evolution_strategy_base import EvolutionStrategyBase
from luminary.emitters.opt._gradient_opt import AdamOpt, GradientAscentOpt, GradientOptBase
from luminary.emitters.opt._native_es import (
    CMAEvolutionStrategy,
    LMMAEvolutionStrategy,
    OpenAIEvolutionStrategy,
    SeparableCMAEvolutionStrategy,
)
from luminary.emitters.opt._pycma_es import PyCMAEvolutionStrategy

__all__ = [
    "CMAEvolutionStrategy",
    "LMMAEvolutionStrategy",
    "OpenAIEvolutionStrategy",
    "PyCMAEvolutionStrategy",
    "SeparableCMAEvolutionStrategy",
    "EvolutionStrategyBase",
    "AdamOpt",
    "GradientAscentOpt",
    "GradientOptBase",
]

_NATIVE_STRATEGIES = {
    "cma_es": CMAEvolutionStrategy,
    "sep_cma_es": SeparableCMAEvolutionStrategy,
    "lm_ma_es": LMMAEvolutionStrategy,
    "openai_es": OpenAIEvolutionStrategy,
}
_STRATEGIES = {**_NATIVE_STRATEGIES, "pycma_es": PyCMAEvolutionStrategy}
_OPTIMIZERS = {"adam": AdamOpt, "gradient_ascent": GradientAscentOpt}


def _by_name(known, wanted, what):
    """A class by its full or short name, or the callable itself."""
    if isinstance(wanted, str):
        names = {**known, **{each.__name__: each for each in known.values()}}
        if wanted not in names:
            raise ValueError(f"`{wanted}` is not the full or abbreviated name of a valid {what}")
        return names[wanted]
    if callable(wanted):
        return wanted
    raise ValueError(f"`{wanted}` is neither a callable nor a string")


def _get_es(es):
    return _by_name(_STRATEGIES, es, "evolution strategy")


def _get_grad_opt(grad_opt):
    return _by_name(_OPTIMIZERS, grad_opt, "gradient optimizer")
