"""The batch job on Spark: the same answers however files are cut, and bad input of every kind."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from sensewire.engine import Engine
from sensewire.events.decode import decode
from sensewire.events.decoding import Decoded, Decoding
from sensewire.events.files import Slice, listing
from sensewire.language.parse import parse
from sensewire.model.errors import SensewireError
from sensewire.spark.index import Shipped
from sensewire.spark.job import MatchJob, MatchSummary, run
from sensewire.spark.progress import Progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOW = datetime(2024, 3, 1, 12, tzinfo=UTC)
Run = Callable[..., MatchSummary]


def path(place: Path | str | None) -> Path:
    """A place of a job that is a path."""
    assert isinstance(place, Path)
    return place


def lines(*items: Any) -> bytes:
    """JSON lines; what is bytes stands as it is."""
    parts = [
        item if isinstance(item, bytes) else json.dumps(item, ensure_ascii=False).encode()
        for item in items
    ]
    return b"".join(part + b"\n" for part in parts)


@pytest.fixture
def job(tmp_path: Path) -> MatchJob:
    return MatchJob(
        subscriptions=tmp_path / "s.jsonl",
        events=(tmp_path / "e.jsonl",),
        out=tmp_path / "out",
        now=NOW,
        partitions=2,
    )


@pytest.fixture
def matching(spark: "SparkSession", job: MatchJob) -> Run:
    """Run the job over the bytes of subscriptions and events, with its options changed."""

    def matching(subscriptions: bytes, content: bytes, **options: Any) -> MatchSummary:
        path(job.subscriptions).write_bytes(subscriptions)
        path(job.events[0]).write_bytes(content)
        return run(replace(job, **options), lambda: spark)

    return matching


def table(folder: Path) -> list[dict[str, Any]]:
    rows = pq.read_table(folder).to_pylist()
    return sorted(rows, key=lambda row: json.dumps(row, default=str))


def json_lines(folder: Path) -> list[dict[str, Any]]:
    texts = [path.read_text(encoding="utf-8") for path in folder.glob("*.jsonl")]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def reasons(out: Path) -> dict[str, str]:
    return {Path(row["place"]).name: row["reason"] for row in table(out / "_rejected")}


SUBSCRIPTIONS = lines(
    {"id": "laptops", "text": "product = laptop and price <= 1600"},
    {"id": "prices", "text": "select ?p where price = ?p and ?p > 10"},
    {"id": "zürich", "text": "city prefix 'Zü' and not closed = true"},
    {"id": "near", "text": "price <= 100 within 0.5"},
)


def many_events() -> bytes:
    """Lines of many lengths, with characters of many bytes, bad lines and empty lines."""
    items: list[Any] = []
    for number in range(60):
        match number % 7:
            case 0:
                items.append({"product": "laptop", "price": number * 40, "fill": "日本😀" * number})
            case 1:
                items.append({"city": "Zürich", "closed": number % 2 == 0, "id": f"z{number}"})
            case 2:
                items.append(b"")
            case 3:
                items.append(f"no JSON, line {number + 1} é".encode())
            case 4:
                items.append({"price": [5, number], "id": f"p{number}"})
            case 5:
                items.append(b'{"price": 20, "city": "Z\xc3\xbcg"}\r')
            case _:
                items.append({"nothing": "to see"})
    return lines(*items)[:-1]


def test_the_answers_do_not_depend_on_how_the_files_are_cut(matching: Run, job: MatchJob) -> None:
    events = many_events()
    answers = []
    for partitions in (1, 2, 7):
        out = path(job.out).with_name(f"out{partitions}")
        summary = matching(SUBSCRIPTIONS, events, partitions=partitions, out=out)
        found = [table(out / name) for name in ("", "_rejected", "_failed")]
        assert summary == MatchSummary(42, len(found[0]), len(found[1]), 0)
        answers.append(found)
    assert all(answer == answers[0] for answer in answers)
    assert answers[0][0] == expected(job, events)
    bad = [number for number, line in enumerate(events.split(b"\n"), start=1) if b"no JSON" in line]
    assert [row["place"] for row in answers[0][1]] == sorted(
        f"{path(job.events[0])}:{number}" for number in bad
    )
    assert all(row["raw"].decode().startswith("no JSON, line") for row in answers[0][1])


def expected(job: MatchJob, events: bytes) -> list[dict[str, Any]]:
    """What the engine says, asked event by event in this process."""
    engine = Engine()
    for line in SUBSCRIPTIONS.splitlines():
        stated = json.loads(line)
        engine.add(parse(stated["text"]), id=stated["id"])
    (file,) = listing(job.events).files
    rows = [
        {
            "event": outcome.event.id,
            "subscription": match.subscription,
            "rows": [[(name, str(term)) for name, term in row.items()] for row in match.rows]
            if match.rows != ({},)
            else None,
            "distance": match.distance,
        }
        for outcome in decode(Slice(file, 0, len(events)), Decoding(now=NOW))
        if isinstance(outcome, Decoded)
        for match in engine.match(outcome.event)
    ]
    assert {row["subscription"] for row in rows} == {"laptops", "prices", "zürich", "near"}
    return sorted(rows, key=lambda row: json.dumps(row, default=str))


def test_what_a_run_writes(matching: Run, job: MatchJob) -> None:
    summary = matching(
        lines(
            {"id": "p", "text": "select ?p where price = ?p"}, {"id": "all", "text": "everything"}
        ),
        lines({"id": "e1", "price": 5}),
    )
    assert str(summary) == "1 events, 2 matches, 0 rejected, 0 failed"
    assert table(path(job.out)) == [
        {"event": "e1", "subscription": "all", "rows": None, "distance": 0.0},
        {
            "event": "e1",
            "subscription": "p",
            "rows": [[("p", '"5"^^<http://www.w3.org/2001/XMLSchema#integer>')]],
            "distance": 0.0,
        },
    ]
    for name, columns in (
        ("_rejected", "place reason raw"),
        ("_failed", "event subscription reason"),
    ):
        assert list((path(job.out) / name).glob("*.parquet"))
        assert pq.read_table(path(job.out) / name).column_names == columns.split()
    record = json.loads((path(job.out) / "_run.json").read_text())
    assert record["now"] == "2024-03-01T12:00:00+00:00"
    assert (record["events"], record["matches"]) == (1, 2)
    assert record["options"]["partitions"] == 2
    assert record["versions"]["pyspark"]
    assert not [path for path in path(job.out).parent.iterdir() if path.name.startswith(".")]


def test_json_lines_can_be_written(matching: Run, job: MatchJob) -> None:
    matching(SUBSCRIPTIONS, lines({"id": "e", "price": 20}, b"x"), format="jsonl", partitions=1)
    assert sorted(json_lines(path(job.out)), key=lambda row: str(row["subscription"])) == [
        {"event": "e", "subscription": "near", "rows": None, "distance": 0.0},
        {
            "event": "e",
            "subscription": "prices",
            "rows": [{"p": '"20"^^<http://www.w3.org/2001/XMLSchema#integer>'}],
            "distance": 0.0,
        },
    ]
    (bad,) = json_lines(path(job.out) / "_rejected")
    assert bad["place"].endswith("e.jsonl:2")


def test_no_events_and_no_matches_still_write_files(
    matching: Run, job: MatchJob, tmp_path: Path
) -> None:
    empty = tmp_path / "folder"
    empty.mkdir()
    for out, options in (("a", {}), ("b", {"events": (empty,)})):
        summary = matching(SUBSCRIPTIONS, b"", out=tmp_path / out, **options)
        assert summary == MatchSummary(0, 0, 0, 0)
        assert list((tmp_path / out).glob("*.parquet"))
        assert table(tmp_path / out) == []


def test_bad_subscriptions_are_rejected_and_the_rest_stands(matching: Run, job: MatchJob) -> None:
    subscriptions = lines(
        {"id": "good", "text": "price > 1"},
        {"id": "cut", "text": "price <="},
        {"id": "unbound", "text": "price > 1 and ?x > 80"},
        {"id": "past", "text": "price > 1", "expires": "2024-03-01T12:00:00Z"},
    )
    summary = matching(subscriptions, lines({"id": "e", "price": 5}))
    assert summary == MatchSummary(1, 1, 2, 0)
    assert {place: reason[:8] for place, reason in reasons(path(job.out)).items()} == {
        "s.jsonl:2": "price <=",
        "s.jsonl:3": "price > ",
    }
    record = json.loads((path(job.out) / "_run.json").read_text())
    assert record["subscriptions"] == {"live": 1, "expired": 1, "rejected": 2}


def test_an_output_folder_is_replaced_only_on_demand(matching: Run, job: MatchJob) -> None:
    events = lines({"id": "e", "price": 20})
    matching(SUBSCRIPTIONS, events)
    with pytest.raises(SensewireError, match="exists; name another folder, or say --overwrite"):
        matching(SUBSCRIPTIONS, events)
    assert len(table(path(job.out))) == 2
    matching(SUBSCRIPTIONS, b"", overwrite=True)
    assert table(path(job.out)) == []


def test_bad_events_of_every_kind_lose_nothing_else(
    matching: Run, job: MatchJob, tmp_path: Path
) -> None:
    asked: list[str] = []

    class Recorder(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

    server = HTTPServer(("127.0.0.1", 0), Recorder)
    thread = Thread(target=server.serve_forever)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}/context.jsonld"
    folder = tmp_path / "items"
    folder.mkdir()
    files = {
        "good.ttl": b'<http://x/a> <http://x/price> "5" .',
        "broken.ttl": b'<http://x/a> <http://x/price> "5" .\n<http://x/a> oops .',
        "dtd.rdf": f'<!DOCTYPE r SYSTEM "{address}"><r/>'.encode(),
        "remote.jsonld": json.dumps({"@context": address, "price": 5}).encode(),
        "packed.jsonl.gz": b"\x1f\x8b",
        "table.xls": b"a,b",
        "rows.csv": b"id,price\nrow,5\nrow 2\n",
        "dtd.xml": f'<!DOCTYPE r [<!ENTITY e SYSTEM "{address}">]><r>&e;</r>'.encode(),
        "dtd.rss": f'<!DOCTYPE rss SYSTEM "{address}"><rss/>'.encode(),
        "item.xml": b'<rss xmlns:s="urn:"><item><guid>item</guid><s:price>5</s:price></item></rss>',
        "quads.nq": b'<http://x/a> <http://x/price> "5" <http://x/g> .\n',
        "lines.jsonl": lines(
            b'{"price": "' + b"x" * 10_000_000 + b'"}',
            b'{"price":' * 10_000 + b"5" + b"}" * 10_000,
            b'{"price": "\xff"}',
            {"price": 5, "id": "last"},
        ),
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    try:
        summary = matching(
            lines({"id": "all", "text": "price = 5"}), b"", events=(folder,), partitions=7
        )
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert asked == []
    events = ["good.ttl", "http://x/g", "item", "last", "row"]
    assert [row["event"] for row in table(path(job.out))] == events
    assert summary == MatchSummary(5, 5, 11, 0)
    found = reasons(path(job.out))
    for place, part in {
        "broken.ttl:2": "broken Turtle",
        "dtd.rdf:1": "DTD",
        "remote.jsonld:1": "remote context",
        "packed.jsonl.gz:1": "the .gz file is truncated",
        "table.xls": "expected .jsonl",
        "rows.csv:3": "a row of 1 cells; expected 2",
        "dtd.xml:1": "DTD",
        "dtd.rss:1": "DTD",
        "lines.jsonl:1": "longer than 8,388,608 bytes",
        "lines.jsonl:2": "nested deeper than 1,024 levels",
        "lines.jsonl:3": "not UTF-8",
    }.items():
        assert part in found[place], place
    (long,) = (
        r for r in table(path(job.out) / "_rejected") if r["place"].endswith("lines.jsonl:1")
    )
    assert len(long["raw"]) == 65_536


def test_options_reach_the_events(matching: Run, job: MatchJob) -> None:
    events = lines({"id": "a", "sku": "b", "seen": "2024-02-01"}, {"seen": "never", "price": 1})
    matching(lines({"id": "all", "text": "everything"}), events, id_field="sku", time_field="seen")
    assert [row["event"] for row in table(path(job.out))] == ["b"]
    assert "'never' is no date" in reasons(path(job.out))["e.jsonl:2"]
    matching(
        lines({"id": "all", "text": "everything"}), events, id_field=None, max_event_bytes=32,
        overwrite=True,
    )  # fmt: skip
    assert [Path(row["event"]).name for row in table(path(job.out))] == ["e.jsonl:2"]
    assert "longer than 32 bytes" in reasons(path(job.out))["e.jsonl:1"]


def test_a_run_that_fails_leaves_the_folder_as_it_was(
    matching: Run, job: MatchJob, tmp_path: Path
) -> None:
    matching(SUBSCRIPTIONS, lines({"id": "e", "price": 20}))
    before = table(path(job.out))

    def broken() -> "SparkSession":
        raise SensewireError("no Spark today")

    with pytest.raises(SensewireError, match="no Spark today"):
        run(replace(job, overwrite=True), broken)
    assert table(path(job.out)) == before
    assert {path.name for path in tmp_path.iterdir()} == {"s.jsonl", "e.jsonl", "out"}


def test_a_worker_that_fails_is_one_line(
    matching: Run, job: MatchJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "sensewire.spark.job.shipped", lambda *_, **__: Shipped("nowhere", None, "v000001-x")
    )
    with pytest.raises(SensewireError, match=r"job failed: .*the index nowhere is not on this"):
        matching(SUBSCRIPTIONS, lines({"id": "e"}))
    assert not path(job.out).exists()


def test_paths_may_be_relative_and_of_any_characters(
    matching: Run, job: MatchJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / "aus gabe 100% [é]"
    odd.mkdir()
    (odd / "e%20 1.jsonl").write_bytes(lines({"price": 20}, b"x"))
    monkeypatch.chdir(odd)
    summary = matching(
        SUBSCRIPTIONS, b"", events=(Path("e%20 1.jsonl"),), out=Path("new/out put"), partitions=7
    )
    assert summary.matches == 2
    assert table(Path("new/out put"))[0]["event"] == "e%20 1.jsonl:1"
    assert reasons(Path("new/out put").absolute()).keys() == {"e%20 1.jsonl:2"}


def test_input_that_is_not_there_is_said_before_spark_starts(job: MatchJob) -> None:
    def never() -> "SparkSession":
        raise AssertionError

    path(job.subscriptions).write_bytes(SUBSCRIPTIONS)
    with pytest.raises(SensewireError, match=r"e\.jsonl: No such file or directory"):
        run(job, never)
    path(job.events[0]).write_bytes(b"")
    path(job.subscriptions).unlink()
    with pytest.raises(
        SensewireError, match=r"s\.jsonl: No such file .* expected a file of subscr"
    ):
        run(job, never)
    for change, part in (
        ({"format": "csv"}, "no format 'csv'; expected one of parquet, jsonl, delta"),
        ({"partitions": 0}, "--partitions 0: expected a whole number above 0"),
        ({"max_event_bytes": -1}, "--max-event-bytes -1"),
    ):
        with pytest.raises(SensewireError, match=part):
            run(replace(job, **change), never)
    assert [path.name for path in path(job.out).parent.iterdir()] == ["e.jsonl"]


def test_progress_is_reported(spark: "SparkSession", job: MatchJob) -> None:
    path(job.subscriptions).write_bytes(SUBSCRIPTIONS)
    path(job.events[0]).write_bytes(lines(*({"price": 20, "n": n} for n in range(20_000))))
    seen: list[Progress] = []
    run(job, lambda: spark, seen.append)
    assert all(0 <= each.share <= 1 for each in seen)
    assert [each.events for each in seen] == sorted(each.events for each in seen)
    last = seen[-1]
    assert (last.share, last.events, last.matches, last.rejected) == (1.0, 20_000, 40_000, 0)
