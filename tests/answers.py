"""What the tests of the engine share: generated cases, and answers as texts that can be compared.

An answer is told in lines, whoever gave it: an engine for one event, or for a row of a batch.

    s1 at 0: -                      a match that selects nothing
    s2 at 0.5: ?x "red"             a match with one row
    s3 failed: too little to see
    rejected: bad JSON at column 1
"""

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from sensewire.engine import Engine
from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.matcher import Operator
from sensewire.model.conditions import Variable
from sensewire.model.errors import EventError, SubscriptionError
from sensewire.model.event import Event
from sensewire.model.match import BatchMatches, Matches
from sensewire.model.subscription import Conjunction, Not, Predicate, Subscription
from sensewire.model.terms import Term, iri, string, term_of, untyped
from sensewire.testing.knowledge import function_of_one, knowledge, sample_functions
from sensewire.testing.subscriptions import conditions, subscriptions, vocabulary

NAMES = ["red", "green", "Thing", "one word", "crimson"]
ATTRIBUTES = ["price", "colour", "size.screen"]
TERMS = [
    *(string(name) for name in NAMES),
    *map(term_of, (1, 2, 1.5, True, float("nan"), float("inf"), 2**53 + 1)),
    untyped("1"),
    untyped("2024-03-01"),
    iri("http://one.org/red"),
    string("one:red"),
    string("RED"),
]
WORDS = vocabulary(attributes=[*ATTRIBUTES, "tags"], terms=TERMS)
FUNCTIONS = [
    *sample_functions(),
    function_of_one("broken", "colour", "tags", "string(1 / 0) + colour"),
    function_of_one("endless", "price", "price", "price + 1"),
]
VALUES: list[object] = [
    *NAMES,
    *("RED", "one:red", "http://one.org/red", "2024-03-01", "1", ""),
    *(1, 2, 1.5, 1.0, True, False, None, 2**53 + 1, -(2**63), 10**30),
    *([], ["red", 1, "red"], [[2], None], {"deep": 1}, [{"screen": 1}, {"screen": "red"}]),
]
"""What JSON has, in the places where the few words of subscriptions find it."""


def near(event: Event, *arguments: Term | Variable) -> list[dict[str, Term]]:
    """Two rows that bind every variable, and none for a constant that is green."""
    if string("green") in arguments:
        return []
    names = [part.name for part in arguments if isinstance(part, Variable)]
    return [dict.fromkeys(names, term) for term in (string("red"), term_of(1))]


def seen(event: Event, *arguments: Term | Variable) -> bool:
    """Yes for events of more than two facts; fails for others, and wherever it should bind."""
    if len(event.facts) <= 2:
        raise RuntimeError("too little to see")
    return True


OPERATORS: dict[str, Operator] = {"near": near, "seen": seen}

_predicates = st.builds(Predicate, WORDS.attributes, conditions(WORDS))
_atoms = st.one_of(_predicates, _predicates, _predicates.map(lambda p: Not(Conjunction((p,)))))
of_predicates: SearchStrategy[Subscription] = st.builds(
    Subscription,
    st.lists(
        st.lists(_atoms, max_size=3).map(lambda atoms: Conjunction(tuple(atoms))),
        min_size=1,
        max_size=2,
    ).map(tuple),
    tolerance=st.sampled_from([None, None, None, 0.5, 2.0]),
)
"""Subscriptions that the compiled matcher takes; `subscriptions` makes few of these."""

any_subscription: SearchStrategy[Subscription] = of_predicates | subscriptions(WORDS)
any_knowledge: SearchStrategy[Knowledge] = st.just(Knowledge()) | knowledge(
    NAMES, ATTRIBUTES, FUNCTIONS
)
any_record: SearchStrategy[dict[str, object]] = st.dictionaries(
    st.sampled_from([*ATTRIBUTES, "tags", "size", "other", "Price", "one:colour"]),
    st.sampled_from(VALUES),
    max_size=4,
)


def engine_of(known: Knowledge, asked: Iterable[Subscription], *, matcher: str = "auto") -> Engine:
    """An engine with the subscriptions that can be added; those with ambiguous words are not."""
    engine = Engine(known, matcher=matcher, operators=OPERATORS)
    for number, each in enumerate(asked):
        is_added(engine, each, f"s{number}")
    return engine


def is_added(engine: Engine, subscription: Subscription, id: str) -> bool:
    """Whether an engine takes a subscription; it refuses those with words of two meanings."""
    try:
        engine.add(subscription, id=id)
    except SubscriptionError:
        return False
    return True


def told(engine: Engine, event: Event) -> list[str]:
    """What an engine says of an event, also where it rejects it."""
    try:
        return _lines(engine.match(event))
    except EventError as error:
        return [f"rejected: {error}"]


def told_in_batch(engine: Engine, batch: pa.RecordBatch) -> list[list[str]]:
    """What an engine says of each row of a batch."""
    return told_of_rows(engine.match_batch(batch), batch.num_rows)


def told_of_rows(found: BatchMatches, rows: int) -> list[list[str]]:
    """What was found, row by row."""
    lines: list[list[str]] = [[] for _ in range(rows)]
    for match in found.matches.to_pylist():
        selected = match["rows"]
        assert selected is None or selected, "null where nothing is selected, never an empty list"
        texts = _rows(selected or [[]])
        lines[match["event"]].append(
            f"{match['subscription']} at {match['distance']:.12g}: {texts}"
        )
    for failure in found.failures.to_pylist():
        lines[failure["event"]].append(f"{failure['subscription']} failed: {failure['reason']}")
    for rejected in found.rejected.to_pylist():
        lines[rejected["event"]].append(f"rejected: {rejected['reason']}")
    return [sorted(each) for each in lines]


def ids(matches: Matches) -> list[str]:
    """The subscriptions that matched."""
    return [match.subscription for match in matches]


def _lines(matches: Matches) -> list[str]:
    lines = []
    for match in matches:
        texts = _rows([(name, str(term)) for name, term in row.items()] for row in match.rows)
        lines.append(f"{match.subscription} at {match.distance:.12g}: {texts}")
    lines += [f"{failure.subscription} failed: {failure.reason}" for failure in matches.failures]
    return sorted(lines)


def _rows(rows: Iterable[Sequence[tuple[str, str]]]) -> str:
    """Distinct rows; two terms of one text are one here."""
    return " | ".join(sorted(set(_written(rows))))


def _written(rows: Iterable[Sequence[tuple[str, str]]]) -> Iterator[str]:
    for row in rows:
        yield ", ".join(f"?{name} {text}" for name, text in sorted(row)) or "-"
