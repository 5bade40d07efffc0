"""`sensewire publish`: events into the log of a store."""

import argparse
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, BinaryIO

from sensewire.cli.progress import spinner
from sensewire.cli.storing import add_store, opened_store
from sensewire.model.errors import EventError, SensewireError

if TYPE_CHECKING:
    from sensewire.events.files import EventFile
    from sensewire.store.database import Store
    from sensewire.store.log import Entry

_LARGEST = 268_435_456
_ENTRIES_AT_ONCE = 64
_PATIENCE = 0.05  # seconds that a line waits for others, at most


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "publish",
        help="append events to the log of a store",
        description=(
            "Append events to the log of a store: files of any kind that sensewire match reads, or "
            "lines of JSON from standard input. What is counted is on disk."
        ),
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("files", nargs="*", metavar="FILE", help="files and folders; standard input unless given")
    add("--event", action="append", default=[], metavar="JSON", help="an event, as JSON")
    add(
        "--format",
        default="jsonl",
        metavar="F",
        help="of standard input: jsonl, or the suffix of a document (ttl, nq, rss, csv, …)",
    )
    add_store(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Append, and say how far the log reaches."""
    with opened_store(arguments) as store, spinner("publishing") as say:
        published = _Published(store)
        if arguments.event:
            published.add(_lines_of(text.encode() for text in arguments.event))
        for entry in _entries(arguments.files):
            if published.hold(entry):
                say(f"{published.count:,} events")
        published.flush()
        if not arguments.files and not arguments.event:
            _publish_stdin(published, arguments.format)
    said = f", the log reaches to {published.last}" if published.count else ""
    print(f"{published.count} events published{said}")
    return 0


class _Published:
    """What was appended so far."""

    def __init__(self, store: "Store") -> None:
        self._store = store
        self._held: list[Entry] = []
        self.count = self.last = 0

    def add(self, entries: "Iterator[Entry]") -> None:
        """Append at once."""
        self._held.extend(entries)
        self.flush()

    def hold(self, entry: "Entry") -> bool:
        """Append soon; whether something was appended now."""
        self._held.append(entry)
        if len(self._held) < _ENTRIES_AT_ONCE:
            return False
        self.flush()
        return True

    def flush(self) -> None:
        """Append what is held."""
        from sensewire.store.log import append

        if self._held:
            numbers = append(self._store, self._held, datetime.now(UTC))
            self.count += len(numbers)
            self.last = numbers[-1] if numbers else self.last
            self._held = []


def _lines_of(lines: Iterator[bytes]) -> "Iterator[Entry]":
    from sensewire.store.log import entries_of_lines

    return entries_of_lines(lines)


def _entries(files: list[str]) -> "Iterator[Entry]":
    from sensewire.events.files import listing

    found = listing(files)
    for rejected in found.rejected:
        print(f"sensewire: {rejected.place}: {rejected.reason}; left out", file=sys.stderr)
    for file in found.files:
        yield from _entries_of(file)


def _entries_of(file: "EventFile") -> "Iterator[Entry]":
    from sensewire.events.files import companion
    from sensewire.events.kinds import Kind
    from sensewire.events.locations import Standing
    from sensewire.events.unpacking import opened
    from sensewire.store.log import Entry, entries_of_lines

    if file.kind is Kind.PACKED:
        raise SensewireError(
            f"{file.name}: packed rows are not published; publish the table itself"
        )
    packing = file.naming.packing
    with opened(file.location, packing) as content:
        if file.kind is Kind.LINES:
            yield from entries_of_lines(content.stream)
            if content.problem:
                raise EventError(f"{file.name}: {content.problem}; the lines before are published")
            return
        body = content.stream.read(_LARGEST + 1)
        if content.problem:
            raise EventError(f"{file.name}: {content.problem}; nothing of it is published")
    if len(body) > _LARGEST:
        raise EventError(
            f"{file.name}: longer than {_LARGEST:,} bytes, the most that the log takes at once; "
            "let a stream read it from a folder (--source folder:…)"
        )
    facts = None
    if file.kind is Kind.PAYLOAD:
        beside = companion(file.location)
        if beside.status().standing is not Standing.NOTHING:
            with beside.open() as read:
                facts = read.read(_LARGEST)
    name = file.id.rpartition("/")[2]
    yield Entry(file.kind, body, name=name.removesuffix(packing or ""), facts=facts)


def _publish_stdin(published: _Published, format: str) -> None:
    from sensewire.events.kinds import Kind, naming
    from sensewire.store.log import Entry

    kind = naming(f"x.{format}").kind
    if kind is not Kind.LINES:
        body = sys.stdin.buffer.read(_LARGEST + 1)
        if body:
            published.add(iter([Entry(kind, body, name=f"stdin.{format}")]))
        return
    for lines in _gathered(sys.stdin.buffer):
        published.add(_lines_of(iter(lines)))


def _gathered(stream: BinaryIO) -> Iterator[list[bytes]]:
    """Lines as they come: many at once where they come fast, and none waits for long."""
    import selectors

    held: list[bytes] = []
    rest = b""
    begun = 0.0
    with selectors.DefaultSelector() as selector:
        try:
            selector.register(stream, selectors.EVENT_READ)
        except (OSError, ValueError):  # a plain file: all of it is there
            yield from ([line] for line in stream)
            return
        while True:
            waits = None if not held else max(0.0, begun + _PATIENCE - time.monotonic())
            if held and (not waits or not selector.select(waits)):
                yield held
                held = []
                continue
            if not held:
                selector.select(None)
                begun = time.monotonic()
            data = stream.read1(1_048_576)  # type: ignore[attr-defined]
            if not data:
                break
            *lines, rest = (rest + data).split(b"\n")
            held.extend(lines)
    if rest or held:
        yield [*held, rest]
