"""A record as attributes: nested objects by dotted path, a list as many values.

null, `[]` and `{}` are absent. A list of objects loses which values belonged together:
`{"items": [{"a": 1, "b": 2}, {"a": 3}]}` gives a ∈ {1, 3} and b ∈ {2}. Cost is linear in the size
of the record; no recursion, so that depth is no matter.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from sensewire.model.errors import EventError
from sensewire.model.terms import Term, string, term_of, whole

LONGEST_NAMES = 67_108_864
"""Characters of all dotted paths of a record: a few bytes of JSON can ask for very many."""


def attributes(data: Mapping[str, Any]) -> Iterator[tuple[Term, Term]]:
    """The attributes of a record with their values, in the order in which they stand.

    >>> record = {"a": {"b": [1, None, [2]]}, "c": []}
    >>> [(name.text, value.text) for name, value in attributes(record)]
    [('a.b', '1'), ('a.b', '2')]
    """
    if not isinstance(data, Mapping):
        raise EventError(f"a record is an object with named attributes, not a {_json_name(data)}")
    pending: list[tuple[str, Any]] = [("", data)]
    characters = 0
    while pending:
        path, value = pending.pop()
        if isinstance(value, Mapping):
            characters += len(path) * len(value)
            if characters > LONGEST_NAMES:
                raise EventError(
                    f"nested so that its attributes' names come to over {LONGEST_NAMES:,} "
                    "characters; nest less, or shorten the names"
                )
            pending.extend(_members(path, value))
        elif isinstance(value, list | tuple):
            pending.extend((path, item) for item in reversed(value))
        elif value is not None:
            yield _name(path), _term(path[1:], value)


def id_in(data: Mapping[str, Any], field: str | None) -> str | None:
    """The id that a field holds, by its dotted path: a string that is not empty, or an integer.

    >>> id_in({"meta": {"id": 7}}, "meta.id"), id_in({"meta.id": "a"}, "meta.id")
    ('7', 'a')
    """
    found: object = data.get(field) if field is not None else None
    if found is None and field is not None and "." in field:
        found = data
        for name in field.split("."):
            found = found.get(name) if isinstance(found, Mapping) else None
    if isinstance(found, str) and found:
        return found
    return str(found) if isinstance(found, int) and not isinstance(found, bool) else None


@lru_cache(maxsize=65_536)
def _name(path: str) -> Term:
    """An attribute's name: one term for all events that have it."""
    return string(path[1:])


def _members(path: str, value: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """An object's members with their dotted paths, last first, to be popped in order."""
    members = []
    for key, member in value.items():
        if not isinstance(key, str):
            raise EventError(f"the attribute name {key!r} under {path[1:]!r} is no string")
        members.append((f"{path}.{whole(key)}", member))
    return members[::-1]


def _term(attribute: str, value: object) -> Term:
    try:
        return term_of(value)
    except EventError as error:
        raise EventError(f"attribute {attribute!r}: {error}") from None


def _json_name(value: object) -> str:
    names = {list: "list", str: "string", bool: "boolean", int: "number", float: "number"}
    return names.get(type(value), "null" if value is None else type(value).__name__)
