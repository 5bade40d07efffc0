"""What was learned from a history of events, and the file that keeps it (docs/statistics.md).

    {"kind": "sensewire statistics", "version": 1,
     "events": 1000000, "rejected": 3,
     "attributes": [{"name": "price", "iri": false, "share": 0.9, …}, …],
     "sample": {"forms": [["number", datatype, null], …],    kind, datatype and language of terms
                "terms": [[form, text], …],                  each term once
                "events": [[id, time, home, [subject, property, object, …]], …]}}

The distributions are for people; the planner reads the events, which say more: what occurs
together, and what the values mean in whatever knowledge an engine has. An event that stated no time
has none in the file, and is given the moment of reading.
"""

import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import orjson

from sensewire.model import datatypes
from sensewire.model.distribution import Distribution
from sensewire.model.errors import SensewireError
from sensewire.model.event import Event, Fact, moment
from sensewire.model.terms import Kind, Term, iri, string

KIND = "sensewire statistics"
VERSION = 1

UNTIMED = datetime(1970, 1, 1, tzinfo=UTC)
"""The time of an event that stated none, while statistics are made."""

_Item = TypeVar("_Item")
_TYPED = (Kind.NUMBER, Kind.BOOLEAN, Kind.DATE, Kind.QUANTITY)


@dataclass(frozen=True, slots=True)
class Learned:
    """What a history of events is like."""

    events: int  # of the history, those that cannot be read included
    rejected: int  # of the sample, what could not be read; and files
    attributes: tuple[Distribution, ...]
    sample: tuple[Event, ...]


def load_learned(path: str | PathLike[str]) -> Learned:
    """The statistics that `sensewire learn` wrote to a file."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise SensewireError(
            f"{path}: {error.strerror}; expected a file that sensewire learn wrote"
        ) from None
    return learned_from(data, str(path))


def learned_from(data: bytes, name: str, untimed: datetime | None = None) -> Learned:
    """The statistics that a text holds; `name` says whose text it is, `untimed` the time of events
    that have none: now, unless given."""
    try:
        fields = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        if data.startswith(_head()):
            raise SensewireError(
                f"{name}: the statistics are cut off or damaged ({error}); learn them again"
            ) from None
        fields = None
    if not isinstance(fields, dict) or fields.get("kind") != KIND:
        raise SensewireError(f"{name}: no statistics; expected a file that sensewire learn wrote")
    if fields.get("version") != VERSION:
        raise SensewireError(
            f"{name}: statistics of version {fields.get('version')}; this Sensewire reads version"
            f" {VERSION}: learn them again"
        )
    try:
        return Learned(
            int(fields["events"]),
            int(fields["rejected"]),
            tuple(_distribution(each) for each in fields["attributes"]),
            tuple(_events(fields["sample"], moment(untimed))),
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, SensewireError) as error:
        raise SensewireError(
            f"{name}: the statistics are damaged ({type(error).__name__}: {error}); learn them"
            " again"
        ) from None


def write_learned(path: str | PathLike[str], learned: Learned) -> None:
    """Write statistics to a file: whole, or not at all."""
    place = Path(path).absolute()
    place.parent.mkdir(parents=True, exist_ok=True)
    descriptor, draft = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(learned_to(learned))
            file.flush()
            os.fsync(file.fileno())
        Path(draft).chmod(0o666 & ~_umask())
        Path(draft).replace(place)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def learned_to(learned: Learned) -> bytes:
    """Statistics as a text; equal ones have equal texts. An item stands on a line of its own."""
    codes = _Codes()
    events = [codes.event(event) for event in learned.sample]
    return b"".join(
        (
            _head(),
            b',\n"events":%d,"rejected":%d,\n"attributes":' % (learned.events, learned.rejected),
            _listed(map(_attribute, learned.attributes)),
            b',\n"sample":{"forms":' + _listed(codes.forms),
            b',"terms":' + _listed(codes.terms.values()),
            b',"events":' + _listed(events),
            b"}}\n",
        )
    )


def is_learned(path: Path) -> bool:
    """Whether a file is one that `write_learned` wrote, of whatever version."""
    with path.open("rb") as file:
        return file.read(len(_KIND_OF)) == _KIND_OF


_KIND_OF = b'{"kind":%s,' % orjson.dumps(KIND)


def _head() -> bytes:
    return _KIND_OF + b'"version":%d' % VERSION


def _listed(items: Iterable[Any]) -> bytes:
    return b"[\n" + b",\n".join(map(orjson.dumps, items)) + b"]"


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


class _Codes:
    """Terms as numbers, each in the order in which it first comes."""

    def __init__(self) -> None:
        self.forms: dict[tuple[str, str | None, str | None], int] = {}
        self.terms: dict[Term, tuple[int, str]] = {}
        self._numbers: dict[Term, int] = {}

    def event(self, event: Event) -> list[Any]:
        time = None if event.time == UNTIMED else event.time.isoformat()
        home = None if event.home is None else self._number(event.home)
        return [
            event.id,
            time,
            home,
            [self._number(term) for fact in event.facts for term in fact],
        ]

    def _number(self, term: Term) -> int:
        number = self._numbers.get(term)
        if number is None:
            form = (term.kind.value, term.datatype, term.language)
            self.terms[term] = (self.forms.setdefault(form, len(self.forms)), term.text)
            number = self._numbers[term] = len(self._numbers)
        return number


def _events(sample: Any, untimed: datetime) -> Iterable[Event]:
    forms = [(Kind(kind), datatype, language) for kind, datatype, language in sample["forms"]]
    terms = [_term(_at(forms, form), text) for form, text in sample["terms"]]
    for id, time, home, numbers in sample["events"]:
        if not isinstance(id, str) or len(numbers) % 3:
            raise ValueError(f"an event {id!r} of {len(numbers)} terms")
        each = iter([_at(terms, number) for number in numbers])
        facts = tuple(Fact(*triple) for triple in zip(each, each, each, strict=True))
        yield Event(
            id,
            untimed if time is None else moment(time),
            facts,
            None if home is None else _at(terms, home),
        )


def _at(items: Sequence[_Item], number: Any) -> _Item:
    if not isinstance(number, int) or number < 0:
        raise ValueError(f"{number!r} is no place in a list")
    return items[number]


def _term(form: tuple[Kind, str | None, str | None], text: Any) -> Term:
    kind, datatype, language = form
    fits = kind not in _TYPED or (datatype is not None and datatypes.fits(text, datatype))
    if not isinstance(text, str) or not fits:
        raise ValueError(f"{text!r} is no {kind.value}")
    return Term(kind, text, datatype, language)


def _attribute(found: Distribution) -> dict[str, Any]:
    return {
        "name": found.attribute.text,
        "iri": found.attribute.kind is Kind.IRI,
        "share": found.share,
        "values": found.values,
        "kinds": dict(found.kinds),
        "distinct": found.distinct,
        "common": found.common,
        "numbers": found.numbers,
        "dates": found.dates,
    }


def _distribution(data: Any) -> Distribution:
    return Distribution(
        iri(data["name"]) if data["iri"] else string(data["name"]),
        float(data["share"]),
        float(data["values"]),
        tuple((str(kind), float(share)) for kind, share in data["kinds"].items()),
        int(data["distinct"]),
        tuple((str(value), float(share)) for value, share in data["common"]),
        tuple(map(float, data["numbers"])),
        tuple(map(str, data["dates"])),
    )
