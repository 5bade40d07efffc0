"""Quantities: a number with a unit, compared after conversion to their dimension's base units.

Units are pint's, taken through exact fractions, so that `0.1 km` equals `100 m` and not nearly. A
unit is read once and kept as (dimension, factor, offset); pint itself is imported at the first one.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

# A unit is names with small exponents, joined by * · or /: km, m/s, W/m2, kWh, °C, %.
_NAME = r"[A-Za-zµμ°%Ω]+"
_POWER = r"(?:[²³]|\^?-?[1-9])?"
UNIT = rf"{_NAME}{_POWER}(?:[*·/]{_NAME}{_POWER})*"
# An exponent is short: an exact fraction of 1e99999999 would have that many digits.
_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?"
_QUANTITY = re.compile(rf"({_NUMBER}) *({UNIT})")
_LONGEST = 100
# UCUM's names where pint has another.
_ALIASES = {"Cel": "degC", "°C": "degC", "°F": "degF", "[degF]": "degF"}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit as written, and what it comes to in base units.

    >>> read("5 km").base == read("5000 m").base
    True
    """

    number: str
    unit: str
    dimension: str
    base: Fraction

    def __str__(self) -> str:
        return f"{self.number} {self.unit}"


@lru_cache(maxsize=65_536)
def read(text: str) -> Quantity | None:
    """The quantity that the whole of `text` writes, or None.

    >>> read("5000m").dimension, read("5 apples"), read("5")
    ('[length]', None, None)
    """
    found = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        return None
    known = unit(found.group(2))
    if known is None:
        return None
    dimension, factor, offset = known
    return Quantity(
        found.group(1), found.group(2), dimension, Fraction(found.group(1)) * factor + offset
    )


@lru_cache(maxsize=4_096)
def unit(name: str) -> tuple[str, Fraction, Fraction] | None:
    """A unit's dimension, and the factor and offset that lead to base units; None if unknown."""
    spelled = re.sub(rf"({_NAME})\^?(-?[1-9])", r"\1**\2", _ALIASES.get(name, name))
    try:
        zero, one, two = (_in_base_units(n, spelled) for n in (0, 1, 2))
    except Exception:  # pint raises many kinds for what it cannot read: all mean "no such unit"
        return None
    if two[1] - one[1] != one[1] - zero[1]:  # a logarithmic unit has no factor
        return None
    return one[0], one[1] - zero[1], zero[1]


def _in_base_units(number: int, unit_name: str) -> tuple[str, Fraction]:
    found = _registry().Quantity(Fraction(number), unit_name).to_base_units()
    powers = sorted((name, Fraction(power)) for name, power in found.dimensionality.items())
    dimension = "·".join(name if power == 1 else f"{name}^{power}" for name, power in powers)
    return dimension or "1", Fraction(found.magnitude)


@cache
def _registry() -> Any:  # pint's registry is generic over types that it builds at run time
    import pint

    return pint.UnitRegistry(non_int_type=Fraction, cache_folder=None)
