"""Times of day, durations and parts of dates, in strict subscriptions: pyoxigraph itself is asked.

The definition knows no such kinds: to it they are literals of unknown datatypes. SPARQL 1.1 leaves
them open too, and pyoxigraph, which stands above the definition there, compares them and calculates
with them and with dates. Cost: some 50 µs for each new pair.
"""

from functools import lru_cache

from sensewire.model import datatypes
from sensewire.model.terms import FALSE, Kind, Term, language_string, literal

_NAMES = """
    time duration dayTimeDuration yearMonthDuration gYear gYearMonth gMonth gMonthDay gDay
"""
_FOREIGN = frozenset(datatypes.XSD + name for name in _NAMES.split())


def is_foreign(term: Term) -> bool:
    """Whether pyoxigraph knows the value of a term, and the definition does not."""
    return term.datatype in _FOREIGN


def compared(relation: str, a: Term, b: Term) -> bool | None:
    """Whether a comparison holds; None is an error.

    >>> noon, later = (literal(f"{hour}:00:00Z", datatypes.XSD + "time") for hour in (12, 13))
    >>> compared("<", noon, later), compared("<", noon, literal("1", datatypes.INTEGER))
    (True, None)
    """
    found = _answer(relation, a, b)
    return None if found is None else found.text == "true"


def calculated(sign: str, a: Term, b: Term) -> Term | None:
    """What two terms come to; None is an error.

    >>> first, last = (literal(f"2024-03-0{day}", datatypes.DATE) for day in (1, 3))
    >>> print(calculated("-", last, first).text)
    P2D
    """
    return _answer(sign, a, b)


@lru_cache(maxsize=4_096)
def _answer(operator: str, a: Term, b: Term) -> Term | None:
    if Kind.BLANK in (a.kind, b.kind):  # which a query cannot name
        return FALSE if operator == "=" else None
    import pyoxigraph

    # By variables: of constants, it does not know the sum of a date and a duration.
    query = f"SELECT (?a {operator} ?b AS ?r) {{ VALUES (?a ?b) {{ ({a} {b}) }} }}"
    solutions = pyoxigraph.Store().query(query)
    assert isinstance(solutions, pyoxigraph.QuerySolutions)
    found = next(solutions)["r"]
    if found is None:
        return None
    assert isinstance(found, pyoxigraph.Literal)
    if found.language is not None:
        return language_string(found.value, found.language)
    return literal(found.value, found.datatype.value)
