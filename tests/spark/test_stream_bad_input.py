"""What is no event, no place for a stream or no store: a stream says so, and the rest goes on."""

import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc
from sqlalchemy import text

from sensewire.cli.main import main
from sensewire.events.kinds import Kind
from sensewire.model.errors import SensewireError
from sensewire.spark import failpoints
from sensewire.spark.checkpoint import checkpoint_at
from sensewire.spark.stream_places import FromLog, ToFiles, ToTable
from sensewire.store.database import Store, open_store
from sensewire.store.dead import dead_letters, retry
from tests.spark import streams
from tests.spark.streams import (
    ask,
    ask_all,
    check,
    events,
    publish,
    publish_document,
    publish_lines,
    streamed,
    told,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def planted(spark: "SparkSession", what: str) -> Iterator[None]:
    """Let workers fail at a fail-point."""
    environment = spark.sparkContext.environment
    environment[failpoints.VARIABLE] = what
    try:
        yield
    finally:
        del environment[failpoints.VARIABLE]


@pytest.mark.long
def test_an_event_that_kills_the_worker_is_a_dead_letter_after_three_tries(
    spark: "SparkSession", filed: Store, tmp_path: Path
) -> None:
    ask_all(filed)
    poison = {3, 4, 250, 599}
    made = events(0, 600)
    for number in poison:
        made[number]["what"] = "POISON"
    publish(filed, made)
    journal = tmp_path / "journal"
    with planted(spark, f"match:POISON:{journal}"):
        counted = streamed(spark, filed, tmp_path / "stream")
        publish(filed, events(600, 50))
        streamed(spark, filed, tmp_path / "stream")
    assert (counted.events, counted.rejected) == (600 - len(poison), len(poison))
    letters = dead_letters(filed)
    assert {each.place for each in letters} == {f"log:{number + 1}" for number in poison}
    assert all("died of SIGKILL" in each.reason for each in letters)
    assert {json.loads(each.raw)["id"] for each in letters} == {f"e{number}" for number in poison}
    assert max(Counter(journal.read_bytes().splitlines()).values()) <= 3
    check(filed, without=[f"e{number}" for number in poison])
    # Whatever killed the worker is mended: they are events as any other.
    retry(filed, [], datetime.now(UTC))
    query = letters[0].query
    streamed(spark, filed, tmp_path / "stream")
    assert dead_letters(filed) == []
    assert told(filed) == streams.expected(filed, query=query)


@dataclass(frozen=True, slots=True)
class Poison:
    """What is no event, between events of its format; how often one is rejected is counted."""

    kind: Kind
    name: str
    good: bytes
    bad: bytes
    facts: bytes | None = None
    reason: str = ""


def _parquet(rows: list[dict[str, object]]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out)
    return out.getvalue()


def _arrow(rows: list[dict[str, object]]) -> bytes:
    out = io.BytesIO()
    table = pa.Table.from_pylist(rows)
    with ipc.new_file(out, table.schema) as file:
        file.write_table(table)
    return out.getvalue()


def _cloud_event(**more: object) -> bytes:
    head = {"specversion": "1.0", "type": "t", "data": {"what": "bread", "price": 3}}
    return json.dumps({**head, **more}).encode()


GRAPH = b'<urn:s> <urn:what> "bread" <urn:g%d> .'
TRIPLE = b'<urn:s> <urn:what> "bread" .'
XML = b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="urn:">%s</rdf:RDF>'
XML_FACT = b'<rdf:Description rdf:about="urn:s"><what>bread</what></rdf:Description>'
DTD = b"<!DOCTYPE rss><rss><item><what>bread</what></item></rss>"
ROWS: list[dict[str, object]] = [{"id": "r1", "what": "bread"}, {"id": "r2", "what": "milk"}]
MORE: list[dict[str, object]] = [{"id": "a1", "what": "bread"}, {"id": "a2", "what": "milk"}]

POISONS = {
    "json": Poison(Kind.LINES, "", b'{"id": "j1", "what": "bread"}', b'{"id": "j2", "what": '),
    "no record": Poison(Kind.LINES, "", b'{"id": "n1", "what": "bread"}', b"5"),
    "no text": Poison(Kind.LINES, "", b'{"id": "u1", "what": "bread"}', b'{"id": "\xff\xfe"}'),
    "cloudevent": Poison(
        Kind.LINES, "", _cloud_event(id="c1", source="/s"), _cloud_event(id="c2")
    ),
    "too long": Poison(
        Kind.LINES, "", b'{"id": "l1", "what": "bread"}',
        b'{"id": "l2", "what": "bread", "fill": "%s"}' % (b"x" * 5_000), reason="longer than",
    ),
    "nq": Poison(Kind.NQUADS, "e.nq", GRAPH % 1, b"<urn:s> oops <urn:g2> ."),
    "trig": Poison(Kind.TRIG, "e.trig", b"<urn:g3> { %s }" % TRIPLE, b"<urn:g4> { oops }"),
    "ttl": Poison(Kind.DOCUMENT, "e.ttl", TRIPLE, b"<urn:s>\n oops ."),
    "rdf": Poison(Kind.DOCUMENT, "e.rdf", XML % XML_FACT, XML % b"<oops>"),
    "jsonld": Poison(
        Kind.DOCUMENT, "e.jsonld", b'{"@id": "urn:s", "urn:what": "bread"}', b'{"@id": [5}'
    ),
    "parquet": Poison(Kind.PARQUET, "e.parquet", _parquet(ROWS), _parquet(ROWS)[:-20]),
    "arrow": Poison(Kind.ARROW, "e.arrow", _arrow(MORE), _arrow(MORE)[:200]),
    "csv": Poison(Kind.CSV, "e.csv", b"id,what\nr3,bread", b"id,what\nr4"),
    "tsv": Poison(Kind.CSV, "e.tsv", b"id\twhat\nr5\tbread", b"id\twhat\nr6,bread"),
    "xml": Poison(Kind.XML, "e.xml", b"<e><what>bread</what></e>", b"<e><what>bread</e>"),
    "feed": Poison(Kind.FEED, "e.rss", b"<rss><item><what>bread</what></item></rss>", DTD),
    "payload": Poison(Kind.PAYLOAD, "e.txt", b"a text", b"a text", b"no facts"),
}  # fmt: skip


def _publish_good(store: Store, each: Poison) -> None:
    if each.kind is Kind.LINES:
        publish_lines(store, each.good)
        return
    facts = b'{"what": "bread"}' if each.kind is Kind.PAYLOAD else None
    publish_document(store, each.kind, each.good, each.name, facts)


def _publish_bad(store: Store, each: Poison) -> None:
    if each.kind is Kind.LINES:
        publish_lines(store, each.bad)
        return
    publish_document(store, each.kind, each.bad, each.name, each.facts)


def test_what_is_no_event_in_any_format_is_a_dead_letter_and_its_neighbours_are_matched(
    spark: "SparkSession", store: Store, tmp_path: Path
) -> None:
    ask(store, {"bread": "what = bread", "all": "everything"})
    for name, each in POISONS.items():
        _publish_good(store, each)
        _publish_bad(store, each)
        publish(store, [{"id": f"after {name}", "what": "bread"}])
    counted = streamed(spark, store, tmp_path / "stream", longest=2_000)
    letters = sorted(dead_letters(store), key=lambda each: int(re.findall(r"\d+", each.place)[0]))
    assert counted.rejected == len(letters) == len(POISONS)
    for number, (letter, each) in enumerate(zip(letters, POISONS.values(), strict=True)):
        place = 3 * number + 2
        assert letter.place.startswith((f"log:{place}", f"log/{place}/")), letter
        assert each.reason in letter.reason
        assert letter.reason
        assert each.bad.startswith(letter.raw.rstrip(b"\n"))
        assert letter.raw
        assert letter.facts == each.facts
    found = told(store)
    assert found == streams.expected(store, longest=2_000)
    assert len({event for _, _, event in found}) == 2 * len(POISONS) + 2


@pytest.mark.parametrize(
    "store", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)], indirect=True
)
def test_a_dead_letter_is_matched_once_what_was_wrong_is_mended(
    spark: "SparkSession", store: Store, tmp_path: Path
) -> None:
    ask(store, {"bread": "what = bread"})
    fill = "x" * 100_000  # more than a dead letter keeps
    publish(store, [{"id": "long", "what": "bread", "fill": fill}, {"id": "e", "what": "bread"}])
    turtle = TRIPLE + b"\n# " + fill.encode()
    publish_document(store, Kind.DOCUMENT, turtle, "e.ttl")
    streamed(spark, store, tmp_path / "stream", longest=2_000)
    letters = dead_letters(store)
    assert [each.place for each in letters] == ["log:1", "log/3/e.ttl"]
    assert {event for _, _, event in told(store)} == {"e"}
    assert retry(store, [], datetime.now(UTC)) == 2
    counted = streamed(spark, store, tmp_path / "stream")
    assert (counted.events, counted.rejected) == (2, 0)
    assert {event for _, _, event in told(store)} == {"e", "long", "log/5/e.ttl"}


