"""A compiled segment as arrays and back: all that matching needs, and what merging needs besides.

    attributes, slots       as JSON: few
    tests                   columns, and the predicate of each as JSON, read when it is needed
    words                   the words that have numbers, found by a table
    thresholds, index       as they are
    clauses                 their tests, renumbered, or codes; which are judged once more
    vocabulary              what codes ask for, as JSON; `graphs` the index of patterns
    sample                  the events that the planner has seen, as facts

Opening does no work for each clause, test or word, but for what patterns ask for.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, overload

import numpy as np
import orjson

from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.compiled.asking import Axis
from sensewire.match.compiled.catalogue import Catalogue, Slot, TestColumns
from sensewire.match.compiled.graph_index import GraphIndex
from sensewire.match.compiled.graph_stored import lines_of, vocabulary_from
from sensewire.match.compiled.graph_vocabulary import Vocabulary
from sensewire.match.compiled.jit import Array
from sensewire.match.compiled.ranking import Columns, Ranking, Thresholds
from sensewire.match.compiled.segment import Clauses, Graphs, Ranked, Segment
from sensewire.match.compiled.values import Values, Word
from sensewire.model.errors import IndexFolderError
from sensewire.model.lookup import Lookup
from sensewire.model.strings import Strings
from sensewire.model.subscription import Predicate
from sensewire.model.terms import Term, string
from sensewire.model.written import (
    condition_from,
    condition_to,
    constant_from,
    constant_to,
    predicate_from_json,
    predicate_to_json,
    term_from,
    term_to,
)

Arrays = Mapping[str, Array]
Meta = Mapping[str, Any]


_OF_SAMPLE = (
    *(f"sample.{name}" for name in ("events", "event", "property", "kind", "word", "number")),
    *(f"sample.{name}.{part}" for name in ("properties", "words") for part in ("offsets", "utf8")),
)


def stored(
    segment: Segment, sample: Columns, values: Values, vocabulary: Vocabulary
) -> tuple[dict[str, Array], Meta]:
    """A segment as arrays, and what is said beside them."""
    catalogue = segment.catalogue
    used, places = np.unique(np.abs(segment.clauses.tests), return_inverse=True)
    tests = used - 1
    renumbered = ((places.reshape(-1) + 1) * np.sign(segment.clauses.tests)).astype(np.int32)
    columns = catalogue.columns
    first, last = columns.offsets.view[tests], columns.offsets.view[tests + 1]
    rows = np.repeat(first - np.concatenate(([0], np.cumsum(last - first)))[:-1], last - first)
    rows = rows + np.arange(len(rows))
    predicates = Strings.of(
        predicate_to_json(catalogue.predicates[test]).decode() for test in tests.tolist()
    )
    words = catalogue.concepts.words()
    thresholds = segment.ranking.thresholds
    texts, text_offsets = _joined(list(thresholds.texts))
    catalogue_texts, catalogue_text_offsets = _joined(catalogue.texts)
    index = segment.index
    assert hasattr(index, "arrays")
    arrays: dict[str, Array] = {
        "clauses.offsets": segment.clauses.offsets,
        "clauses.tests": renumbered,
        "clauses.judged": segment.clauses.judged,
        "clauses.code_offsets": segment.clauses.code_offsets,
        "clauses.codes": segment.clauses.codes,
        **_of_strings("vocabulary", Strings.of(lines_of(vocabulary))),
        "tests.slot": columns.slot.view[tests],
        "tests.but": columns.but.view[tests],
        "tests.offsets": np.concatenate(([0], np.cumsum(last - first))).astype(np.int64),
        "tests.starts": columns.starts.view[rows],
        "tests.stops": columns.stops.view[rows],
        **_of_strings("predicates", predicates),
        "texts.data": catalogue_texts,
        "texts.offsets": catalogue_text_offsets,
        **_of_words(words),
        "thresholds.slots": thresholds.slots,
        "thresholds.keys": thresholds.keys,
        "thresholds.offsets": thresholds.offsets,
        "thresholds.texts": texts,
        "thresholds.text_offsets": text_offsets,
        **{f"index.{name}": array for name, array in index.arrays().items()},
        **_of_graphs(segment),
        **_of_sample(sample, values),
    }
    meta = {
        "attributes": [
            [constant_to(constant), nearly] for constant, nearly in catalogue.attributes.asked
        ],
        "slots": [_slot_to(slot) for slot in catalogue.slots],
        "rounded": sorted(catalogue.rounded),
        "planned_with": segment.planned_with,
        "has_judged": segment.has_judged,
        "graphs": [_name_of(each) for each in segment.graphs],
        "of_hierarchy": catalogue.concepts.of_hierarchy,
        "words_apart": [
            [number, term_to(word)] for number, word in enumerate(words) if not _is_text(word)
        ],
    }
    return arrays, meta


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A segment of an index folder, with its catalogue, and the events that were seen."""

    catalogue: Catalogue
    vocabulary: Callable[[], Vocabulary]
    segment: Segment
    values: Values
    sample: Callable[[Values], Columns]


