"""Refuses a query that asks for too many patterns, or for patterns that have nothing in common.

The solutions of patterns that share no variable multiply: sixteen of them with ten solutions each
have ten to the sixteenth. Cost: nearly linear in the patterns.
"""

from collections.abc import Sequence

from sensewire.language.limits import MOST_PATTERNS, MOST_UNJOINED
from sensewire.model.conditions import Variable
from sensewire.model.errors import UnsupportedError
from sensewire.model.expressions import Expression, variables_in
from sensewire.model.subscription import Home, TriplePattern


def refuse_breadth(
    patterns: Sequence[TriplePattern],
    places: Sequence[int],
    constraints: Sequence[Expression] = (),
) -> None:
    """Raise UnsupportedError where the patterns, each at its place, are too many or too far apart.

    A constraint over their variables brings patterns together, and so does the home vertex.

    >>> from sensewire.model.conditions import exact, Name
    >>> apart = [TriplePattern(Variable(f"{n}"), exact(Name("p")), Variable("o")) for n in range(9)]
    >>> refuse_breadth(apart, range(9))
    """
    if len(patterns) > MOST_PATTERNS:
        raise UnsupportedError(
            f"{len(patterns):,} triple patterns; at most {MOST_PATTERNS:,}", places[MOST_PATTERNS]
        )
    if len(patterns) <= MOST_UNJOINED:
        return
    first: dict[Variable | Home, int] = {}  # the first pattern of each group, by what it shares
    group = list(range(len(patterns)))

    def join(part: Variable | Home, number: int) -> None:
        one, other = _root(group, first.setdefault(part, number)), _root(group, number)
        group[max(one, other)] = min(one, other)

    for number, pattern in enumerate(patterns):
        for part in (pattern.subject, pattern.property, pattern.object):
            if isinstance(part, Variable | Home):
                join(part, number)
    for constraint in constraints:
        together = [variable for variable in variables_in(constraint) if variable in first]
        for variable in together[1:]:
            join(variable, first[together[0]])
    mentioned = {_root(group, number) for number in first.values()}
    if len(mentioned) > MOST_UNJOINED:
        raise UnsupportedError(
            f"{len(mentioned):,} groups of patterns that share no variable, whose solutions "
            f"multiply; at most {MOST_UNJOINED}",
            places[sorted(mentioned)[MOST_UNJOINED]],
        )


def _root(group: list[int], number: int) -> int:
    while group[number] != number:
        group[number] = group[group[number]]
        number = group[number]
    return number