def test_an_event_with_a_character_that_a_store_does_not_have_does_not_end_the_stream(
    spark: "SparkSession", store: Store, tmp_path: Path
) -> None:
    ask(store, {"all": "everything", "names": "select ?w where what = ?w"})
    publish(store, [{"id": "a\0b", "what": "c\0d"}, {"id": "e", "what": "bread"}])
    streamed(spark, store, tmp_path / "stream")
    assert len(told(store)) == 4
    assert {event for id, _, event in told(store) if id == "all"} >= {"e"}


def failed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """What a command complains of that ends with exit code 2."""
    assert main(list(map(str, arguments))) == 2
    said = capsys.readouterr().err
    assert said.startswith("sensewire: ")
    assert "Traceback" not in said
    return said


def test_the_checkpoint_of_another_stream_is_refused(
    filed: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "stream"
    begun_once = checkpoint_at(folder, filed, FromLog(), ToTable())
    begun_once.spark.mkdir()
    (begun_once.spark / "metadata").write_text("{}")  # as Spark leaves it
    other = open_store(tmp_path / "other.db")
    other.close()
    said = failed(capsys, "run", "--store", tmp_path / "other.db", "--checkpoint", folder)
    assert f"--checkpoint {folder} belongs to another stream: its store is" in said
    (tmp_path / "in").mkdir()
    source = f"folder:{tmp_path / 'in'}"
    said = failed(
        capsys, "pipeline", "--store", filed.url, "--checkpoint", folder, "--source", source
    )
    assert "belongs to another stream: its source is" in said
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_bytes(b"a")
    said = failed(capsys, "run", "--store", filed.url, "--checkpoint", tmp_path / "photos")
    assert "holds other things" in said


def test_a_store_of_a_newer_program_is_refused_by_every_command(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with store.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    at = ("--store", store.url)
    for command in (
        ("run", "--checkpoint", tmp_path / "stream", *at),
        ("publish", "--event", "{}", *at),
        ("subscribe", "a", "price < 1", *at),
        ("dead", "list", *at),
        ("notifications", *at),
    ):
        said = failed(capsys, *command)
        assert "was written by a newer Sensewire" in said
        assert "9999" in said


def test_a_sink_of_another_stream_is_refused(
    spark: "SparkSession", filed: Store, tmp_path: Path
) -> None:
    out = ToFiles("parquet", str(tmp_path / "out"))
    streamed(spark, filed, tmp_path / "stream", target=out)
    with pytest.raises(SensewireError, match="belongs to another stream"):
        streamed(spark, filed, tmp_path / "other", target=out)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a.txt").write_text("a")
    with pytest.raises(SensewireError, match="holds other files already"):
        streamed(
            spark, filed, tmp_path / "third", target=ToFiles("parquet", str(tmp_path / "full"))
        )


def test_a_cluster_with_a_store_that_is_a_file_is_refused_before_spark_starts(
    filed: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ("run", "--store", filed.url, "--checkpoint", tmp_path / "stream")
    said = failed(capsys, *run, "--master", "spark://nowhere:7077")
    assert "is a file of this machine, which the workers of spark://nowhere:7077" in said
    assert "right would be postgresql://" in said
