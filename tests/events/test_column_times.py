"""Columns of times: what is said to be plain is what the plain decoder takes, row by row."""

from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.events.column_times import are_plain_times
from sensewire.model.errors import EventError
from sensewire.model.event import moment

_PARTS = st.tuples(
    st.sampled_from(["2024", "0001", "0000", "9999", "24", "2023"]),
    st.sampled_from(["-02-28", "-02-29", "-02-30", "-13-01", "-12-31", "-1-1", ""]),
    st.sampled_from(
        ["", "T10:30:00", "T24:00:00", "T10:30", "T10:30:00.123456", "T1", " 10:30:00"]
    ),
    st.sampled_from(["", "Z", "+01:00", "-14:00", "+14:01", "-23:59", "+24:00", "+0100", "z", " "]),
)


@given(st.lists(st.one_of(st.none(), _PARTS.map("".join)), max_size=4))
def test_texts_that_are_plain_are_times(texts: list[str | None]) -> None:
    column: Any = pa.array(texts, pa.string())
    if are_plain_times([column]):
        for text in texts:
            if text is not None:
                moment(text)


@pytest.mark.parametrize(
    ("values", "form", "plain"),
    [
        (["2024-03-01", None], pa.string(), True),
        (["2024-03-01T10:30:00Z"], pa.large_string(), True),
        (["2024-03-01T10:30:00-14:00"], pa.string(), True),
        (["2024-03-01T10:30:00-14:01"], pa.string(), False),
        (["2024-03-01T10:30:00+23:00"], pa.string(), False),
        (["never"], pa.string(), False),
        ([None], pa.string(), True),
        ([date(2024, 3, 1)], pa.date32(), True),
        ([datetime(2024, 3, 1, tzinfo=UTC)], pa.timestamp("us", "UTC"), True),
        ([2**62], pa.timestamp("us"), False),
        ([7], pa.int64(), False),
    ],
)
def test_which_columns_are_plain(values: list[Any], form: pa.DataType, plain: bool) -> None:
    column: Any = pa.array(values, form)
    assert are_plain_times([column]) is plain
    assert not are_plain_times([column, column])
    assert are_plain_times([])


def test_a_day_that_is_none_is_left_to_the_plain_decoder() -> None:
    column: Any = pa.array(["2024-02-30"])
    assert not are_plain_times([column])
    with pytest.raises(EventError):
        moment("2024-02-30")
