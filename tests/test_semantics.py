"""`docs/semantics.md`, row by row, against every matcher that takes the subscription.

Proved by breaking: 47 of the oracle's rules (bridges, readings, conditions, negation, injective,
the third value, distance) were broken one by one, and rows were added until each was caught.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import orjson
import pytest

from sensewire.engine import Engine
from sensewire.knowledge.knowledge import Knowledge
from sensewire.language.parse import parse
from sensewire.match.dispatch import MATCHERS
from sensewire.match.matcher import Operator
from sensewire.model.conditions import Variable
from sensewire.model.errors import EventError, ParseError, SubscriptionError
from sensewire.model.event import Event
from sensewire.model.match import Matches
from sensewire.model.terms import Term

PAGE = Path(__file__).parent.parent / "docs" / "semantics.md"
PREFIXES = "@prefix : <http://x.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
HEADER = "| event | subscription | answer |"


def broken(event: Event, *arguments: Term | Variable) -> bool:
    raise RuntimeError("the camera is off")


OPERATORS: dict[str, Operator] = {
    "yes": lambda event: True,
    "no": lambda event: False,
    "broken": broken,
    "nowhere": broken,
    "people": lambda event, n: [{n.name: 3}, {n.name: 60}],
    "pair": lambda event, a, b: [{a.name: 1, b.name: n} for n in (1, 2) if a != b or n == 1],
}


class Row(NamedTuple):
    line: int
    event: str
    subscription: str
    answer: str


def rows_of_the_page() -> Iterator[Row]:
    inside = False
    for number, line in enumerate(PAGE.read_text(encoding="utf-8").splitlines(), start=1):
        if line == HEADER:
            inside = True
        elif not line.startswith("|"):
            inside = False
        elif inside and not line.startswith("|---"):
            found = re.fullmatch(r"\| `(.*?)` \| `(.*?)` \| (.*) \|", line)
            assert found is not None, f"line {number} is no row: {line}"
            yield Row(number, *found.groups())


def event_of(text: str) -> Event:
    if text.startswith("{"):
        return Event.record(orjson.loads(text), id="e", time="2024-03-01")
    return Event.rdf(PREFIXES + text, "ttl", id="e", time="2024-03-01")


def written(matches: Matches) -> str:
    """An answer as the page writes it."""
    undecided = ["undecided"] if matches.failures else []
    if not matches:
        return " and ".join(undecided) or "no"
    (match,) = matches
    if match.rows != ({},):
        rows = (", ".join(f"?{k} = {_short(v)}" for k, v in row.items()) for row in match.rows)
        return " and ".join([f"rows {'; '.join(rows)}", *undecided])
    return " and ".join(["yes", *undecided])


def _short(term: Term) -> str:
    return str(term) if term.kind == "iri" else term.text


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    """The knowledge files that stand on the page."""
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    folder = tmp_path_factory.mktemp("knowledge")
    for number, block in enumerate(blocks):
        (folder / f"{number}.yaml").write_text(block, encoding="utf-8")
    return Knowledge.load(folder)


def takers(subscription: str, known: Knowledge) -> Iterator[Engine]:
    """An engine for each matcher that takes the subscription, and one that dispatches."""
    for name in ("auto", *MATCHERS):
        engine = Engine(known, matcher=name, operators=OPERATORS)
        with suppress(SubscriptionError):
            engine.add(parse(subscription), id="s")
            yield engine


@pytest.mark.parametrize("row", list(rows_of_the_page()), ids=lambda row: f"line {row.line}")
def test_every_row_of_the_page(row: Row, known: Knowledge) -> None:
    if row.answer == "error":
        with pytest.raises(ParseError):
            parse(row.subscription)
        return
    if row.answer == "ambiguous":
        with pytest.raises(SubscriptionError, match="has 2 meanings"):
            Engine(known).add(parse(row.subscription))
        return
    engines = list(takers(row.subscription, known))
    assert len(engines) >= 2
    for engine in engines:
        _check_answer(engine, row)
    if row.answer != "rejected":
        failures = [engine.match(event_of(row.event)).failures for engine in engines]
        assert all(each == failures[0] for each in failures)


def _check_answer(engine: Engine, row: Row) -> None:
    event = event_of(row.event)
    if row.answer == "rejected":
        with pytest.raises(EventError):
            engine.match(event)
        return
    matches = engine.match(event)
    if row.answer.startswith("yes at "):
        assert [m.distance for m in matches] == [pytest.approx(float(row.answer[7:]))]
        assert not matches.failures
        assert engine.explain("s", event).distance == matches[0].distance
    else:
        assert written(matches) == row.answer
    assert engine.explain("s", event).matches == bool(matches)


def test_the_page_has_all_its_rows() -> None:
    assert sum(1 for _ in rows_of_the_page()) > 300
