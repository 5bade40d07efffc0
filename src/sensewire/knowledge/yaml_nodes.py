"""YAML files as nodes with line numbers: texts, lists and fields, and nothing else.

The parser's events are read, not its composed nodes: PyYAML's composer in C recurses, and a small
file of open brackets ends the process. There are no aliases to expand and nesting is bounded, so
that cost and memory are linear in the file.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sensewire.knowledge.content import Place
from sensewire.model.errors import EventError, KnowledgeError
from sensewire.model.terms import whole

if TYPE_CHECKING:
    from yaml import Event

LARGEST = 64 * 1024 * 1024
"""Bytes of one file."""
_DEEPEST = 16  # the form of knowledge itself needs five


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Items:
    items: tuple["Node", ...]
    line: int


@dataclass(frozen=True, slots=True)
class Fields:
    entries: tuple[tuple[Text, "Node"], ...]  # no key twice
    line: int


Node = Text | Items | Fields


def _text(path: Path) -> str:
    try:
        if path.exists() and not path.is_file():  # a pipe has no size, and may never end
            raise KnowledgeError(f"{path} is no regular file; expected a YAML file")
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise KnowledgeError(f"{path}: {error.strerror}; expected a YAML file") from None
    if len(data) > LARGEST:
        raise KnowledgeError(f"{path} is larger than {LARGEST:,} bytes; split it into several")
    try:
        return data.decode()  # the parser takes a byte order mark
    except UnicodeDecodeError as error:
        place = Place(str(path), data.count(b"\n", 0, error.start) + 1)
        raise KnowledgeError(f"{place}: not UTF-8, at byte {error.start}") from None


def root_of(path: Path) -> Node:
    """The one document of a file."""
    import yaml

    file, text = str(path), _text(path)
    try:
        events = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        found: Node | None = None
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent) and found is not None:
                raise KnowledgeError(
                    f"{_place(file, event)}: a second document begins; one file holds one"
                )
            if isinstance(event, yaml.NodeEvent):
                found = _node(file, event, events, 1)
    except yaml.reader.ReaderError as error:
        bad = yaml.reader.Reader.NON_PRINTABLE.search(text)
        line = None if bad is None else text.count("\n", 0, bad.start()) + 1
        raise KnowledgeError(f"{Place(file, line)}: {error.reason}") from None
    except yaml.MarkedYAMLError as error:
        line = None if error.problem_mark is None else error.problem_mark.line + 1
        about = f" {error.context}" if error.context else ""
        raise KnowledgeError(f"{Place(file, line)}: bad YAML{about}: {error.problem}") from None
    if found is None or found == Text("", found.line):
        raise KnowledgeError(f"{file} is empty; expected keys such as `hierarchy:`")
    return found


def _node(file: str, event: "Event", events: Iterator["Event"], depth: int) -> Node:
    """The node that begins with an event; the events up to its end are taken."""
    import yaml

    place = _place(file, event)
    line = place.line or 0
    if depth > _DEEPEST:
        raise KnowledgeError(f"{place}: nested more than {_DEEPEST} deep")
    if not isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) or event.anchor:
        raise KnowledgeError(f"{place}: & and * (anchors, aliases) are not read; quote a name")
    if event.tag is not None:
        raise KnowledgeError(f"{place}: tags such as {event.tag!r} are not read; quote a name")
    if isinstance(event, yaml.ScalarEvent):
        try:
            return Text(whole(event.value), line)
        except EventError as error:
            raise KnowledgeError(f"{place}: {error}") from None
    inner: list[Node] = []
    for each in events:
        if isinstance(each, yaml.CollectionEndEvent):
            break
        inner.append(_node(file, each, events, depth + 1))
    if isinstance(event, yaml.SequenceStartEvent):
        return Items(tuple(inner), line)
    return Fields(tuple(_keyed(file, inner)), line)


def _keyed(file: str, inner: list[Node]) -> Iterator[tuple[Text, Node]]:
    lines: dict[str, int] = {}
    for key, value in zip(inner[::2], inner[1::2], strict=True):
        if not isinstance(key, Text):
            raise KnowledgeError(f"{Place(file, key.line)}: a key is one name; found {shown(key)}")
        if key.text in lines:
            raise KnowledgeError(
                f"{Place(file, key.line)}: the key {cut(key.text)!r} stands at line "
                f"{lines[key.text]} too; put the two together"
            )
        lines[key.text] = key.line
        yield key, value


def _place(file: str, event: "Event") -> Place:
    assert event.start_mark is not None
    return Place(file, event.start_mark.line + 1)


def shown(node: Node) -> str:
    match node:
        case Text("", _):
            return "nothing"
        case Text(text, _):
            return f"the text {cut(text)!r}"
        case Items(items, _):
            return f"a list of {len(items)}"
        case Fields(entries, _):
            first = f", the first is {cut(entries[0][0].text)!r}" if entries else ""
            return f"a mapping with {len(entries)} keys{first}"


def cut(text: str) -> str:
    return text if len(text) <= 60 else text[:60] + "…"
