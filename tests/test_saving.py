"""`save` and `open`: an engine from a folder answers like the one that was saved, and lives on.

(The folder itself, its versions and what happens when a process dies: `model/test_folder.py`.)
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sensewire as sw
from sensewire.engine import Engine
from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.compiled.jit import Array
from sensewire.match.layered import Layered
from sensewire.model.conditions import Order, Relation, meaning
from sensewire.model.event import Event, Fact, moment
from sensewire.model.folder_writing import write_folder
from sensewire.model.subscription import Conjunction, Predicate, Subscription
from sensewire.model.terms import HOME, iri, language_string, string, term_of
from sensewire.saving import FORMAT, KIND, opened_folder
from sensewire.testing.events import events
from tests.answers import (
    ATTRIBUTES,
    OPERATORS,
    TERMS,
    any_knowledge,
    any_record,
    any_subscription,
    engine_of,
    ids,
    is_added,
    told,
    told_in_batch,
)


def reopened(engine: Engine, path: Path) -> Engine:
    engine.save(path)
    return Engine.open(path, operators=OPERATORS)


def json_batch(rows: Sequence[dict[str, Any]]) -> pa.RecordBatch:
    texts = [json.dumps(row).encode() for row in rows]
    return pa.RecordBatch.from_arrays([pa.array(texts, pa.binary())], ["json"])


@given(
    known=any_knowledge,
    first=st.lists(any_subscription, max_size=5),
    second=st.lists(any_subscription, max_size=3),
    gone=st.sets(st.sampled_from([f"{part}{number}" for part in "ab" for number in range(5)])),
    sent=st.lists(events(ATTRIBUTES, TERMS), min_size=1, max_size=3),
    rows=st.lists(any_record, max_size=3),
)
def test_an_opened_engine_answers_like_the_one_that_was_saved(
    known: Knowledge,
    first: list[Subscription],
    second: list[Subscription],
    gone: set[str],
    sent: list[Event],
    rows: list[dict[str, Any]],
) -> None:
    """Saved and opened twice, with subscriptions that come and go between."""
    living = engine_of(known, [])
    batch = json_batch(rows)
    with TemporaryDirectory() as folder:
        saved = reopened(engine_of(known, []), Path(folder) / "index")
        for part, asked in (("a", first), ("b", second)):
            for number, each in enumerate(asked):
                added = [is_added(engine, each, f"{part}{number}") for engine in (living, saved)]
                assert added[0] == added[1]
            assert _all_told(saved, sent, batch) == _all_told(living, sent, batch)
            saved = reopened(saved, Path(folder) / "index")
            assert _all_told(saved, sent, batch) == _all_told(living, sent, batch)
            for id in sorted(gone):
                for engine in (living, saved):
                    if id in engine._subscribers:
                        engine.remove(id)
            assert _all_told(saved, sent, batch) == _all_told(living, sent, batch)
            saved = reopened(saved, Path(folder) / part)
            assert saved.statistics().subscriptions == living.statistics().subscriptions
        assert _all_told(saved, sent, batch) == _all_told(living, sent, batch)
        assert saved.knowledge == known


words = st.sampled_from(["red", "green", "blue", "7", "Zürich", ""])
asked_words = st.one_of(
    st.builds("{} = {!r}".format, st.sampled_from("ab"), words),
    st.builds(
        lambda name, some: f"{name} in ({', '.join(map(repr, some))})",
        st.sampled_from("ab"),
        st.lists(words, min_size=1, max_size=3),
    ),
    st.builds("{} > {}".format, st.sampled_from("ab"), st.integers(0, 3)),
)


@given(
    first=st.lists(asked_words, max_size=6),
    second=st.lists(asked_words, max_size=3),
    rows=st.lists(st.fixed_dictionaries({"a": words, "b": words}), min_size=1, max_size=4),
)
def test_an_opened_engine_knows_which_words_are_asked_for(
    first: list[str], second: list[str], rows: list[dict[str, str]]
) -> None:
    """Without knowledge, a batch is read for those words alone: one that is forgotten is lost."""
    living = engine_of(Knowledge(), [])
    batch = json_batch(rows)
    with TemporaryDirectory() as folder:
        for text in first:
            living.add(sw.parse(text))
        opened = reopened(living, Path(folder))
        for _ in range(2):
            for name in ("a", "b"):
                known = [matcher_of(engine).only_words(string(name)) for engine in (living, opened)]
                assert set(known[0] or ()) == set(known[1] or ())
                assert (known[0] is None) == (known[1] is None)
            assert told_in_batch(opened, batch) == told_in_batch(living, batch)
            for text in second:
                for engine in (living, opened):
                    engine.add(sw.parse(text))


def matcher_of(engine: Engine) -> Layered:
    matcher = engine._dispatch.of_facts
    assert isinstance(matcher, Layered)
    return matcher


def _all_told(engine: Engine, sent: list[Event], batch: pa.RecordBatch) -> list[list[str]]:
    return [*(told(engine, event) for event in sent), *told_in_batch(engine, batch)]


KINDS = {
    "plain": "a = 1 and b = red",
    "number": "a >= 1.5",
    "text": "b suffix 'ed' and b contains 'e'",
    "prefix": "b prefix 'r'",
    "not": "not a = 1",
    "or": "a = 1 or b = green",
    "twice": "a = 1 or a = 1",
    "names": "select ?x, ?y where a = ?x and b = ?y",
    "other names": "select ?v, ?u where b = ?u and a = ?v",
    "turned": "select ?y, ?x where a = ?x and b = ?y and c exists",
    "judged": "select ?x where a = ?x and ?x > 1 or b = ?x and not c = 12",
    "near": "a = 1 and c <= 10 within 0.5",
    "pattern": "(home, a, ?x)",
    "mixed": "select ?x where a = ?x or (?y, b, ?x)",
    "constraint": "select ?x where a = ?x and ?x > 1",
    "exactly": "exactly b = red and exactly a = 1",
    "date": "d >= 2024-03-01",
    "quantity": "l < 5 km",
    "everything": "a exists or not a exists",
    "strict": 'select ?x where (home, "b", ?x) strict',
}
SENT: list[dict[str, Any]] = [
    {"a": 1, "b": "red"},
    {"a": [1, 2], "b": ["green", "red"], "c": 12},
    {"a": 1.5, "c": 11, "d": "2024-03-02", "l": "3000 m"},
    {"b": "bred", "d": "2024-02-29T23:59:59Z", "l": "5 km"},
    {},
]


@pytest.fixture
def all_kinds() -> Engine:
    engine = Engine()
    for id, text in KINDS.items():
        engine.add(sw.parse(text), id=id)
    return engine


def of_all(engine: Engine) -> list[list[str]]:
    return [told(engine, Event.record(row, id="e")) for row in SENT]


def test_every_kind_of_subscription_is_kept(all_kinds: Engine, tmp_path: Path) -> None:
    expected = of_all(all_kinds)
    once = reopened(all_kinds, tmp_path / "one")
    assert of_all(once) == expected
    assert once.statistics().clauses == all_kinds.statistics().clauses
    assert once.statistics().subscriptions == len(KINDS)
    assert told_in_batch(once, json_batch(SENT)) == told_in_batch(all_kinds, json_batch(SENT))
    twice = reopened(once, tmp_path / "two")
    assert of_all(twice) == expected
    assert of_all(once) == expected  # the first one still stands


@pytest.mark.parametrize("id", KINDS)
def test_each_can_be_removed_and_come_again(all_kinds: Engine, tmp_path: Path, id: str) -> None:
    engine = reopened(all_kinds, tmp_path / "index")
    engine.remove(id)
    all_kinds.remove(id)
    assert of_all(engine) == of_all(all_kinds)
    with pytest.raises(sw.SubscriptionError, match="there is no subscription"):
        engine.remove(id)
    again = reopened(engine, tmp_path / "index")
    assert of_all(again) == of_all(all_kinds)
    for one in (again, all_kinds):
        one.add(sw.parse(KINDS[id]), id=id)
    assert of_all(again) == of_all(all_kinds)
    assert of_all(reopened(again, tmp_path / "index")) == of_all(all_kinds)


def test_ids_of_a_folder_are_in_use(all_kinds: Engine, tmp_path: Path) -> None:
    all_kinds.add(sw.parse("a = 7"))
    assert "s1" in all_kinds._subscribers
    engine = reopened(all_kinds, tmp_path / "index")
    for id in (*KINDS, "s1"):
        with pytest.raises(sw.SubscriptionError, match=f"the id '{id}' is in use"):
            engine.add(sw.parse("a = 1"), id=id)
    assert engine.add(sw.parse("a = 8")) == "s2"
    for unknown in ("nobody", "", "plain "):
        with pytest.raises(sw.SubscriptionError, match="there is no subscription"):
            engine.remove(unknown)
        with pytest.raises(sw.SubscriptionError, match="there is no subscription"):
            engine.explain(unknown, Event.record({}))


def test_an_opened_engine_explains(all_kinds: Engine, tmp_path: Path) -> None:
    engine = reopened(all_kinds, tmp_path / "index")
    for id in KINDS:
        for row in SENT:
            event = Event.record(row, id="e")
            assert str(engine.explain(id, event)) == str(all_kinds.explain(id, event))


def test_one_clause_of_many_subscribers_goes_with_the_last(tmp_path: Path) -> None:
    engine = Engine()
    for id in ("one", "two", "three"):
        engine.add(sw.parse("a = 1"), id=id)
    engine = reopened(engine, tmp_path / "index")
    assert engine.statistics().clauses == 1
    event = Event.record({"a": 1})
    for id, left in (("two", ["one", "three"]), ("one", ["three"]), ("three", [])):
        engine.remove(id)
        assert ids(engine.match(event)) == left
        assert engine.statistics().clauses == (1 if left else 0)
    assert engine.statistics().subscriptions == 0
    engine = reopened(engine, tmp_path / "index")
    assert (engine.statistics().clauses, ids(engine.match(event))) == (0, [])


def test_an_empty_engine_is_saved_too(tmp_path: Path) -> None:
    engine = reopened(Engine(), tmp_path / "index")
    assert engine.statistics().subscriptions == 0
    engine.add(sw.parse("a = 1"), id="one")
    assert ids(engine.match(Event.record({"a": 1}))) == ["one"]


def test_ids_and_words_of_any_unicode(tmp_path: Path) -> None:
    engine = Engine()
    texts = ["", "\x00", "ß", "\uffff", "\U0010ffff", "a\u0301", " ", "\ud7ff"]
    for text in texts:
        for name in ("=", "prefix", "suffix", ">="):
            engine.add(sw.parse(f"a {name} {json.dumps(text, ensure_ascii=False)}"))
        engine.add(sw.parse("a = 1"), id=f"{text}!")
    opened = reopened(engine, tmp_path / "index")
    for text in [*texts, "b"]:
        event = Event.record({"a": [text, 1]})
        assert told(opened, event) == told(engine, event)


def test_knowledge_travels(tmp_path: Path) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text(
        "scheme: shop\nsynonyms: {price: [cost]}\nhierarchy: {laptop: computer, mac: laptop}\n"
        "mappings:\n  - {name: vat, inputs: [{p: price}], outputs: {gross: p * 2}}\n"
    )
    engine = Engine(Knowledge.load(path))
    engine.add(sw.parse("product = computer and gross = 10"), id="one")
    engine.add(sw.parse("product = mac within 1"), id="near")
    opened = reopened(engine, tmp_path / "index")
    path.unlink()
    assert opened.knowledge == engine.knowledge
    for record in ({"product": "Mac", "cost": 5}, {"product": "laptop", "price": 6}):
        assert told(opened, Event.record(record)) == told(engine, Event.record(record))
    opened.add(sw.parse("product = gizmo or product = laptop"), id="new")
    assert ids(opened.match(Event.record({"product": "mac", "cost": 5}))) == ["near", "new", "one"]
    assert ids(opened.match(Event.record({"product": "gizmo"}))) == ["new"]


def test_words_that_come_after_opening_are_not_those_that_were_there(tmp_path: Path) -> None:
    """Numbers of words go on where the folder's end."""
    engine = Engine()
    for number in range(50):
        engine.add(sw.parse(f"a = w{number}"), id=f"w{number}")
    for generation in range(3):
        engine = reopened(engine, tmp_path / "index")
        for number in range(50):
            id = f"v{generation}x{number}"
            engine.add(sw.parse(f"a = {id}"), id=id)
            assert ids(engine.match(Event.record({"a": id}))) == [id]
    engine = reopened(engine, tmp_path / "index")
    for id in ("w0", "w49", "v0x0", "v0x49", "v2x0", "v2x49"):
        assert ids(engine.match(Event.record({"a": id}))) == [id]


