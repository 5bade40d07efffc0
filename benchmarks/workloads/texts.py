"""A workload of records as people would write it: texts, records, JSON lines and Arrow columns.

Attributes are named a00, a01 …, words w0000, w0001 …, so that a prefix of a word leaves its last
digits open; a number is its code divided by 4.
"""

from collections.abc import Iterator
from itertools import pairwise

import orjson
import pyarrow as pa

from workloads.records import Asked, Happened, Operator, Records

Record = dict[str, str | float]
_SIGNS = {
    Operator.EQUAL: "=",
    Operator.UNEQUAL: "!=",
    Operator.BELOW: "<",
    Operator.AT_MOST: "<=",
    Operator.ABOVE: ">",
    Operator.AT_LEAST: ">=",
}


def name(attribute: int) -> str:
    """The name of an attribute."""
    return f"a{attribute:02}"


def subscriptions(records: Records) -> Iterator[str]:
    """Each subscription in our language."""
    offsets = records.asked.offsets.tolist()
    for start, end in pairwise(offsets):
        yield " and ".join(_predicate(records, row) for row in range(start, end))


def _predicate(records: Records, row: int) -> str:
    asked: Asked = records.asked
    attribute = int(asked.attribute[row])
    numeric = bool(records.numeric[attribute])

    def constant(code: int) -> str:
        return repr(_value(code, numeric)) if numeric else f'"{_value(code, numeric)}"'

    operator, value, upper = Operator(asked.operator[row]), asked.value[row], asked.upper[row]
    match operator:
        case Operator.BETWEEN:
            said = f"between {constant(value)} and {constant(upper)}"
        case Operator.IN:
            said = f"in ({', '.join(constant(code) for code in asked.choices[row] if code >= 0)})"
        case Operator.PREFIX:
            # A short range is the last one of its attribute: its words begin alike all the same.
            open_digits = 1 if upper - value < 10 and value // 10 == upper // 10 else 2
            said = f'prefix "w{value:04}"'[: -1 - open_digits] + '"'
        case Operator.EXISTS:
            said = "exists"
        case _:
            said = f"{_SIGNS[operator]} {constant(value)}"
    return f"{'not ' if asked.negated[row] else ''}{name(attribute)} {said}"


def _value(code: int, numeric: bool) -> str | float:
    return int(code) / 4 if numeric else f"w{code:04}"


def as_records(records: Records, happened: Happened) -> Iterator[Record]:
    """Each event as a mapping."""
    attributes, values = happened.attribute.tolist(), happened.value.tolist()
    numeric = records.numeric.tolist()
    offsets = happened.offsets.tolist()
    for start, end in pairwise(offsets):
        yield {
            name(attributes[row]): _value(values[row], numeric[attributes[row]])
            for row in range(start, end)
        }


def as_lines(records: Records, happened: Happened) -> list[bytes]:
    """Each event as a line of JSON."""
    return [orjson.dumps(record) for record in as_records(records, happened)]


def as_columns(records: Records, happened: Happened) -> pa.RecordBatch:
    """All events as a column for each attribute."""
    rows = [*as_records(records, happened)]
    return pa.RecordBatch.from_pydict(
        {
            name(attribute): pa.array(
                [row.get(name(attribute)) for row in rows],
                pa.float64() if numeric else pa.string(),
            )
            for attribute, numeric in enumerate(records.numeric.tolist())
        }
    )
