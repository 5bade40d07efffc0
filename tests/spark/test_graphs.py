"""Graphs on Spark: what patterns say of N-Quads and TriG is the same in columns, in shards, again.

What is expected is what an engine says in this process, event by event.
"""

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sensewire.events.kinds import Kind
from sensewire.knowledge.knowledge import Knowledge
from sensewire.spark import learn as learn_job
from sensewire.spark import replay
from sensewire.spark.gauges import Gauges
from sensewire.spark.job import MatchJob, run
from sensewire.spark.learn import LearnJob
from sensewire.spark.replay import ReplayJob
from sensewire.spark.standing import bytes_of, standing_in
from sensewire.spark.stream import StreamJob, streaming
from sensewire.spark.stream_places import FromLog, ToTable
from sensewire.store.database import Store
from sensewire.store.knowing import know
from sensewire.store.log import Entry, append
from sensewire.store.notifying import notifications
from sensewire.store.subscribing import Judge, subscribe
from tests.spark.test_same_answers import counts_in, expected, tables_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOW = datetime(2024, 3, 1, 12, tzinfo=UTC)
EVENTS = 120
KNOWLEDGE = {
    "cats.yaml": "hierarchy: {jaguar: cat, cat: animal}\n",
    "cars.yaml": "hierarchy: {jaguar: car}\nproperties: {drives: uses}\n",
}
SUBSCRIPTIONS = {
    **{f"tree {n}": f"(?x, near, ?y) and (?y, size, ?z) and ?z > {n}" for n in range(40)},
    **{f"pair {n}": f"(<http://x/{n}>, near, ?y) and (?y, uses, ?z) injective" for n in range(20)},
    "rows": "select ?x, ?z where (?x, near, ?y) and (?y, uses, ?z)",
    "animals": "(?x, type, animal) and not (?x, near, ?y)",
    "large": "(?x, size, ?n) and (?y, size, ?m) and ?n + ?m > 70",
    "meant": "(?x, sees, cat)",
    "exactly": "(?x, exactly <http://x/near>, ?y) and (?y, exactly <http://x/drives>, ?z) strict",
    "near it": "(home, near, ?x) and size <= 20 within 10",
    "record": "size > 30",
    "all": "everything",
}


def statements(number: int) -> list[str]:
    """The facts of an event: at home a blank node, an IRI, or the graph itself."""
    home = ("_:a", f"<http://x/{number}>", f"<urn:e{number}>")[number % 3]
    size = f'"{number % 50}"^^<http://www.w3.org/2001/XMLSchema#integer>'
    made = [f"{home} <http://x/near> _:b", f"_:b <http://x/size> {size}"]
    made += [f"{home} <http://x/size> {size}", f'{home} <http://x/name> "nobody asks"']
    match number % 4:
        case 0:
            made.append(f"_:b <http://x/drives> <http://x/{number % 20}>")
        case 1:
            made.append(f'{home} <http://x/sees> "{"jaguar" if number % 8 == 1 else "cat"}"')
        case 2:
            made.append("_:b <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://y/cat>")
        case _:
            made += [f"_:b <http://x/near> <http://x/v{n}>" for n in range(70)]  # a large one
    return made


def write(folder: Path, format: str) -> Path:
    folder.mkdir()
    match format:
        case "nq":
            bad = ["<http://x/a> oops .", "<http://x/a> <http://x/near> <http://x/b> ."]
            names = [f"<urn:e{n}>" if n % 5 else f"_:g{n}" for n in range(EVENTS)]
            lines = [f"{said} {names[n]} ." for n in range(EVENTS) for said in statements(n)]
            lines[300:300] = bad
            (folder / "e.nq").write_text("\n".join(lines))
        case _:
            graphs = (f"<urn:e{n}> {{ {' . '.join(statements(n))} }}" for n in range(EVENTS))
            (folder / "e.trig").write_text("\n".join([*graphs, '<urn:a> <http://x/size> "5" .']))
    return folder


def write_asked(folder: Path) -> tuple[Path, tuple[Path, ...]]:
    texts: list[dict[str, str]] = [{"id": id, "text": text} for id, text in SUBSCRIPTIONS.items()]
    texts += [{"id": "over", "text": "(?x, near, ?y)", "expires": "2024-02-29T00:00:00Z"}]
    texts += [{"id": "still", "text": "(?x, uses, ?y)", "expires": "2024-03-02T00:00:00Z"}]
    texts += [{"id": "bad", "text": "(?x, near"}]
    (folder / "s.jsonl").write_text("".join(json.dumps(each) + "\n" for each in texts))
    for name, text in KNOWLEDGE.items():
        (folder / name).write_text(text)
    return folder / "s.jsonl", tuple(folder / name for name in KNOWLEDGE)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asked")
    subscriptions, knowledge = write_asked(folder)
    standing = standing_in(subscriptions, None, knowledge, NOW)
    assert (standing.told.live, standing.told.expired) == (len(SUBSCRIPTIONS) + 1, 1)
    assert len(standing.told.rejected) == 1
    return standing.saved(folder)


