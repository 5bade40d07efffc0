"""The parts that a text is built from: values, variables, brackets and formulas."""

from dataclasses import dataclass

from sensewire.language.formula import Formula
from sensewire.language.values import Value
from sensewire.model.conditions import Variable


@dataclass(frozen=True, slots=True)
class Named:
    """A variable, where it stands."""

    variable: Variable
    position: int


@dataclass(frozen=True, slots=True)
class Group:
    """A part in brackets."""

    part: "Value | Named | Formula"
    position: int


Part = Value | Named | Group | Formula
