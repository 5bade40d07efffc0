"""The sample of events: bounded, old and new alike, and the same after a folder."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.compiled import sample as sampling
from sensewire.match.compiled.concepts import Concepts
from sensewire.match.compiled.ranking import Columns
from sensewire.match.compiled.sample import Sample
from sensewire.match.compiled.values import Values

VALUES = Values(Knowledge(), Concepts(Knowledge()))


def columns_of(events: Sequence[Sequence[float]]) -> Columns:
    """Events with these numbers for facts."""
    rows = [(row, number) for row, numbers in enumerate(events) for number in numbers]
    count = len(rows)
    return Columns(
        len(events),
        np.array([row for row, _ in rows], np.int32),
        np.zeros(count, np.int32),
        np.ones(count, np.uint8),
        np.full(count, -1, np.int32),
        np.array([number for _, number in rows], np.float64),
    )


def events_in(columns: Columns) -> list[list[float]]:
    return [columns.number[columns.event == row].tolist() for row in range(columns.events)]


def numbered(first: int, count: int) -> list[list[float]]:
    """Events that say their number, once or more."""
    return [
        [float(number)] * (number % 3) + [number + 0.5] for number in range(first, first + count)
    ]


@given(sizes=st.lists(st.integers(0, 30), max_size=8), most=st.sampled_from([4, 8, 64]))
def test_every_so_many_th_event_is_kept(sizes: list[int], most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampling, "MOST", most)
        sample, passed = Sample(), 0
        for size in sizes:
            sample.note(columns_of(numbered(passed, size)))
            passed += size
        kept = events_in(sample.columns(VALUES))
    assert len(kept) <= most
    stride = 1
    while len(range(0, passed, stride)) > most:
        stride *= 2
    whole = numbered(0, passed)
    assert kept == whole[::stride] or kept == whole[:: 2 * stride]
    assert 2 * len(kept) >= min(most, passed)


def test_what_a_folder_kept_comes_first() -> None:
    asked = []

    def before(values: Values) -> Columns:
        asked.append(values)
        return columns_of(numbered(0, 3))

    sample = Sample(before)
    sample.note(columns_of(numbered(3, 2)))
    assert asked == []  # until somebody wants to know
    assert events_in(sample.columns(VALUES)) == numbered(0, 5)
    assert events_in(sample.columns(VALUES)) == numbered(0, 5)
    assert asked == [VALUES]


def test_all_is_forgotten_when_words_are() -> None:
    sample = Sample(lambda values: columns_of(numbered(0, 3)))
    sample.note(columns_of(numbered(3, 2)))
    sample.clear()
    assert sample.columns(VALUES).events == 0
    sample.note(columns_of(numbered(5, 1)))
    assert events_in(sample.columns(VALUES)) == numbered(5, 1)


def test_events_without_facts_count() -> None:
    sample = Sample()
    sample.note(columns_of([[], [1.0], []]))
    sample.note(columns_of([]))
    sample.note(columns_of([[], [2.0]]))
    assert events_in(sample.columns(VALUES)) == [[], [1.0], [], [], [2.0]]
