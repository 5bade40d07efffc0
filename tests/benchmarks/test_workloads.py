"""The workloads: one seed is one draw, tests are what tests must be, and texts say the same.

Proved by breaking: neighbours of an `in` left apart, equal tests kept apart, `<` read as `<=`, a
prefix of a digit too few, records written without their last value: each was caught.
"""

from itertools import pairwise

import numpy as np
import orjson
import pytest

from sensewire.engine import Engine
from sensewire.language.parse import parse
from sensewire.match.compiled.conjunctions import Conjunctions
from sensewire.model.event import Event
from workloads import brick_classes, ranked, records, tags, texts, truth
from workloads.brick_classes import Classes, Reading
from workloads.records import CHOICES, KINDS, Asked, Happened, Kind, Operator, Records
from workloads.workload import Workload, offsets_of

CLASSES = Classes()


def small(name: str, seed: int = 1, size: int = 2_000) -> Workload:
    """A small workload by its name."""
    if name == "tags Zipf":
        return tags.workload(size, 60, 20, seed)
    if name == "meaning on Brick":
        return brick_classes.workload(CLASSES, Reading.MEANING, size, 60, 20, seed)
    (kind,) = (kind for kind in KINDS if kind.name == name)
    return ranked.workload(records.drawn(kind, size, 60, 20, seed))


NAMES = [*(kind.name for kind in KINDS), "tags Zipf", "meaning on Brick"]


def arrays(conjunctions: Conjunctions) -> list[list[int]]:
    tests = conjunctions.tests
    columns = (tests.slot, tests.negated, tests.offsets, tests.low, tests.high)
    return [column.tolist() for column in (*columns, conjunctions.offsets, conjunctions.test)]


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_is_one_draw(name: str) -> None:
    one, again, other = small(name), small(name), small(name, seed=2)
    assert arrays(one.conjunctions) == arrays(again.conjunctions) != arrays(other.conjunctions)
    assert one.events.rank.tolist() == again.events.rank.tolist() != other.events.rank.tolist()
    assert one.events.rank.tolist() != one.sample.rank.tolist()[: len(one.events.rank)]


@pytest.mark.parametrize("name", NAMES)
def test_tests_are_distinct_and_their_intervals_ascend(name: str) -> None:
    conjunctions = small(name).conjunctions
    tests = conjunctions.tests
    seen = set()
    for number, (start, end) in enumerate(pairwise(tests.offsets.tolist())):
        low, high = tests.low[start:end].tolist(), tests.high[start:end].tolist()
        assert all(each >= 1 for each in low)
        assert all(each <= conjunctions.ranks[tests.slot[number]] for each in high)
        assert all(a <= b for a, b in zip(low, high, strict=True))
        assert all(a + 1 < b for a, b in zip(high, low[1:], strict=False))
        seen.add((int(tests.slot[number]), bool(tests.negated[number]), *low, *high))
    assert len(seen) == len(tests.slot)
    for start, end in pairwise(conjunctions.offsets.tolist()):
        asked = conjunctions.test[start:end]
        assert len({*asked.tolist()}) == len(asked) >= 2
        assert not tests.negated[asked].all()


def test_events_have_as_many_entries_as_they_should() -> None:
    for name in NAMES:
        least, most = (1, 20) if name == "tags Zipf" else (10, 20)
        sizes = np.diff(small(name).events.offsets)
        assert least <= sizes.min() <= sizes.max() <= most


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_texts_and_ranks_say_the_same(kind: Kind) -> None:
    """The engine on texts and JSON finds what the truth on ranks says, for every event."""
    drawn = records.drawn(kind, 2_000, 30, 0, 3)
    workload = ranked.workload(drawn)
    engine = Engine()
    for number, text in enumerate(texts.subscriptions(drawn)):
        engine.add(parse(text), id=str(number))
    found = 0
    for row, line in enumerate(texts.as_lines(drawn, drawn.events)):
        matches = engine.match(Event.record(orjson.loads(line)))
        given = sorted(int(match.subscription) for match in matches)
        assert given == truth.matching(workload.conjunctions, workload.events, row).tolist()
        found += len(given)
    assert found > 5


def test_a_bound_is_inside_or_not() -> None:
    """One number is asked for by every order: what is below it, itself and above it."""
    orders = [Operator.EQUAL, Operator.UNEQUAL, Operator.BELOW, Operator.AT_MOST]
    orders += [Operator.ABOVE, Operator.AT_LEAST, Operator.EXISTS]
    one, none = np.zeros(len(orders), np.int32), np.zeros(len(orders), np.bool_)
    asked = Asked(
        offsets_of(one + 1),
        *(one, np.array(orders, np.uint8), none, one + 8, one + 8),
        np.full((len(orders), CHOICES), -1, np.int32),
    )
    happened = Happened(offsets_of([1, 1, 1]), one[:3], np.array([7, 8, 9], np.int32))
    numeric = np.ones(1, np.bool_)
    made = Records(KINDS[0], np.array([20], np.int32), numeric, asked, happened, happened)
    workload = ranked.workload(made)
    found = [
        {orders[each] for each in truth.matching(workload.conjunctions, workload.events, row)}
        for row in range(3)
    ]
    always = {Operator.EXISTS}
    assert found == [
        always | {Operator.UNEQUAL, Operator.BELOW, Operator.AT_MOST},
        always | {Operator.EQUAL, Operator.AT_MOST, Operator.AT_LEAST},
        always | {Operator.UNEQUAL, Operator.ABOVE, Operator.AT_LEAST},
    ]


def test_every_operator_is_written() -> None:
    drawn = records.drawn(records.MIXED_ZIPF, 300, 0, 0, 1)
    written = " ".join(texts.subscriptions(drawn))
    for sign in (" = ", " != ", " < ", " <= ", " > ", " >= ", "between", " in (", "prefix"):
        assert sign in written
    assert "exists" in written
    assert "not a" in written


def test_columns_hold_the_same_records() -> None:
    drawn = records.drawn(records.EQUALITY_ZIPF, 1, 20, 0, 1)
    rows = texts.as_columns(drawn, drawn.events).to_pylist()
    present = [{key: value for key, value in row.items() if value is not None} for row in rows]
    assert present == [*texts.as_records(drawn, drawn.events)]


def test_an_inner_class_is_asked_for_with_all_below() -> None:
    """By another way than the workload's: names of Brick that everybody can look up."""
    place = {name: number for number, name in enumerate(CLASSES.names)}

    def inside(inner: str, outer: str) -> bool:
        rank, number = place[inner] + 1, place[outer]
        return bool(((CLASSES.low[number] <= rank) & (rank <= CLASSES.high[number])).any())

    assert inside("Zone_Air_Temperature_Sensor", "Temperature_Sensor")
    assert inside("Temperature_Sensor", "Temperature_Sensor")
    assert not inside("Temperature_Sensor", "Zone_Air_Temperature_Sensor")
    assert not inside("Fan", "Sensor")
    knowing, unknowing = (
        brick_classes.workload(CLASSES, reading, 2_000, 200, 0, 1) for reading in Reading
    )
    assert knowing.events.rank.tolist() == unknowing.events.rank.tolist()
    widths = knowing.conjunctions.tests.high - knowing.conjunctions.tests.low
    assert widths.max() > 0
    assert (unknowing.conjunctions.tests.high == unknowing.conjunctions.tests.low).all()
