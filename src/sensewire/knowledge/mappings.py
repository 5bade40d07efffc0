"""Mapping functions: from some attributes of one subject to others (Burcea 2003, section 4.1).

The paper's example is work experience, from the year of graduation to now. A function is a value of
three fields, compared, hashed and pickled by them; its expressions are compiled when it is made by
`mapping_function`, and kept beside it by their texts. Cost of `apply`: some 8 µs for one output.

Invariant: what `mapping_function` returns can fail on an event, with a reason, and in no other way.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import assert_never

from sensewire.knowledge.cel import compiled
from sensewire.knowledge.cel_functions import EvaluationError, type_name
from sensewire.knowledge.cel_names import problem_with_name
from sensewire.model import comparison, terms
from sensewire.model.datatypes import Number
from sensewire.model.errors import KnowledgeError, SensewireError
from sensewire.model.terms import Kind, Term, local_name, term_of


class MappingError(SensewireError):
    """A mapping function that gave no answer for some values; the others go on.

    >>> print(MappingError("experience", "division by zero"))
    mapping experience failed: division by zero
    """

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.reason = reason
        super().__init__(name, reason)

    def __str__(self) -> str:
        return f"mapping {self.name} failed: {self.reason}"


@dataclass(frozen=True, slots=True)
class MappingFunction:
    """A function that domain experts wrote: its inputs under the names its outputs use, in CEL."""

    name: str
    inputs: tuple[tuple[str, Term], ...]  # the name in the expressions, and the attribute
    outputs: tuple[tuple[Term, str], ...]  # the attribute, and its CEL expression

    @property
    def uses_event(self) -> bool:
        """Whether an output reads the event's time or id, and so differs from event to event."""
        aliases = tuple([alias for alias, _ in self.inputs])
        return any("event" in compiled(text, aliases).names for _, text in self.outputs)

    def apply(
        self, values: Sequence[Term], time: datetime, id: str
    ) -> tuple[tuple[Term, Term], ...]:
        """The facts made from one value for each input, in order: (attribute, value) pairs.

        >>> from datetime import UTC
        >>> from sensewire.model.terms import string
        >>> double = mapping_function("double", [("n", string("n"))], [(string("twice"), "n * 2")])
        >>> [str(value) for _, value in double.apply([term_of(1.5)], datetime.now(UTC), "e1")]
        ['"3.0"^^<http://www.w3.org/2001/XMLSchema#double>']
        """
        aliases = tuple([alias for alias, _ in self.inputs])
        given: dict[str, object] = {"event": {"time": time, "id": id}}
        made: list[tuple[Term, Term]] = []
        try:
            for alias, value in zip(aliases, values, strict=True):
                given[alias] = _value_of(value)
            for attribute, text in self.outputs:
                result = compiled(text, aliases).evaluate(given)
                made += [(attribute, term) for term in _terms_of(result)]
        except EvaluationError as error:
            # One output's failure is the function's: none of its outputs is decided.
            raise MappingError(self.name, str(error)) from None
        return tuple(made)


def mapping_function(
    name: str, inputs: Iterable[tuple[str, Term]], outputs: Iterable[tuple[Term, str]]
) -> MappingFunction:
    """The function, every expression of it checked.

    >>> from sensewire.model.terms import string
    >>> mapping_function("sum", [("a", string("a"))], [(string("b"), "a + c")])
    Traceback (most recent call last):
    ...
    sensewire.model.errors.KnowledgeError: mapping sum, output b:
    a + c
        ^ unknown name c; known are a, event
    """
    function = MappingFunction(name, tuple(inputs), tuple(outputs))
    for what, part in (("input", function.inputs), ("output", function.outputs)):
        if not part:
            raise KnowledgeError(f"mapping {name} has no {what}; expected at least one")
    aliases = tuple([alias for alias, _ in function.inputs])
    for alias in aliases:
        problem = problem_with_name(alias)
        if problem is not None:
            raise KnowledgeError(f"mapping {name}: the input name {alias!r} {problem}")
        if aliases.count(alias) > 1:
            raise KnowledgeError(f"mapping {name}: two inputs of the name {alias!r}; rename one")
    for attribute, text in function.outputs:
        try:
            compiled(text, aliases)
        except KnowledgeError as error:
            shown = local_name(attribute.text) if attribute.kind is Kind.IRI else attribute.text
            raise KnowledgeError(f"mapping {name}, output {shown}:\n{error}") from None
    return function


def _value_of(term: Term) -> object:
    """A term as CEL's value; a quantity and an IRI are their texts."""
    match term.kind:
        case Kind.NUMBER:
            return _number(terms.number_of(term))
        case Kind.UNTYPED:
            number = comparison.numeric(term)
            return term.text if number is None else _number(number)
        case Kind.BOOLEAN | Kind.DATE:
            return term.value
        case Kind.BLANK:
            return str(term)
        case Kind.STRING | Kind.LANGUAGE | Kind.QUANTITY | Kind.IRI:
            return term.text
    assert_never(term.kind)


def _number(number: Number) -> int | float:
    return comparison.as_double(number) if isinstance(number, Decimal) else number


def _terms_of(result: object) -> list[Term]:
    """The terms that an expression produced: none for null, many for a list."""
    if result is None:
        return []
    if isinstance(result, list):
        return [_term_of(item) for item in result if item is not None]
    return [_term_of(result)]


def _term_of(value: object) -> Term:
    if isinstance(value, timedelta):
        return _seconds(value)
    if not isinstance(value, (bool, int, float, str, datetime)):
        raise EvaluationError(
            f"produced a {type_name(value)}; expected a text, number, boolean, timestamp or "
            "duration, or one list of them"
        )
    if isinstance(value, float) and not math.isfinite(value):
        raise EvaluationError(f"produced {value}; expected a finite number")
    return term_of(value)


def _seconds(duration: timedelta) -> Term:
    """A duration as a quantity, exact to the microsecond that it has."""
    seconds = Decimal(duration // timedelta(microseconds=1)) / 1_000_000
    found = terms.quantity(f"{seconds.normalize():f} s")
    assert found is not None
    return found