def test_words_of_every_kind_keep_their_numbers(tmp_path: Path) -> None:
    """Words that are no strings stand apart in the folder, after the numbers of the hierarchy."""
    (tmp_path / "k.yaml").write_text("scheme: s\nhierarchy: {laptop: computer, mac: laptop}\n")
    engine = Engine(Knowledge.load(tmp_path / "k.yaml"))
    words = ["w1", "true", "<http://x.org/q>", "w2", "false", "mac", "w3"]
    for number, word in enumerate(words):
        engine.add(sw.parse(f"a = {word}"), id=word)
        if number % 2:
            engine = reopened(engine, tmp_path / "index")
    for _ in range(2):
        engine = reopened(engine, tmp_path / "index")
        for word in words:
            value = {"true": term_of(True), "false": term_of(False)}.get(word, string(word))
            term = iri(word[1:-1]) if word.startswith("<") else value
            fact = Fact(HOME, string("a"), term)
            event = Event("e", moment("2024-03-01"), (fact,), HOME)
            assert ids(engine.match(event)) == [word]


def test_constants_between_two_doubles_are_kept(tmp_path: Path) -> None:
    """The one event says what the double 0.1 is, to the last digit: that is not 0.1."""
    engine = Engine()
    for text in ("l = 0.1 m", "l > 0.1 m", "l <= 0.1 m", "d > 2024-03-01T00:00:00.1Z"):
        engine.add(sw.parse(text), id=text)
    tenth = "0.1000000000000000055511151231257827021181583404541015625"
    record = {"l": f"{tenth} m", "d": f"2024-03-01T00:00:00.{tenth[2:]}Z"}
    expected = ["d > 2024-03-01T00:00:00.1Z", "l > 0.1 m"]
    for _ in range(3):
        assert ids(engine.match(Event.record(record))) == expected
        engine = reopened(engine, tmp_path / "index")


