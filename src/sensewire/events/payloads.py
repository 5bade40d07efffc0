"""Pictures, sounds, films, texts: each file is one event, whose payload is the file's bytes.

    photo.jpg         the payload
    photo.jpg.json    its facts: a JSON object, where there is one

with `file.name`, `file.path` (under what the user named), `file.type` and `file.size` beside them.
Only these two files are read: what the facts themselves name is not.
"""

from itertools import chain

from sensewire.events.decoding import KEPT_OF_LONG, Decoded, Decoding, Outcome, Rejected, too_long
from sensewire.events.files import Slice, companion
from sensewire.events.kinds import media_type
from sensewire.events.locations import Standing
from sensewire.events.records import read_json
from sensewire.model import flatten
from sensewire.model.errors import EventError
from sensewire.model.event import Event, Fact, distinct
from sensewire.model.terms import HOME


def payload(part: Slice, raw: bytes, decoding: Decoding) -> Outcome:
    """A file's bytes as an event, with the facts that stand beside it."""
    file = part.file
    record = {
        "name": file.id.rpartition("/")[2],
        "path": file.id,
        "type": media_type(file.name),
        "size": len(raw),
    }
    try:
        stated = _facts_beside(part, decoding)
        attributes = chain(flatten.attributes(stated), flatten.attributes({"file": record}))
        facts = distinct(Fact(HOME, name, value) for name, value in attributes)
        time = decoding.time_in(facts, HOME)
    except EventError as error:
        return Rejected(file.name, raw[:KEPT_OF_LONG], str(error))
    return Decoded(file.name, raw, Event(file.id, time, facts, HOME, payload=raw))


def _facts_beside(part: Slice, decoding: Decoding) -> dict[str, object]:
    name = f"{part.file.name}.json"
    raw = part.facts if part.data is not None else _bytes_beside(part, decoding)
    if raw is None:
        return {}
    if len(raw) > decoding.longest:
        raise EventError(f"{name}: {too_long(decoding.longest, 0)}")
    try:
        data = read_json(raw.removeprefix(b"\xef\xbb\xbf"))
    except EventError as error:
        raise EventError(f"{name}: {error}") from None
    if not isinstance(data, dict):
        raise EventError(f"{name}: a payload's facts are one JSON object")
    return data


def _bytes_beside(part: Slice, decoding: Decoding) -> bytes | None:
    place = companion(part.file.location)
    if place.status().standing is Standing.NOTHING:
        return None
    with place.open() as opened:
        return opened.read(decoding.longest + 1)
