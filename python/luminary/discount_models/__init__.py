"""Models of the discount function for :class:`~luminary.archives.DiscountArchive`; they need PyTorch."""

from luminary.discount_models._discount_model_manager import DiscountModelManager
from luminary.discount_models._mlp import MLP

__all__ = ["MLP", "DiscountModelManager"]
