"""The numbers that facts' attributes and words have, for as long as somebody keeps them.

A *word* is an attribute with a term that is no plain number; most are strings. Strings, and
integers too long for a double, are numbered by the decoders' kernels, in a hash table over their
bytes; the other terms here, through a dict. Python sees each new word once, and no old ones.

    attributes   0 "product"  1 "price"
    words        0 (0, true)  1 (0, false)  2 (1, true)  3 (1, false)  4 (0, "laptop") …

An attribute that is *closed* takes no new strings: one that is not there yet has the number UNSEEN,
so that a stream of ever new strings costs nothing. The other words always have numbers. One that
is `full` still works; its owner makes a new one when it can. One thread at a time may use it.
"""

import secrets
from bisect import bisect_left
from collections.abc import Iterable, Sequence

import numpy as np

from sensewire.events import scanning_table
from sensewire.events.scanning import PADDING, Bytes, Int32, Int64
from sensewire.events.scanning_paths import Paths, paths_of
from sensewire.events.scanning_table import ENTRIES, NOT_FOUND, ROOM, SEED, Table
from sensewire.events.scanning_values import INTEGERS, STRINGS
from sensewire.events.strangers import strangers
from sensewire.model import datatypes
from sensewire.model.facts import UNSEEN
from sensewire.model.terms import FALSE, TRUE, Kind, Term, string, term_of

MOST_WORDS = 1_000_000
MOST_BYTES = 134_217_728

_NO_KEY = -1


