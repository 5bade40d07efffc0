"""Tenures of many at once are those of each; changes travel whole."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sensewire.engine import Engine
from sensewire.tenures import NEVER, Change, Increment, LiveEngine, Tenure, Tenures

limits = st.one_of(st.integers(-2, 6), st.just(NEVER))
tenures = st.builds(Tenure, st.integers(-1, 6), limits, limits)
told = st.lists(st.tuples(st.integers(0, 6), tenures), max_size=10)
asked = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 6), st.integers(0, 6)), max_size=10)


@given(told, told, asked)
def test_many_at_once_are_live_as_each_is_alone(
    first: list[tuple[int, Tenure]],
    later: list[tuple[int, Tenure]],
    asked: list[tuple[int, int, int]],
) -> None:
    """What is told later takes the place of what was; arrays that were kept begin anew."""
    known = Tenures()
    for key, tenure in first:
        known.put(key, tenure)
    kept = Tenures(known.arrays())
    for key, tenure in later:
        known.put(key, tenure)
        kept.put(key, tenure)
    last = {**dict(first), **dict(later)}
    keys, order, arrival = (np.array([each[at] for each in asked], np.int64) for at in range(3))
    expected = [key not in last or last[key].holds(place, when) for key, place, when in asked]
    assert known.live(keys, order, arrival).tolist() == expected
    assert kept.live(keys, order, arrival).tolist() == expected
    assert kept.arrays()["keys"].tolist() == sorted(last)


@given(
    st.integers(0, NEVER),
    st.lists(
        st.builds(
            Change,
            st.integers(0, NEVER),
            tenures,
            st.one_of(
                st.none(),
                st.dictionaries(
                    st.text(max_size=3), st.one_of(st.text(max_size=3), st.floats(0, 9))
                ),
            ),
        ),
        max_size=4,
    ),
)
def test_changes_arrive_as_they_were(upto: int, changes: list[Change]) -> None:
    assert Increment.of(upto, changes).read() == changes


def test_keys_are_read_from_either_kind_of_column() -> None:
    live = LiveEngine(Engine(), Tenures(), 0)
    texts = ["7", "12", "7"]
    plain = pa.chunked_array([pa.array(texts[:2]), pa.array(texts[2:])])
    assert live.keys(plain).tolist() == [7, 12, 7]
    for words in (texts, ["12", "9"], texts):
        column = pa.array(words).dictionary_encode()
        assert live.keys(column).tolist() == list(map(int, words))
        assert live.keys(pa.chunked_array([column])).tolist() == list(map(int, words))


def test_what_was_taken_before_is_not_taken_again() -> None:
    live = LiveEngine(Engine(), Tenures(), 3)
    old = Increment.of(3, [Change(1, Tenure(0), {"id": "a", "text": "x = 1"})])
    new = Increment.of(5, [Change(2, Tenure(4), {"id": "b", "text": "x = 2"})])
    bad = Increment.of(6, [Change(3, Tenure(5), {"id": "c", "text": "x = "})])
    live.advance([old, new, bad])
    live.advance([old, new, bad])
    assert (live.engine.ids(), live.change) == (["2"], 6)
    assert list(live.refused) == [3]


def test_increments_that_are_cut_in_another_way_are_taken_once() -> None:
    """As when a stream is started again, and finds workers that were there before."""
    live = LiveEngine(Engine(), Tenures(), 0)
    first, second = (
        Change(1, Tenure(0), {"id": "a", "text": "x = 1"}),
        Change(2, Tenure(1), {"id": "b", "text": "x = 2"}),
    )
    live.advance([Increment.of(1, [first])])
    live.advance([Increment.of(2, [Change(1, Tenure(0, 1), first.stated), second])])
    assert (live.engine.ids(), live.refused, live.change) == (["1", "2"], {}, 2)
    assert not live.tenures.live(np.array([1]), np.array([2]), np.array([0])).any()
