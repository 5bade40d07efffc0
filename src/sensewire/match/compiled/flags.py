"""Conditions that no axis can say, tried on each distinct value.

Those that share a key with every value that meets them are found by the value's keys. Suffixes and
parts of texts are looked up by length, so that their number does not matter; what is left (regular
expressions above all) is tried one by one.

    suffix    length ──> text ──> slots     one look-up for each length
    contains  length ──> text ──> slots     one for each length and place, or each tried if fewer
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping

from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.words import Scope
from sensewire.match.views import WITH_TEXT, Ready, View, keys_of, probes, ready
from sensewire.model.conditions import Condition, Text, TextRelation

_ByLength = Mapping[int, Mapping[str, int]]


class Flags:
    """The flags of one attribute: slots, each with the condition that it stands for."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._hashed: dict[Hashable, list[tuple[int, Ready]]] = defaultdict(list)
        self._listed: list[tuple[int, Ready]] = []
        self._suffixes: dict[int, dict[str, int]] = defaultdict(dict)
        self._parts: dict[int, dict[str, int]] = defaultdict(dict)

    def add(self, slot: int, condition: Condition, scope: Scope) -> None:
        """Try a condition too."""
        match condition:
            case Text(TextRelation.SUFFIX, text):
                self._suffixes[len(text)][text] = slot
                return
            case Text(TextRelation.CONTAINS, text):
                self._parts[len(text)][text] = slot
                return
        test = ready(condition, self._knowledge, scope)
        keys = keys_of(condition, self._knowledge, scope)
        if keys is None:
            self._listed.append((slot, test))
        for key in keys or ():
            self._hashed[key].append((slot, test))

    def held_by(self, view: View) -> Iterator[int]:
        """The slots of the conditions that a value meets, some perhaps twice."""
        if self._hashed:
            for key in probes(view):
                yield from (slot for slot, test in self._hashed.get(key, ()) if test(view))
        yield from (slot for slot, test in self._listed if test(view))
        if view.term.kind in WITH_TEXT:
            yield from _suffixes_of(view.term.text, self._suffixes)
            yield from _parts_of(view.term.text, self._parts)


def _suffixes_of(text: str, suffixes: _ByLength) -> Iterator[int]:
    for length, known in suffixes.items():
        if length <= len(text):
            slot = known.get(text[len(text) - length :])
            if slot is not None:
                yield slot


def _parts_of(text: str, parts: _ByLength) -> Iterator[int]:
    for length, known in parts.items():
        places = len(text) - length + 1
        if places < len(known):
            pieces = {text[place : place + length] for place in range(max(places, 0))}
            yield from (known[piece] for piece in pieces if piece in known)
        else:
            yield from (slot for part, slot in known.items() if part in text)
