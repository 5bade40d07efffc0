"""Reads WordNet, in the format of its own files (wndb(5)): data.noun beside index.noun.

A synset is one concept, or one individual where WordNet calls it an instance. Its names are its
words with their sense numbers, which index.* tells by the order of its offsets:

    dog n 7 5 @ ~ #m #p %p 7 1 02084071 10114209 …      dog#1 is the synset at 02084071
    02084071 05 n 03 dog 0 domestic_dog 0 … 023 @ 02083346 n 0000 … | gloss

Nouns are named `dog#1`, the others `run#v1`, `good#a1` and `well#r1`. The scheme is "wordnet".
Glosses are not kept. Cost: one pass over each of the two files; pointers lead forward and back, and
so they are resolved after the pass.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sensewire.knowledge.content import Draft, EntityKind, Place, in_scheme
from sensewire.model.errors import KnowledgeError
from sensewire.model.terms import Term

SCHEME = "wordnet"
_HEADER = b"  "  # the licence, before the first synset
_MARKER = re.compile(r"\((?:a|p|ip)\)$")  # where an adjective may stand


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of speech: its files' ending, its synset types and how its senses are marked."""

    ending: str
    types: tuple[str, ...]
    mark: str


_PARTS = {
    f"data.{part.ending}": part
    for part in (
        _Part("noun", ("n",), ""),
        _Part("verb", ("v",), "v"),
        _Part("adj", ("a", "s"), "a"),
        _Part("adv", ("r",), "r"),
    )
}


class _Synset(NamedTuple):
    """One line of a data file; synsets are named by their offsets."""

    offset: str
    words: tuple[str, ...]
    broader: tuple[str, ...]
    classes: tuple[str, ...]  # where it is an instance


def is_wordnet(path: Path) -> bool:
    """Whether a path is one of WordNet's data files, or a folder that holds its nouns.

    >>> is_wordnet(Path("wordnet/data.verb")), is_wordnet(Path("data.json"))
    (True, False)
    """
    return path.name in _PARTS or (path / "data.noun").exists()


def read_wordnet(path: Path, draft: Draft) -> None:
    """Read the nouns of a folder, or the part of speech of one data file, into the draft."""
    data = path / "data.noun" if path.is_dir() else path
    part = _PARTS.get(data.name)
    if part is None:
        raise KnowledgeError(f"{path}: expected a folder of WordNet, or {', '.join(_PARTS)} in it")
    index = data.with_name(f"index.{part.ending}")
    senses = _senses(index, part)
    terms: dict[str, Term] = {}
    pointing: list[tuple[int, _Synset]] = []
    for line, text in _lines(data):
        try:
            synset = _synset(text, part)
            names = [_sense(word, synset.offset, senses, part) for word in synset.words]
            if synset.offset in terms:
                raise ValueError(f"a second synset {synset.offset}")
        except (ValueError, IndexError) as error:
            raise _bad(data, line, error, "`offset number type words pointers | gloss`") from None
        terms[synset.offset] = in_scheme(names[0], SCHEME)
        _note(synset, terms[synset.offset], names, draft)
        if synset.broader or synset.classes:
            pointing.append((line, synset._replace(words=())))  # the draft has them now
    _state(data, pointing, terms, draft)
    _refuse_missing(index, senses, terms)


def _note(synset: _Synset, term: Term, names: Sequence[str], draft: Draft) -> None:
    labels = [word.replace("_", " ") for word in synset.words]
    # Also one that is an instance: all senses of a word count, not only those that are classes.
    draft.entity(term, SCHEME, EntityKind.CONCEPT, names=names, labels=labels)
    if synset.classes:
        draft.entity(term, SCHEME, EntityKind.INDIVIDUAL)