@pytest.mark.parametrize("format", ["nq", pytest.param("trig", marks=pytest.mark.long)])
def test_partitions_and_shards_change_nothing(
    spark: "SparkSession", index: Path, tmp_path: Path, format: str
) -> None:
    folder = write(tmp_path / "events", format)
    tables, counts = expected(index, folder)
    assert counts["events"] >= EVENTS - 2
    assert counts["ambiguous"] == {"jaguar": 15}
    told = {json.loads(text)["subscription"] for text in tables[0]}
    assert {*SUBSCRIPTIONS} - told <= {f"pair {n}" for n in range(20)} | {"animals"}
    for partitions, shards in ((1, 1), (3, 3)):
        out = tmp_path / f"{partitions}-{shards}"
        job = MatchJob(
            None, (folder,), out, NOW, index=index, time_field="seen", partitions=partitions,
            index_memory=None if shards == 1 else bytes_of(index) // 3 + 1,
        )  # fmt: skip
        run(job, lambda: spark)
        assert tables_in(out) == tables, out.name
        assert counts_in(out) == {**counts, "shards": shards}, out.name


def test_statistics_of_graphs_change_nothing(
    spark: "SparkSession", index: Path, tmp_path: Path
) -> None:
    folder = write(tmp_path / "events", "nq")
    learn = LearnJob((folder,), tmp_path / "stats.json", time_field="seen")
    assert len(learn_job.run(learn, lambda: spark).learned.sample) >= EVENTS - 2
    tables, _ = expected(index, folder)
    job = MatchJob(
        None, (folder,), tmp_path / "out", NOW, index=index, time_field="seen", partitions=2,
        statistics=learn.out,
    )  # fmt: skip
    run(job, lambda: spark)
    assert tables_in(tmp_path / "out") == tables


def test_a_replay_tells_what_patterns_would_have_received(
    spark: "SparkSession", index: Path, tmp_path: Path
) -> None:
    subscriptions, knowledge = write_asked(tmp_path)
    folder = write(tmp_path / "events", "nq")
    tables, counts = expected(index, folder)
    job = ReplayJob(subscriptions, (folder,), NOW, knowledge, partitions=2, examples=1)
    found = replay.run(job, lambda: spark)
    due = Counter(json.loads(text)["subscription"] for text in tables[0])
    assert {each.subscription: each.matches for each in found.subscriptions} == {
        **dict.fromkeys((*SUBSCRIPTIONS, "still"), 0),
        **due,
    }
    assert (found.events, found.matches) == (counts["events"], counts["matches"])
    (example,) = found.subscriptions[-1].examples
    assert (example.place, example.event) == (f"{folder}/e.nq:1", f"{folder}/e.nq:1")
    assert example.raw == "".join(f"{said} _:g0 .\n" for said in statements(0))


def test_a_stream_of_graphs_says_what_a_run_says(
    spark: "SparkSession", filed: Store, index: Path, tmp_path: Path
) -> None:
    """From the log, where a document is many events; subscriptions that come later too."""
    _, knowledge = write_asked(tmp_path)
    folder = write(tmp_path / "events", "nq")
    known = Knowledge.load(*knowledge)
    know(filed, known, NOW)
    judge = Judge(known)

    def ask(texts: dict[str, str]) -> None:
        wishes = [judge.wished({"id": id, "text": text}) for id, text in texts.items()]
        subscribe(filed, wishes, NOW)

    def ran() -> None:
        job = StreamJob(filed.url, tmp_path / "c", FromLog(), ToTable(), "available-now")
        with streaming(job, lambda: spark, Gauges(), lambda: NOW) as stream:
            stream.wait()

    def told() -> set[tuple[str, str]]:
        return {(each.subscription, each.event) for each in notifications(filed, limit=10_000)}

    ask({id: text for id, text in SUBSCRIPTIONS.items() if not id.startswith("tree")})
    sent = (folder / "e.nq").read_bytes()
    append(filed, [Entry(Kind.NQUADS, sent, name="e.nq")], NOW)
    ran()
    first = told()
    due = {
        (row["subscription"], row["event"])
        for row in map(json.loads, expected(index, folder)[0][0])
    }

    def named(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
        return {(id, event) for id, event in pairs if event.startswith("urn:")}

    assert named(first) == named({pair for pair in due if pair[0] in dict(first)})
    assert not any(id.startswith("tree") for id, _ in first)
    ask({id: text for id, text in SUBSCRIPTIONS.items() if id.startswith("tree")})
    again = sent.replace(b"<urn:e", b"<urn:f")
    append(filed, [Entry(Kind.NQUADS, again, name="again.nq")], NOW)
    ran()
    later = told() - first
    due_later = {(id, event.replace("urn:e", "urn:f")) for id, event in due if id != "still"}
    assert named(later) == named(due_later)
