"""Which classes the engine may act for."""

from __future__ import annotations


class Declared:
    """Base of classes that say whether the engine may do their work without calling their methods.

    A class of this package declares it with ``_acts_natively = True`` and names in ``_acting`` the methods whose work
    that is. A subclass that changes one of these methods does its work itself; this is settled when it is defined.
    """

    _acts_natively = False
    _acting: tuple[str, ...] = ()

    def __init_subclass__(cls, **arguments):
        super().__init_subclass__(**arguments)
        if "_acts_natively" not in vars(cls):
            declaring = _declaring(cls)
            cls._acts_natively = declaring._acts_natively and all(
                getattr(cls, name) is getattr(declaring, name) for name in cls._acting
            )
        else:
            cls._declares_acting = True

    _declares_acting = True


def _declaring(cls):
    """The class of this package that a class is or derives from."""
    return next(base for base in cls.__mro__ if vars(base).get("_declares_acting"))


def keeps(part, *names):
    """Whether an object's methods of these names are those of the class of this package that it is or derives from."""
    cls = type(part)
    if not issubclass(cls, Declared) or not vars(part).keys().isdisjoint(names):
        return False
    return all(getattr(cls, name) is getattr(_declaring(cls), name, None) for name in names)


def acts_natively(part):
    """Whether the engine may do an object's work: its class says so, and it was given no methods of its own."""
    return getattr(type(part), "_acts_natively", False) and vars(part).keys().isdisjoint(type(part)._acting)