def _state(
    data: Path, pointing: Sequence[tuple[int, _Synset]], terms: Mapping[str, Term], draft: Draft
) -> None:
    file = str(data)
    for line, synset in pointing:
        term, place = terms[synset.offset], Place(file, line)
        for into, offsets in ((draft.broader, synset.broader), (draft.instances, synset.classes)):
            for offset in offsets:
                above = terms.get(offset)
                if above is None:
                    raise KnowledgeError(
                        f"{place}: {term.text} points to {offset}, which is no synset of the file; "
                        "is the file whole?"
                    )
                into.setdefault((term, above), place)


def _synset(text: bytes, part: _Part) -> _Synset:
    """Take a data line apart; whatever does not fit raises ValueError or IndexError."""
    head, bar, _ = text.partition(b"| ")
    if not bar:
        raise ValueError("no gloss")
    fields = head.decode().split()
    if fields[2] not in part.types or not fields[0].isdigit():
        raise ValueError(f"no synset of type {' or '.join(part.types)}")
    after_words = 4 + 2 * int(fields[3], 16)
    words = tuple(fields[4:after_words:2])
    pointers = fields[after_words + 1 : after_words + 1 + 4 * int(fields[after_words])]
    if not words or len(pointers) != 4 * int(fields[after_words]):
        raise ValueError("fewer words or pointers than it counts")
    if "s" in part.types:
        words = tuple(_MARKER.sub("", word) for word in words)
    return _Synset(fields[0], words, _targets("@", pointers), _targets("@i", pointers))


def _targets(kind: str, pointers: Sequence[str]) -> tuple[str, ...]:
    """The offsets that pointers of one kind lead to; a pointer is kind, offset, type, words."""
    if kind not in pointers:
        return ()
    return tuple(pointers[at + 1] for at in range(0, len(pointers), 4) if pointers[at] == kind)


def _sense(word: str, offset: str, senses: Mapping[str, str], part: _Part) -> str:
    """The name of a word in a synset: its place among the word's synsets is the sense number."""
    offsets = senses.get(word.lower(), "").split()
    if offset not in offsets:
        raise ValueError(f"index.{part.ending} does not list {word!r} for the synset {offset}")
    return f"{word}#{part.mark}{offsets.index(offset) + 1}"


def _senses(index: Path, part: _Part) -> dict[str, str]:
    """The offsets of each word's synsets, in the order of its senses, as the index writes them."""
    senses: dict[str, str] = {}
    for line, text in _lines(index):
        try:
            word, letter, count, pointers, *rest = text.decode().split()
            offsets = rest[int(pointers) + 2 :]
            if letter != part.types[0] or len(offsets) != int(count):
                raise ValueError(f"no entry of type {part.types[0]} with {count} offsets")
        except (ValueError, IndexError) as error:
            raise _bad(index, line, error, "`word type count pointers … offsets`") from None
        senses[word] = " ".join(offsets)
    return senses


def _refuse_missing(index: Path, senses: Mapping[str, str], terms: Mapping[str, Term]) -> None:
    for word, offsets in senses.items():
        for offset in offsets.split():
            if offset not in terms:
                start = word.encode() + b" "
                line = next(line for line, text in _lines(index) if text.startswith(start))
                raise KnowledgeError(
                    f"{Place(str(index), line)}: {word!r} is in the synset {offset}, which "
                    f"data.{index.name.partition('.')[2]} lacks; is that file whole?"
                )


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers, its licence left out."""
    is_empty = True
    try:
        with path.open("rb") as file:
            for line, text in enumerate(file, start=1):
                if text.startswith(_HEADER):
                    continue
                if not text.endswith(b"\n"):
                    raise KnowledgeError(f"{Place(str(path), line)}: the file ends within a line")
                is_empty = False
                yield line, text
    except OSError as error:
        raise KnowledgeError(
            f"{path}: {error.strerror}; WordNet's data and index files stand beside each other"
        ) from None
    if is_empty:
        raise KnowledgeError(f"{path} is empty; expected a file of WordNet")


def _bad(path: Path, line: int, error: Exception, expected: str) -> KnowledgeError:
    return KnowledgeError(
        f"{Place(str(path), line)}: no line of WordNet's ({error}); expected {expected}"
    )