def opened(
    arrays: Arrays, meta: Meta, knowledge: Knowledge, index: Callable[[Arrays], Ranked]
) -> Opened:
    """The segment that `stored` gave the arrays of; `index` makes its index of arrays."""
    catalogue = Catalogue(knowledge)
    for written, nearly in meta["attributes"]:
        catalogue.attributes.number(constant_from(written), nearly)
    _restore_words(catalogue, arrays, meta)
    for slot in meta["slots"]:
        catalogue.slot(_slot_from(slot))
    catalogue.rounded.update(meta["rounded"])
    catalogue.restore(
        TestColumns(
            arrays["tests.slot"],
            arrays["tests.but"],
            arrays["tests.offsets"],
            arrays["tests.starts"],
            arrays["tests.stops"],
        ),
        _Predicates(_strings_of("predicates", arrays)),
        _split(arrays["texts.data"], arrays["texts.offsets"]),
    )
    count = len(arrays["clauses.offsets"]) - 1
    clauses = Clauses(
        np.arange(count, dtype=np.int32),
        arrays["clauses.offsets"],
        arrays["clauses.tests"],
        arrays["clauses.judged"],
        arrays["clauses.code_offsets"],
        arrays["clauses.codes"],
    )
    values = Values(knowledge, catalogue.concepts)
    thresholds = Thresholds(
        arrays["thresholds.slots"],
        arrays["thresholds.keys"],
        arrays["thresholds.offsets"],
        _split(arrays["thresholds.texts"], arrays["thresholds.text_offsets"]),
    )
    made = index(_under("index.", arrays))
    for name in _OF_SAMPLE:
        _ = arrays[name]  # read when the sample is needed; that it is there is checked now
    ranking = Ranking(catalogue, thresholds, values)
    planned_with, has_judged = meta["planned_with"], meta["has_judged"]
    asked = _strings_of("vocabulary", arrays)
    graphs = tuple(_graphs_from(name, arrays) for name in meta["graphs"])
    places = arrays["places"] if graphs else None
    segment = Segment(clauses, ranking, made, catalogue, planned_with, has_judged, places, graphs)
    return Opened(
        catalogue,
        lambda: vocabulary_from(asked, knowledge),
        segment,
        values,
        lambda of: _sample_from(arrays, of),
    )


_PLAIN, _OF_FACTS = "graphs", "facts"
"""What the names of arrays of patterns begin with, by whether facts are vertices to them."""


def _name_of(graphs: Graphs) -> str:
    return _OF_FACTS if graphs.of_facts else _PLAIN


def _of_graphs(segment: Segment) -> dict[str, Array]:
    if not segment.graphs:
        return {}
    assert segment.places is not None
    arrays = {"places": segment.places}
    for each in segment.graphs:
        name = _name_of(each)
        arrays[f"{name}_places"] = each.places
        if each.pattern_of is not None:
            arrays[f"{name}_pattern_of"] = each.pattern_of
        arrays |= {f"{name}.{table}": array for table, array in each.index.arrays().items()}
    return arrays


def _graphs_from(name: str, arrays: Arrays) -> Graphs:
    return Graphs(
        GraphIndex.from_arrays(_under(f"{name}.", arrays)),
        arrays[f"{name}_places"],
        arrays.get(f"{name}_pattern_of"),
        of_facts=name == _OF_FACTS,
    )


