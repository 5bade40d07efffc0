"""The answers to a query, from pyoxigraph and from Sensewire, in lines that can be compared.

?x <x:ann> ?y "5"^^xsd:integer      a row, its variables in the order of their names
?x _:                               blank nodes are all written alike, so that rows are counted
yes, no                             of a query that selects no variable
nothing                             of one that does, where there is no row
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyoxigraph

from sensewire.engine import Engine
from sensewire.language.words import PREDECLARED
from sensewire.model import datatypes
from sensewire.model.event import Event
from sensewire.model.subscription import Subscription

_XSD = re.compile(rf"\^\^<{re.escape(datatypes.XSD)}(\w+)>")

Row = Mapping[str, str]


def of_pyoxigraph(query: str, graph: str, format: str = "ttl") -> list[str]:
    """What pyoxigraph answers, with the prefixes that Sensewire declares by itself."""
    syntax = pyoxigraph.RdfFormat.from_extension(format)
    store = pyoxigraph.Store()
    store.load(graph, format=syntax)
    answer = store.query(query, prefixes=dict(PREDECLARED))
    if isinstance(answer, pyoxigraph.QueryBoolean):
        return ["yes"] if answer else ["no"]
    assert isinstance(answer, pyoxigraph.QuerySolutions), query
    names = [variable.value for variable in answer.variables]
    rows = [{name: str(solution[name]) for name in names} for solution in answer]
    return lines_of(names, rows)


def of_sensewire(
    subscription: Subscription, graph: str, format: str = "ttl", *, matcher: str = "oracle"
) -> list[str]:
    """What an engine answers to a subscription."""
    engine = Engine(matcher=matcher)
    engine.add(subscription, id="s")
    matches = engine.match(Event.rdf(graph, format, id="e"))
    assert not matches.failures, matches.failures
    rows = [
        {name: str(term) for name, term in row.items()} for match in matches for row in match.rows
    ]
    return lines_of([variable.name for variable in subscription.select or ()], rows)


def is_read_by_pyoxigraph(query: str) -> bool:
    """Whether pyoxigraph takes a text for a query, also where it has no answer to it."""
    try:
        pyoxigraph.Store().query(query, prefixes=dict(PREDECLARED))
    except SyntaxError:
        return False
    except RuntimeError:  # a function that it does not know, say
        return True
    return True


def lines_of(names: Sequence[str], rows: Iterable[Row]) -> list[str]:
    """The lines of an answer's rows."""
    distinct = sorted({tuple((name, row[name]) for name in sorted(names)) for row in rows})
    if not names:
        return ["yes"] if distinct else ["no"]
    return sorted(_written(distinct)) or ["nothing"]


def _written(rows: Iterable[Sequence[tuple[str, str]]]) -> Iterator[str]:
    for row in rows:
        yield " ".join([f"?{name} {_short(term)}" for name, term in row])


def _short(term: str) -> str:
    return "_:" if term.startswith("_:") else _XSD.sub(r"^^xsd:\1", term)
