"""An engine in a folder: subscriptions, knowledge and compiled index, opened by mapping them.

    subscriptions   ids (with a table to find them), texts, clauses of each; rows of each clause
    index           the compiled segment (`match/compiled/stored.py`)
    apart           ids and texts of subscriptions that the compiled matcher does not take: they are
                    read and added again when the folder is opened
    knowledge       its JSON
    beside          arrays that the caller gave

Opening does no work for each subscription: what a row says is read when somebody asks for it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.stored import from_json, to_json
from sensewire.language.parse import parse
from sensewire.language.unparse import unparse
from sensewire.match.compiled.stored import Arrays, opened, stored
from sensewire.match.dispatch import names_of
from sensewire.match.layered import Layered
from sensewire.model.canonical import Clause, canonical_clause, clauses_of
from sensewire.model.errors import IndexFolderError, SensewireError, UnsupportedError
from sensewire.model.folder import Folder, open_folder
from sensewire.model.folder_writing import write_folder
from sensewire.model.lookup import Lookup
from sensewire.model.spreading import spread
from sensewire.model.strings import Strings
from sensewire.subscribers import Arrow, Standing, Subscribers

KIND = "sensewire index"
FORMAT = 3
_BESIDE = "beside."

Array = npt.NDArray[Any]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Saved:
    """Subscriptions in arrays: what `Subscribers` stands on after opening."""

    _ids: Strings
    _lookup: Lookup
    _texts: Strings
    _offsets: Int64
    _of_row: Int32
    _clause_offsets: Int64
    _of_clause: Int64

    @classmethod
    def of(cls, arrays: Arrays) -> "Saved":
        """The subscriptions that `arrays_of` wrote."""
        ids = Strings(arrays["ids.offsets"], arrays["ids.utf8"])
        return cls(
            ids,
            Lookup(ids, arrays["ids.slots"]),
            Strings(arrays["subscriptions.offsets"], arrays["subscriptions.utf8"]),
            arrays["rows.offsets"],
            arrays["rows.clauses"],
            arrays["of_clause.offsets"],
            arrays["of_clause.rows"],
        )

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def clauses(self) -> int:
        return len(self._clause_offsets) - 1

    @property
    def some_have_many_clauses(self) -> bool:
        return len(self._of_row) > len(self)

    def row(self, id: str) -> int | None:
        return self._lookup.find(id)

    def id(self, row: int) -> str:
        return self._ids[row]

    def text(self, row: int) -> str:
        """What a row subscribes to."""
        return self._texts[row]

    def ids(self, rows: Int64) -> Arrow:
        return self._ids.take(rows)

    def all_ids(self) -> Arrow:
        return self._ids.arrow()

    def clauses_of(self, row: int) -> tuple[int, ...]:
        return tuple(self._of_row[self._offsets[row] : self._offsets[row + 1]].tolist())

    def standing(self, row: int) -> Standing:
        subscription = parse(self._texts[row])
        names = tuple(names_of(clause) for clause in clauses_of(subscription))
        return Standing(self.id(row), subscription, self.clauses_of(row), names)

    def clause(self, number: int) -> Clause:
        """A clause, by its number."""
        row = int(self._of_clause[self._clause_offsets[number]])
        place = self.clauses_of(row).index(number)
        clause = list(clauses_of(parse(self._texts[row])))[place]
        return clause if clause.select is None else canonical_clause(clause).clause

    def rows_of(self, clauses: Int32) -> tuple[Int64, Int64]:
        places, rows = spread(clauses, self._clause_offsets, self._of_clause)
        return places, rows


def save(
    path: str | PathLike[str],
    knowledge: Knowledge,
    compiled: object,
    subscribers: Subscribers,
    beside: Mapping[str, Array],
) -> None:
    """Write all that stands to a folder."""
    assert isinstance(compiled, Layered)
    ids: list[str] = []
    texts: list[str] = []
    rows: list[int] = []
    ends = [0]
    apart: list[tuple[str, str]] = []
    for id, text, clauses in _written(subscribers):
        if all(map(compiled.has, clauses)):
            ids.append(id)
            texts.append(text)
            rows.extend(clauses)
            ends.append(len(rows))
        else:
            apart.append((id, text))
    segment, sample, values = compiled.whole(set(rows))
    index, said = stored(segment, sample, values, compiled.vocabulary)
    numbers = segment.clauses.numbers
    of_row = np.searchsorted(numbers, np.array(rows, np.int32)).astype(np.int32)
    offsets = np.array(ends, np.int64)
    owner = np.repeat(np.arange(len(ids), dtype=np.int64), np.diff(offsets))
    pairs = np.unique(np.column_stack((of_row.astype(np.int64), owner)), axis=0)
    counts = np.bincount(pairs[:, 0], minlength=len(numbers))
    names = Strings.of(ids)
    said_texts = Strings.of(texts)
    apart_ids, apart_texts = Strings.of(id for id, _ in apart), Strings.of(t for _, t in apart)
    arrays: dict[str, Array] = {
        "ids.offsets": names.offsets,
        "ids.utf8": names.utf8,
        "ids.slots": Lookup.of(names).slots,
        "subscriptions.offsets": said_texts.offsets,
        "subscriptions.utf8": said_texts.utf8,
        "rows.offsets": offsets,
        "rows.clauses": of_row,
        "of_clause.offsets": np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        "of_clause.rows": pairs[:, 1].copy(),
        "apart.ids.offsets": apart_ids.offsets,
        "apart.ids.utf8": apart_ids.utf8,
        "apart.texts.offsets": apart_texts.offsets,
        "apart.texts.utf8": apart_texts.utf8,
        "knowledge": np.frombuffer(to_json(knowledge.content), np.uint8),
        **index,
        **{f"{_BESIDE}{name}": array for name, array in beside.items()},
    }
    write_folder(path, arrays, dict(said), format_version=FORMAT, kind=KIND)


def _written(subscribers: Subscribers) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """The id, the text and the clauses of each subscription."""
    for row in subscribers.rows():
        id = subscribers.id(row)
        try:
            text = subscribers.text(row, unparse)
        except UnsupportedError as error:  # made by hand; no text could say it
            raise SensewireError(f"the subscription {id!r} cannot be saved: {error}") from None
        yield id, text, subscribers.clauses_of(row)


def opened_folder(path: str | PathLike[str], version: str | None = None) -> Folder:
    """The folder that `save` wrote: its current version, or another one that is still there."""
    return open_folder(
        path, kind=KIND, newest_version=FORMAT, oldest_version=FORMAT, version=version
    )


def knowledge_in(folder: Folder) -> Knowledge:
    """The knowledge that an engine was saved with."""
    try:
        return Knowledge(from_json(folder.arrays["knowledge"].tobytes()))
    except SensewireError as error:
        raise IndexFolderError(f"{folder.path}: its knowledge cannot be read: {error}") from None


def restored(
    matcher: object, folder: Folder, knowledge: Knowledge, saved: Saved, *, plans: bool
) -> None:
    """Let the compiled matcher begin with the folder's index; unless it `plans`, it stays so."""
    from sensewire.match.compiled.index import Index

    assert isinstance(matcher, Layered)
    found = opened(folder.arrays, folder.meta, knowledge, Index.from_arrays)
    matcher.restore(found, saved.clause, plans=plans)


def apart_in(arrays: Mapping[str, Array]) -> Iterator[tuple[str, str]]:
    """The ids and texts of what has to be added again."""
    ids = Strings(arrays["apart.ids.offsets"], arrays["apart.ids.utf8"])
    texts = Strings(arrays["apart.texts.offsets"], arrays["apart.texts.utf8"])
    return zip(ids, texts, strict=True)


def beside_in(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The arrays that the caller gave when it was saved."""
    return {
        name.removeprefix(_BESIDE): array
        for name, array in arrays.items()
        if name.startswith(_BESIDE)
    }