def _under(prefix: str, arrays: Arrays) -> dict[str, Array]:
    """The arrays whose names begin with a prefix, without it."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


class _Predicates(Sequence[Predicate]):
    """Predicates, read from their JSON when they are asked for."""

    def __init__(self, written: Strings) -> None:
        self._written = written

    def __len__(self) -> int:
        return len(self._written)

    @overload
    def __getitem__(self, index: int) -> Predicate: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Predicate]: ...
    def __getitem__(self, index: int | slice) -> Predicate | Sequence[Predicate]:
        if isinstance(index, slice):
            return [self[each] for each in range(len(self))[index]]
        return predicate_from_json(self._written[index])


def _restore_words(catalogue: Catalogue, arrays: Arrays, meta: Meta) -> None:
    if meta["of_hierarchy"] != catalogue.concepts.of_hierarchy:
        raise IndexFolderError(
            "the index was made with other knowledge than the folder holds; save it again"
        )
    strings = _strings_of("words", arrays)
    lookup = Lookup(strings, arrays["words.slots"])
    numbers = arrays["words.numbers"]
    first = catalogue.concepts.of_hierarchy
    apart = {term_from(written): first + number for number, written in meta["words_apart"]}

    def find(root: Term) -> int | None:
        if not _is_text(root):
            return apart.get(root)
        place = lookup.find(root.text)
        return None if place is None else first + int(numbers[place])

    def listed() -> list[Term]:
        words = [(int(number), string(text)) for number, text in zip(numbers, strings, strict=True)]
        words += [(number - first, word) for word, number in apart.items()]
        return [word for _, word in sorted(words, key=lambda each: each[0])]

    catalogue.concepts.with_saved(find, len(strings) + len(apart), listed)


def _is_text(word: Term) -> bool:
    """Whether a root is a plain string, as nearly all words are."""
    return word == string(word.text)


def _of_words(words: Sequence[Term]) -> dict[str, Array]:
    texts = [(number, word.text) for number, word in enumerate(words) if _is_text(word)]
    strings = Strings.of(text for _, text in texts)
    return {
        **_of_strings("words", strings),
        "words.slots": Lookup.of(strings).slots,
        "words.numbers": np.array([number for number, _ in texts], np.int64),
    }


def _slot_to(slot: Slot) -> list[Any]:
    detail = slot.detail
    written = detail if detail is None or isinstance(detail, str) else condition_to(detail)
    return [slot.attribute, slot.axis.value, written]


def _slot_from(data: list[Any]) -> Slot:
    attribute, axis, detail = data
    return Slot(
        attribute, Axis(axis), condition_from(detail) if isinstance(detail, dict) else detail
    )


def _of_sample(sample: Columns, values: Values) -> dict[str, Array]:
    """A sample, with the properties and words that it has."""
    properties, property = np.unique(sample.property, return_inverse=True)
    is_word = sample.word >= 0
    words, word = np.unique(sample.word[is_word], return_inverse=True)
    numbers = np.full(len(sample.word), -1, np.int32)
    numbers[is_word] = word.reshape(-1)
    place = {number: at for at, number in enumerate(properties.tolist())}
    written = [values.words[number] for number in words.tolist()]
    return {
        "sample.events": np.array([sample.events], np.int64),
        "sample.event": sample.event,
        "sample.property": property.reshape(-1).astype(np.int32),
        "sample.kind": sample.kind,
        "sample.word": np.where(is_word, numbers, sample.word).astype(np.int32),
        "sample.number": sample.number,
        **_of_strings(
            "sample.properties",
            Strings.of(
                orjson.dumps(term_to(values.properties[number])).decode()
                for number in properties.tolist()
            ),
        ),
        **_of_strings(
            "sample.words",
            Strings.of(
                orjson.dumps(
                    [
                        place[each.property],
                        term_to(each.term),
                        [term_to(one) for one in each.types],
                    ]
                ).decode()
                for each in written
            ),
        ),
    }


def _sample_from(arrays: Arrays, values: Values) -> Columns:
    properties = [
        values.property(term_from(orjson.loads(each)))
        for each in _strings_of("sample.properties", arrays)
    ]
    words = []
    for each in _strings_of("sample.words", arrays):
        property, term, types = orjson.loads(each)
        words.append(
            values.word(Word(properties[property], term_from(term), tuple(map(term_from, types))))
        )
    word = arrays["sample.word"]
    known = np.array(words, np.int32)
    return Columns(
        int(arrays["sample.events"][0]),
        arrays["sample.event"],
        np.array(properties, np.int32)[arrays["sample.property"]],
        arrays["sample.kind"],
        _renumbered(word, known),
        arrays["sample.number"],
    )


def _renumbered(word: Array, known: Array) -> Array:
    """Words by their new numbers; what is no word, or a string that nothing asked for, stays."""
    made = word.copy()
    made[word >= 0] = known[word[word >= 0]]
    return made


def _joined(texts: Sequence[bytes]) -> tuple[Array, Array]:
    lengths = np.array([len(text) for text in texts], np.int64)
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    return np.frombuffer(b"".join(texts), np.uint8), offsets


def _split(data: Array, offsets: Array) -> list[bytes]:
    text = data.tobytes()
    ends = offsets.tolist()
    return [text[first:last] for first, last in pairwise(ends)]


def _of_strings(name: str, strings: Strings) -> dict[str, Array]:
    return {f"{name}.offsets": strings.offsets, f"{name}.utf8": strings.utf8}


def _strings_of(name: str, arrays: Arrays) -> Strings:
    return Strings(arrays[f"{name}.offsets"], arrays[f"{name}.utf8"])
