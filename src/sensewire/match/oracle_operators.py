"""What the operators say of an event, as the oracle asks them (Liu 2007, section 2.1).

An operator is given the event, the constants and the variables; it answers no, yes, or the rows of
values that its variables may have. Each question is asked once for an event. Whatever an operator
raises, and any reply that cannot be used, is its failure.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sensewire.match.matcher import Operator
from sensewire.model.conditions import Constant, Variable
from sensewire.model.event import Event
from sensewire.model.subscription import OperatorCall
from sensewire.model.terms import Term, term_of

MOST_ROWS = 100_000
"""Rows that are taken of one operator's reply."""


@dataclass(frozen=True, slots=True)
class Failed:
    """An operator that gave no usable reply."""

    reason: str


class Replies:
    """What the operators say of one event; each question is asked once."""

    def __init__(self, event: Event, operators: Mapping[str, Operator]) -> None:
        self._event = event
        self._operators = operators
        self._known: dict[OperatorCall, list[dict[Variable, Term]] | Failed] = {}

    def to(self, call: OperatorCall) -> list[dict[Variable, Term]] | Failed:
        if call not in self._known:
            try:
                self._known[call] = self._asked(call)
            except Exception as error:  # whatever an operator raises is its failure, not ours
                reason = f"operator {call.operator} failed: {type(error).__name__}: {error}"
                self._known[call] = Failed(reason)
        return self._known[call]

    def _asked(self, call: OperatorCall) -> list[dict[Variable, Term]]:
        variables = {
            part: part.as_written() for part in call.arguments if isinstance(part, Variable)
        }
        arguments = [_argument(part) for part in call.arguments]
        reply = self._operators[call.operator](self._event, *arguments)
        if isinstance(reply, bool):
            reply = [{}] if reply else []
        if isinstance(reply, str | bytes | Mapping):
            raise TypeError(f"answered a {type(reply).__name__}; expected a bool or rows")
        rows: list[dict[Variable, Term]] = []
        for row in reply:
            if len(rows) == MOST_ROWS:
                raise ValueError(f"answered more than {MOST_ROWS:,} rows")
            if not isinstance(row, Mapping):
                raise TypeError(f"answered a row that is a {type(row).__name__}, not a mapping")
            if len(variables) == len(row) == 1:  # one value for one variable, whatever its name
                rows.append(dict(zip(variables, map(term_of, row.values()), strict=True)))
                continue
            missing = [str(asked) for asked in variables.values() if asked.name not in row]
            if missing:
                raise ValueError(f"answered yes, but bound no {', '.join(missing)}")
            rows.append({v: term_of(row[asked.name]) for v, asked in variables.items()})
        return rows


def _argument(part: Variable | Constant) -> Term | Variable:
    """What an operator is given: a term, the string that a bare name spells, or the variable."""
    if isinstance(part, Variable):
        return part.as_written()
    return part.value if isinstance(part.value, Term) else term_of(part.value.text)
