"""The ids of a batch's rows: what `flatten.id_in` finds in a row's Python values, by columns.

A string that is not empty, or an integer; in the column of the field's name, else at its dotted
path through structs.
"""

from collections.abc import Iterator, Mapping

import pyarrow as pa
from pyarrow import types

from sensewire.events.column_terms import Array, compute, is_text, members, plain


def column_ids(columns: Mapping[str, Array], field: str | None, rows: int) -> Array:
    """The ids of all rows, null where a row has none.

    >>> columns = {"id": pa.array(["a", "", None]), "meta": pa.array([{"id": 1}] * 3)}
    >>> column_ids(columns, "id", 3).to_pylist(), column_ids(columns, "meta.id", 3).to_pylist()
    (['a', None, None], ['1', '1', '1'])
    """
    found = pa.nulls(rows, pa.string())
    for values in held_at(columns, field):
        # A value that is there but no id hides what the path leads to.
        found = compute.if_else(values.is_valid(), _as_ids(values), found)
    return found


def held_at(columns: Mapping[str, Array], field: str | None) -> Iterator[Array]:
    """The values at the path, then those of the column of the whole name, which count first."""
    if field is None:
        return
    if "." in field:
        first, *names = field.split(".")
        array = columns.get(first)
        for name in names:
            array = None if array is None else plain(array)
            array = members(array).get(name) if _is_struct(array) else None
        if array is not None:
            yield plain(array)
    if field in columns:
        yield plain(columns[field])


def _is_struct(array: Array | None) -> bool:
    return array is not None and types.is_struct(array.type)


def _as_ids(values: Array) -> Array:
    if is_text(values.type):
        texts = values.cast(pa.string())
        return compute.if_else(compute.equal(texts, ""), None, texts)
    if types.is_integer(values.type):
        return values.cast(pa.string())
    return pa.nulls(len(values), pa.string())