class Dictionary:
    """Attributes and words, numbered in the order in which they came.

    >>> dictionary = Dictionary(["product", "price"])
    >>> laptop = dictionary.word(0, string("laptop"))
    >>> dictionary.word(0, string("laptop")) == laptop, dictionary.words[laptop][1].text
    (True, 'laptop')
    """

    def __init__(
        self,
        attributes: Iterable[str] = (),
        *,
        most_words: int = MOST_WORDS,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self.attributes: list[str] = []
        self.words: list[tuple[int, Term]] = []
        self.table: Table = scanning_table.empty(1_024, 16_384, secrets.randbits(63))
        """Of the kernels, which number its entries as words."""
        self._most_words, self._most_bytes = most_words, most_bytes
        self._numbers: dict[str, int] = {}
        self._sorted: list[str] | None = None
        self._others: dict[tuple[int, Term], int] = {}
        self._closed: list[bool] = []
        self._truths: list[int] = []
        self._closed_array: Bytes | None = None
        self._truths_array: Int32 | None = None
        self._paths: Paths | None = None
        self._strangers = 0
        for name in attributes:
            self.attribute(name)

    @property
    def full(self) -> bool:
        """Whether it holds more words, or more bytes of them, than it should."""
        used = int(self.table.starts[self.table.counts[ENTRIES]])
        return len(self.words) > self._most_words or used > self._most_bytes

    def __contains__(self, name: str) -> bool:
        return name in self._numbers

    def knows_below(self, name: str) -> bool:
        """Whether an attribute's dotted path goes on after this name."""
        if self._sorted is None:
            self._sorted = sorted(self.attributes)
        place = bisect_left(self._sorted, f"{name}.")
        return place < len(self._sorted) and self._sorted[place].startswith(f"{name}.")

    def attribute(self, name: str) -> int:
        """The number of the attribute, which is known from now on."""
        found = self._numbers.get(name)
        if found is None:
            found = self._numbers[name] = len(self.attributes)
            self.attributes.append(name)
            # Next to each other, so that decoders find both without asking.
            self._truths.append(self._other(found, TRUE))
            self._other(found, FALSE)
            self._closed.append(False)
            self._closed_array = self._truths_array = self._paths = self._sorted = None
        return found

    def close(self, attribute: int, texts: Iterable[str] = ()) -> None:
        """Take no strings of the attribute but these, and those that have numbers already."""
        self._closed[attribute] = False  # these are new words, also of one that was closed before
        self.strings(attribute, texts)
        self._closed[attribute] = True
        self._closed_array = None

    @property
    def closed(self) -> Bytes:
        """Attribute → 1 if it is closed, else 0."""
        if self._closed_array is None:
            self._closed_array = np.array(self._closed, np.uint8)
        return self._closed_array

    @property
    def truths(self) -> Int32:
        """Attribute → the number of its word `true`; that of `false` is the next one."""
        if self._truths_array is None:
            self._truths_array = np.array(self._truths, np.int32)
        return self._truths_array

    @property
    def paths(self) -> Paths:
        """The attributes as dotted paths, for the scanner."""
        if self._paths is None:
            self._strangers = 0
            self._paths = paths_of(self.attributes, int(self.table.counts[SEED]))
        return self._paths

    def strangers(self) -> list[str]:
        """The names of other attributes that a scan met, each once, until `ask_again`."""
        found = list(strangers(self.paths, self._strangers))
        self._strangers = int(self.paths.met.counts[ENTRIES])
        return found

    def ask_again(self) -> None:
        """Name all strangers once more: somebody may want them now."""
        self._strangers = 0

    def word(self, attribute: int, term: Term) -> int:
        """The number of a word; UNSEEN for a string that a closed attribute does not have."""
        return self.words_of([(attribute, term)])[0]

    def words_of(self, asked: Sequence[tuple[int, Term]]) -> list[int]:
        """The numbers of many words, in one go for all that have bytes and one attribute."""
        numbers = [0] * len(asked)
        places_of: dict[tuple[int, int], list[int]] = {}
        for place, (attribute, term) in enumerate(asked):
            if term.kind is Kind.STRING and term.datatype == datatypes.STRING:
                places_of.setdefault((attribute, STRINGS), []).append(place)
            elif term.datatype == datatypes.INTEGER and term == term_of(term.value):
                places_of.setdefault((attribute, INTEGERS), []).append(place)
            else:
                numbers[place] = self._other(attribute, term)
        for (attribute, writes), places in places_of.items():
            texts = _joined([asked[place][1].text.encode() for place in places])
            if writes == STRINGS:
                found = self.texts(attribute, *texts)
            else:
                found = self._entries(2 * attribute + INTEGERS, *texts, None, True)
            for place, number in zip(places, found.tolist(), strict=True):
                numbers[place] = number
        return numbers

    def strings(self, attribute: int, texts: Iterable[str]) -> Int32:
        """The numbers of many strings of one attribute."""
        return self.texts(attribute, *_joined([text.encode() for text in texts]))

    def texts(
        self, attribute: int, data: Bytes, offsets: Int64, present: Bytes | None = None
    ) -> Int32:
        """The numbers of the strings data[offsets[i] : offsets[i + 1]] of one attribute.

        `data` is longer than they are, by `PADDING` bytes. MALFORMED for what is no UTF-8; UNSEEN
        for what is not present, by a 0 there.
        """
        adds = not self._closed[attribute]
        found = self._entries(2 * attribute + STRINGS, data, offsets, present, adds)
        found[found == NOT_FOUND] = UNSEEN
        return found

    def make_room(self, size: int = 0) -> None:
        """Let a kernel add a word of so many bytes."""
        self.table = scanning_table.with_room(self.table, size)

    def keep_up(self) -> None:
        """List the words that a kernel added."""
        table = self.table
        first, count = len(self.words), int(table.counts[ENTRIES])
        if first == count:
            return
        begin = int(table.starts[first])
        texts = table.arena[begin : table.starts[count]].tobytes()
        starts = (table.starts[first : count + 1] - begin).tolist()
        for index, key in enumerate(table.keys[first:count].tolist()):
            text = texts[starts[index] : starts[index + 1]].decode()
            attribute, writes = divmod(key, 2)
            integer = writes == INTEGERS
            term = Term(Kind.NUMBER, text, datatypes.INTEGER) if integer else string(text)
            self.words.append((attribute, term))

    def _entries(
        self, key: int, data: Bytes, offsets: Int64, present: Bytes | None, adds: bool
    ) -> Int32:
        count = len(offsets) - 1
        present = np.ones(count, np.uint8) if present is None else present
        entries = np.empty(count, np.int32)
        done = 0
        while True:
            done = scanning_table.entries_of(
                self.table, key, data, offsets, present, done, adds, entries
            )
            if done == count:
                break
            self.make_room(int(offsets[done + 1] - offsets[done]))
        self.keep_up()
        return entries

    def _other(self, attribute: int, term: Term) -> int:
        found = self._others.get((attribute, term))
        if found is None:
            self.keep_up()
            if self.table.counts[ENTRIES] == self.table.counts[ROOM]:
                self.make_room()
            table = self.table
            found = self._others[attribute, term] = int(table.counts[ENTRIES])
            table.keys[found] = _NO_KEY
            table.starts[found + 1] = table.starts[found]
            table.counts[ENTRIES] += 1
            self.words.append((attribute, term))
        return found


def _joined(texts: Sequence[bytes]) -> tuple[Bytes, Int64]:
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    data = bytearray().join((*texts, bytes(PADDING)))  # writeable, as all that the kernel is for
    return np.frombuffer(data, np.uint8), offsets
