"""SPARQL: from a query to a subscription.

    text → tokens → tree of groups (`sparql_query`) → rows (`sparql_groups`) → subscription

Without `reading="meaning"` the subscription is strict: SPARQL 1.1 as it is, on the event's own
facts. Cost: linear in the text and in the alternatives that it spreads to.
"""

from sensewire.language.limits import MOST_UNJOINED
from sensewire.language.sparql_groups import Groups
from sensewire.language.sparql_query import query_of
from sensewire.model.conditions import Reading, Variable
from sensewire.model.errors import ParseError, UnsupportedError
from sensewire.model.expressions import variables_in
from sensewire.model.subscription import (
    Conjunction,
    InvalidSubscriptionError,
    Subscription,
    TriplePattern,
)


def read(text: str, reading: Reading | None) -> Subscription:
    """The subscription that a query says.

    >>> asked = read("SELECT ?x { ?x <http://x.org/price> 5 }", None)
    >>> asked.strict, asked.select
    (True, (Variable(name='x'),))
    """
    used = Reading.MEANING if reading is Reading.MEANING else Reading.EXACT
    query = query_of(text, used)
    rows = Groups(query.fresh, query.places, used).rows(query.where)
    for row in rows:
        for variable in query.select or ():
            if variable not in row.binds:
                raise UnsupportedError(
                    f"{variable} is selected, but not bound in every alternative",
                    query.places[variable],
                )
    conjunctions = tuple([row.conjunction() for row in rows])
    for conjunction in conjunctions:
        _check_joins(conjunction, query.where.position)
    try:
        return Subscription(conjunctions, query.select, strict=used is Reading.EXACT)
    except InvalidSubscriptionError as error:
        place = query.places.get(error.problem.variable or Variable(""), query.where.position)
        raise ParseError(text, place, f"a sound query; {error.problem.message}") from None


def _check_joins(conjunction: Conjunction, place: int) -> None:
    """Refuse many patterns that share no variable, since their solutions multiply."""
    patterns = [atom for atom in conjunction.atoms if isinstance(atom, TriplePattern)]
    if len(patterns) <= MOST_UNJOINED:
        return
    parts: list[set[Variable]] = []
    sets = [
        {v for v in (p.subject, p.property, p.object) if isinstance(v, Variable)} for p in patterns
    ]
    sets += [set(variables_in(constraint)) for constraint in conjunction.constraints]
    for mine in sets:
        apart = []
        for part in parts:
            if mine and not part.isdisjoint(mine):
                mine |= part
            else:
                apart.append(part)
        parts = [*apart, mine] if mine else apart
    if len(parts) > MOST_UNJOINED:
        raise UnsupportedError(
            f"{len(parts)} groups of patterns that share no variable; at most {MOST_UNJOINED}",
            place,
        )
