"""The file of statistics: what was written is read, and what is no such file is told."""

from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.model.distribution import distributions
from sensewire.model.errors import SensewireError
from sensewire.model.event import Event
from sensewire.model.learned import (
    UNTIMED,
    Learned,
    is_learned,
    learned_from,
    learned_to,
    load_learned,
    write_learned,
)
from sensewire.testing.events import events
from sensewire.testing.terms import terms

TIME = datetime(2024, 3, 1, 10, tzinfo=UTC)


def learned_of(*sample: Event) -> Learned:
    told = [[(fact.property, fact.object) for fact in event.facts] for event in sample]
    return Learned(1_000, 3, distributions(told, 1_000) if told else (), tuple(sample))


LEARNED = learned_of(
    Event.record({"price": [5, 7.5], "seller": {"city": "Zürich\n"}}, id="e1", time=TIME),
    Event.rdf('<http://x.org/a> <http://x.org/p> "5"@de .', id="e2", time=UNTIMED),
)


@given(event=st.lists(terms(), min_size=1).flatmap(lambda some: events(["a", "b"], some)))
def test_what_was_written_is_read(event: Event) -> None:
    written = learned_to(learned_of(event))
    read = learned_from(written, "it", untimed=UNTIMED)
    assert learned_to(read) == written
    (found,) = read.sample
    assert (found.id, found.facts, found.home) == (event.id, event.facts, event.home)
    assert read.attributes == learned_of(event).attributes


def test_an_event_without_a_time_has_that_of_reading(tmp_path: Path) -> None:
    write_learned(tmp_path / "stats.json", LEARNED)
    timed, untimed = load_learned(tmp_path / "stats.json").sample
    assert timed.time == TIME
    assert (datetime.now(UTC) - untimed.time).total_seconds() < 60
    assert is_learned(tmp_path / "stats.json")
    assert [path.name for path in tmp_path.iterdir()] == ["stats.json"]


def test_the_file_is_json_that_others_read() -> None:
    read = orjson.loads(learned_to(LEARNED))
    assert (read["kind"], read["version"], read["events"]) == ("sensewire statistics", 1, 1_000)
    assert {each["name"]: each["iri"] for each in read["attributes"]} == {
        "price": False,
        "seller.city": False,
        "http://x.org/p": True,
    }


def changed(**fields: object) -> bytes:
    return orjson.dumps(orjson.loads(learned_to(LEARNED)) | fields)


WHOLE = learned_to(LEARNED)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "stats.json: no statistics; expected a file that sensewire learn wrote"),
        (b"[1]", "no statistics"),
        (b'{"kind": "other"}', "no statistics"),
        (b"\xff\xfe", "no statistics"),
        (WHOLE[:-20], "the statistics are cut off or damaged"),
        (WHOLE[:100], "the statistics are cut off or damaged"),
        (changed(version=2), "statistics of version 2; this Sensewire reads version 1: learn them"),
        (changed(events="many"), "the statistics are damaged"),
        (changed(attributes=[{}]), "the statistics are damaged"),
        (changed(sample={}), "the statistics are damaged"),
        (changed(sample={"forms": [], "terms": [[0, "a"]], "events": []}), "damaged"),
        (changed(sample={"forms": [["string", None, None]], "terms": [[-1, "a"]], "events": []}),
         "damaged"),
        (changed(sample={"forms": [["string", None, None]], "terms": [[0, 5]], "events": []}),
         "damaged"),
        (changed(sample={"forms": [["number", "http://www.w3.org/2001/XMLSchema#integer", None]],
                         "terms": [[0, "x"]], "events": []}), "'x' is no number"),
        (changed(sample={"forms": [], "terms": [], "events": [["e", None, None, [0]]]}), "damaged"),
        (changed(sample={"forms": [], "terms": [], "events": [["e", "noon", None, []]]}),
         "the time 'noon' is no date"),
    ],
)  # fmt: skip
def test_what_is_no_such_file(data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "stats.json").write_bytes(data)
    with pytest.raises(SensewireError) as raised:
        load_learned(tmp_path / "stats.json")
    assert message in str(raised.value)
    assert "stats.json: " in str(raised.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SensewireError, match=r"none\.json: No such file or directory; expected"):
        load_learned(tmp_path / "none.json")


def test_a_write_that_fails_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "stats.json"
    write_learned(place, LEARNED)

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_learned(place, learned_of())
    assert place.read_bytes() == WHOLE
    assert [path.name for path in tmp_path.iterdir()] == ["stats.json"]
