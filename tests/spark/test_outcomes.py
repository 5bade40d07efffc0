"""A portion piece by piece: no more matches at once than can be held, and the same outcomes."""

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest

from sensewire.engine import Engine
from sensewire.events.decoding import Decoded, Decoding
from sensewire.events.portions import EventPortion, Portion
from sensewire.events.record_portion import RecordPortion
from sensewire.language.parse import parse
from sensewire.spark import outcomes
from sensewire.spark.outcomes import Outcomes, Pace, outcomes_of

DECODING = Decoding(datetime(2024, 3, 1, tzinfo=UTC))
SUBSCRIPTIONS = 20


@pytest.fixture
def engine() -> Engine:
    """Event n matches the subscriptions below n; all from the twentieth on match all."""
    engine = Engine()
    for number in range(SUBSCRIPTIONS):
        engine.add(parse(f"n > {number}"), id=f"s{number}")
    return engine


def records(count: int) -> RecordPortion:
    texts = [b"bad" if n % 10 == 9 else b'{"n": %d}' % n for n in range(count)]
    batch = pa.RecordBatch.from_pydict({"json": pa.array(texts, pa.large_binary())})
    return RecordPortion(batch, "f.jsonl", np.arange(1, count + 1))


def events(count: int) -> EventPortion:
    portion = records(count)
    read = [each for row in range(count) for each in portion.outcomes(row, DECODING)]
    return EventPortion(tuple(each for each in read if isinstance(each, Decoded)))


def said(found: list[Outcomes]) -> object:
    return (
        sum(each.events for each in found),
        [row for each in found for row in each.matches.select([0, 1]).to_pylist()],
        [rejected for each in found for rejected in each.rejected],
    )


@pytest.mark.parametrize("portion", [records(700), events(700)], ids=["records", "events"])
def test_many_matches_are_found_in_pieces_with_the_same_outcomes(
    engine: Engine, portion: Portion, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = list(outcomes_of(portion, engine, DECODING, Pace(engine)))
    assert len(whole) == 1
    monkeypatch.setattr(outcomes, "MATCHES_AT_ONCE", 300)
    monkeypatch.setattr(outcomes, "_FIRST", 30)
    pieces = list(outcomes_of(portion, engine, DECODING, Pace(engine)))
    assert said(pieces) == said(whole)
    assert len(pieces) > len(portion) * SUBSCRIPTIONS * 0.8 // 300
    # The first events match less often than the rest; what follows is judged by all before it.
    sizes = [each.matches.num_rows for each in pieces]
    assert max(sizes) < 2 * 300
    assert max(sizes[-10:]) <= 300 + SUBSCRIPTIONS


def test_few_subscriptions_are_asked_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcomes, "MATCHES_AT_ONCE", 700 * SUBSCRIPTIONS)
    assert len(list(outcomes_of(records(700), engine, DECODING, Pace(engine)))) == 1


def test_no_events_have_no_outcomes(engine: Engine) -> None:
    assert list(outcomes_of(EventPortion(()), engine, DECODING, Pace(engine))) == []


def test_a_pace_is_kept_from_portion_to_portion(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outcomes, "MATCHES_AT_ONCE", 10_000)
    monkeypatch.setattr(outcomes, "_FIRST", 30)
    pace = Pace(engine)
    first = [each.events for each in outcomes_of(events(700), engine, DECODING, pace)]
    assert first[0] == 30
    then = [each.events for each in outcomes_of(events(700), engine, DECODING, pace)]
    assert then == [315, 315]
