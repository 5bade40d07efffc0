"""SPARQL: from a query to a subscription.

    text → tokens → tree of groups (`sparql_query`) → rows (`sparql_groups`) → subscription

Without `reading="meaning"` the subscription is strict: SPARQL 1.1 as it is, on the event's own
facts. Cost: linear in the text and in the alternatives that it spreads to.
"""

from sensewire.language.breadth import refuse_breadth
from sensewire.language.sparql_groups import Groups
from sensewire.language.sparql_query import query_of
from sensewire.model.conditions import Reading, Variable
from sensewire.model.errors import ParseError, UnsupportedError
from sensewire.model.subscription import (
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
        patterns = [atom for atom in conjunction.atoms if isinstance(atom, TriplePattern)]
        places = [query.where.position] * len(patterns)
        refuse_breadth(patterns, places, conjunction.constraints)
    try:
        return Subscription(conjunctions, query.select, strict=used is Reading.EXACT)
    except InvalidSubscriptionError as error:
        place = query.places.get(error.problem.variable or Variable(""), query.where.position)
        raise ParseError(text, place, f"a sound query; {error.problem.message}") from None