# Operators are no part of a folder


def test_operators_are_given_again(tmp_path: Path) -> None:
    engine = Engine(operators=OPERATORS)
    engine.add(sw.parse("select ?x where near(?x)"), id="near")
    engine.add(sw.parse("a = 1"), id="plain")
    engine.save(tmp_path / "index")
    with pytest.raises(sw.SensewireError, match="there is no operator 'near'"):
        Engine.open(tmp_path / "index")
    opened = Engine.open(tmp_path / "index", operators=OPERATORS)
    assert told(opened, Event.record({"a": 1})) == told(engine, Event.record({"a": 1}))


# Folders that are none


def test_what_is_no_folder_of_an_index(all_kinds: Engine, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a")
    (tmp_path / "empty").mkdir()
    for name in ("nowhere", "file", "empty"):
        with pytest.raises(sw.IndexFolderError):
            Engine.open(tmp_path / name)
    write_folder(tmp_path / "fox", {}, {}, format_version=FORMAT, kind="fox")
    with pytest.raises(sw.IndexFolderError, match="fox"):
        Engine.open(tmp_path / "fox")
    write_folder(tmp_path / "new", {}, {}, format_version=FORMAT + 1, kind=KIND)
    with pytest.raises(sw.IndexFolderError, match="upgrade"):
        Engine.open(tmp_path / "new")
    write_folder(tmp_path / "old", {}, {}, format_version=FORMAT - 1, kind=KIND)
    with pytest.raises(sw.IndexFolderError, match="save it again"):
        Engine.open(tmp_path / "old")
    write_folder(tmp_path / "bare", {}, {}, format_version=FORMAT, kind=KIND)
    with pytest.raises(sw.IndexFolderError):
        Engine.open(tmp_path / "bare")


def test_a_folder_that_was_cut_off(all_kinds: Engine, tmp_path: Path) -> None:
    all_kinds.save(tmp_path / "index")
    for file in sorted(path for path in (tmp_path / "index").rglob("*") if path.is_file()):
        if file.name == "LOCK":  # which says nothing
            continue
        copy = tmp_path / "copy"
        shutil.copytree(tmp_path / "index", copy)
        cut = copy / file.relative_to(tmp_path / "index")
        cut.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        with pytest.raises(sw.IndexFolderError):
            Engine.open(copy)
        shutil.rmtree(copy)


def test_arrays_that_are_missing(all_kinds: Engine, tmp_path: Path) -> None:
    all_kinds.save(tmp_path / "index")
    folder = opened_folder(tmp_path / "index")
    for name in folder.arrays:
        others: dict[str, Array] = {
            each: np.array(array) for each, array in folder.arrays.items() if each != name
        }
        path = tmp_path / "lacking"
        write_folder(path, others, dict(folder.meta), format_version=FORMAT, kind=KIND)
        with pytest.raises(sw.IndexFolderError):
            Engine.open(path)


def test_other_knowledge_than_the_index_was_made_with(tmp_path: Path) -> None:
    (tmp_path / "shop.yaml").write_text("scheme: shop\nhierarchy: {laptop: computer}\n")
    engine = Engine(Knowledge.load(tmp_path / "shop.yaml"))
    engine.add(sw.parse("a = computer"))
    engine.save(tmp_path / "index")
    Engine().save(tmp_path / "other")
    folder = opened_folder(tmp_path / "index")
    arrays: dict[str, Array] = {name: np.array(array) for name, array in folder.arrays.items()}
    arrays["knowledge"] = np.array(opened_folder(tmp_path / "other").arrays["knowledge"])
    write_folder(tmp_path / "index", arrays, dict(folder.meta), format_version=FORMAT, kind=KIND)
    with pytest.raises(sw.IndexFolderError, match="other knowledge"):
        Engine.open(tmp_path / "index")
    arrays["knowledge"] = np.frombuffer(b"{", np.uint8)
    write_folder(tmp_path / "index", arrays, dict(folder.meta), format_version=FORMAT, kind=KIND)
    with pytest.raises(sw.IndexFolderError, match="its knowledge cannot be read"):
        Engine.open(tmp_path / "index")


@pytest.mark.parametrize("matcher", ["oracle", "counting"])
def test_other_matchers_cannot_be_saved(matcher: str, tmp_path: Path) -> None:
    with pytest.raises(sw.SensewireError, match="cannot be saved"):
        Engine(matcher=matcher).save(tmp_path / "index")


# What was learned


def sample_of(engine: Engine) -> list[tuple[int, str, str]]:
    """The events that an engine remembers, as property and value."""
    matcher = engine._dispatch.matchers[0]
    assert isinstance(matcher, Layered)
    columns = matcher._sample.columns(matcher._values)
    words, properties = matcher._values.words, matcher._values.properties
    values = [
        words[word].term.text if word >= 0 else str(number)
        for word, number in zip(columns.word.tolist(), columns.number.tolist(), strict=True)
    ]
    names = [properties[number].text for number in columns.property.tolist()]
    return list(zip(columns.event.tolist(), names, values, strict=True))


def test_what_no_text_says_is_named(tmp_path: Path) -> None:
    """A subscription that was made by hand."""
    engine = Engine()
    engine.add(sw.parse("a = 1"), id="said")
    without_order = Order(Relation.LESS, language_string("rouge", "fr"))
    engine.add(
        Subscription((Conjunction((Predicate(meaning("a"), without_order),)),)), id="by hand"
    )
    with pytest.raises(sw.SensewireError, match="the subscription 'by hand' cannot be saved: "):
        engine.save(tmp_path / "index")
    engine.remove("by hand")
    engine.save(tmp_path / "index")
    assert Engine.open(tmp_path / "index").ids() == ["said"]


def test_the_sample_of_events_is_kept(tmp_path: Path) -> None:
    engine = Engine()
    engine.add(sw.parse("a = 1 and b = red"), id="one")
    for record in ({"a": 1, "b": "red"}, {"c": 1}, {"b": ["green", True], "a": "x"}):
        engine.match(Event.record(record))
    expected = [
        *((0, "a", "1.0"), (0, "b", "red")),
        *((2, "b", "green"), (2, "b", "true"), (2, "a", "x")),
    ]
    assert sample_of(engine) == expected
    opened = reopened(engine, tmp_path / "index")
    opened.match(Event.record({"b": "green"}))
    assert sample_of(opened) == [*expected, (3, "b", "green")]
    again = reopened(opened, tmp_path / "index")
    assert sample_of(again) == [*expected, (3, "b", "green")]


def test_the_sample_does_not_grow_from_folder_to_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sensewire.match.compiled import sample

    monkeypatch.setattr(sample, "MOST", 8)
    engine = Engine()
    engine.add(sw.parse("a exists"), id="one")
    for _ in range(5):
        for number in range(8):
            engine.match(Event.record({"a": number}))
        engine = reopened(engine, tmp_path / "index")
        assert len(sample_of(engine)) <= 8
        engine = Engine.open(tmp_path / "index")


# Other processes

OTHER = """
import sys
import sensewire as sw
engine = sw.Engine.open(sys.argv[1])
print(*(match.subscription for match in engine.match(sw.Event.record({"a": 7, "b": "w7"}))))
def share():
    inside, found = False, {}
    for line in open("/proc/self/smaps"):
        if "arrays.bin" in line:
            inside = True
        elif inside and line.startswith(("Rss:", "Private_Dirty:")):
            name, size = line.split()[:2]
            found[name] = found.get(name, 0) + int(size)
        elif "-" in line.split()[0]:
            inside = False
    return found
found = share()
print(found["Rss:"] > 0, found["Private_Dirty:"])
"""


def test_another_process_opens_it_too(tmp_path: Path) -> None:
    """Its index is the file, mapped: nothing of it is copied by reading it."""
    engine = Engine()
    for number in range(2_000):
        engine.add(sw.parse(f"a = {number} and b = w{number}"), id=f"s{number}")
    engine.save(tmp_path / "index")
    here = Engine.open(tmp_path / "index")
    done = subprocess.run(
        [sys.executable, "-c", OTHER, str(tmp_path / "index")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["s7", "True", "0"]
    assert ids(here.match(Event.record({"a": 7, "b": "w7"}))) == ["s7"]
    here.remove("s7")
    here.save(tmp_path / "index")
    assert ids(Engine.open(tmp_path / "index").match(Event.record({"a": 7, "b": "w7"}))) == []


def test_strings_that_nothing_asked_for_stay_such_in_the_sample(tmp_path: Path) -> None:
    """Found by the law: -2 is no place in the list of one word."""
    engine = sw.Engine()
    for number in range(1_100):  # enough for the planner to look at the sample
        engine.add(sw.parse(f"a = w{number}"), id=str(number))
    lines = pa.array([b'{"a": "w5"}', b'{"a": "other"}'])
    engine.match_batch(pa.RecordBatch.from_arrays([lines], ["json"]))
    engine.save(tmp_path / "index")
    opened = sw.Engine.open(tmp_path / "index")
    opened.add(sw.parse("a = w5"), id="new")
    opened.save(tmp_path / "index")
    again = sw.Engine.open(tmp_path / "index")
    assert sorted(m.subscription for m in again.match(sw.Event.record({"a": "w5"}))) == ["5", "new"]
