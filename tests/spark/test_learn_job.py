"""The learning job on Spark: one file of statistics, whatever the partitions; bad input is told."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from sensewire.model.errors import SensewireError
from sensewire.model.learned import KIND, load_learned
from sensewire.model.terms import iri, string
from sensewire.spark.learn import LearnJob, LearnSummary, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Learning = Callable[..., LearnSummary]


@pytest.fixture
def job(tmp_path: Path) -> LearnJob:
    history = tmp_path / "history"
    history.mkdir()
    return LearnJob(events=(history,), out=tmp_path / "stats.json", partitions=2)


@pytest.fixture
def learning(spark: "SparkSession", job: LearnJob) -> Learning:
    """Run the job with its options changed."""
    return lambda **options: run(replace(job, **options), lambda: spark)


def history(job: LearnJob) -> Path:
    """The folder of events."""
    (folder,) = job.events
    assert isinstance(folder, Path)
    return folder


def write_history(folder: Path) -> None:
    """Files of many formats, with lines of many lengths, empty ones and bad ones."""
    lines = []
    for number in range(300):
        match number % 5:
            case 0 | 1:
                lines.append(b'{"product": "laptop", "price": %d}' % number)
            case 2:
                fill = b"x" * number
                lines.append(b'{"product": "phone", "colour": "red", "fill": "%s"}' % fill)
            case 3:
                lines.append(b"   " if number % 2 else b"no JSON")
            case _:
                context = b'"specversion": "1.0", "source": "/s", "type": "t"'
                lines.append(b'[{%s, "id": "%d", "data": {"price": 7}}]' % (context, number))
    (folder / "a.jsonl").write_bytes(b"\n".join(lines))
    (folder / "b.nq").write_bytes(
        b"".join(b'<urn:h> <urn:price> "%d" <urn:g%d> .\n' % (n, n) for n in range(40))
    )
    (folder / "c.json").write_text('[{"price": 1}, {"price": 2}]')
    (folder / "d.xyz").write_text("nothing that is known")


@pytest.mark.parametrize("sample", [7, 10_000])
def test_the_statistics_do_not_depend_on_partitions(
    learning: Learning, job: LearnJob, tmp_path: Path, sample: int
) -> None:
    write_history(history(job))
    texts = []
    for partitions in (1, 2, 7):
        out = tmp_path / f"{partitions}.json"
        summary = learning(partitions=partitions, out=out, sample=sample)
        texts.append(out.read_bytes())
    assert texts[0] == texts[1] == texts[2]
    learned = load_learned(out)
    assert learned.events == 120 + 60 + 30 + 60 + 40 + 2
    assert learned.rejected == summary.learned.rejected
    assert len(learned.sample) + learned.rejected - 1 == min(sample, learned.events)
    if sample > 300:
        assert str(summary) == "312 events, 282 sampled, 9 attributes, 31 rejected"
        shares = {each.attribute: each.share for each in learned.attributes}
        assert shares[string("product")] == 180 / 282
        assert shares[iri("urn:price")] == 40 / 282
        (ids,) = (each for each in learned.attributes if each.attribute.text == "cloudevent.id")
        assert (ids.distinct, len(ids.common)) == (60, 60)  # all was seen that can be read


def test_what_is_rejected_is_told(learning: Learning, job: LearnJob) -> None:
    write_history(history(job))
    summary = learning()
    places = [Path(item.place).name for item in summary.rejected]
    assert places[0] == "d.xyz"
    assert "a.jsonl:4" not in places  # it is blank
    assert "a.jsonl:9" in places
    reasons = {Path(item.place).name: item.reason for item in summary.rejected}
    assert reasons["a.jsonl:9"].startswith("bad JSON at column")


def test_a_part_of_the_history_tells_of_all(learning: Learning, job: LearnJob) -> None:
    lines = [f'{{"n": {n}, "even": {str(n % 2 == 0).lower()}}}\n' for n in range(5_000)]
    (history(job) / "e.jsonl").write_text("".join(lines))
    learned = learning(sample=500).learned
    assert (learned.events, len(learned.sample)) == (5_000, 500)
    n, even = sorted(learned.attributes, key=lambda each: each.attribute.text, reverse=True)
    assert (n.distinct, even.distinct) == (5_000, 2)
    assert n.numbers[50] == pytest.approx(2_500, rel=0.15)
    assert dict(even.common).values() == pytest.approx([0.5, 0.5], rel=0.2)


def test_knowledge_gives_the_names(learning: Learning, job: LearnJob, tmp_path: Path) -> None:
    (tmp_path / "k.yaml").write_text(
        "synonyms:\n  price: [cost]\n  laptop: [notebook]\n"
        "mappings:\n  - {name: double, inputs: [price], outputs: {twice: 'price * 2'}}\n"
    )
    (history(job) / "a.jsonl").write_text(
        '{"price": 1, "product": "laptop"}\n{"cost": 2, "product": "notebook"}\n'
    )
    (history(job) / "b.nt").write_text("<urn:a> <http://x.org/unknown> <http://x.org/else> .")
    learned = learning(knowledge=(tmp_path / "k.yaml",)).learned
    shares = {each.attribute.text: round(each.share, 2) for each in learned.attributes}
    assert shares == {"price": 0.67, "product": 0.67, "twice": 0.67, "http://x.org/unknown": 0.33}
    common = {each.attribute.text: each.common for each in learned.attributes}
    assert common["product"] == (('"laptop"', 2 / 3),)
    assert common["http://x.org/unknown"] == (("<http://x.org/else>", 1 / 3),)
    properties = {fact.property.text for event in learned.sample for fact in event.facts}
    assert "cost" in properties  # the sample is as it was sent


def no_session() -> NoReturn:
    raise AssertionError("nothing is started for this")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample": 0}, "--sample 0: expected a whole number above 0"),
        ({"partitions": 0}, "--partitions 0: expected a whole number above 0"),
        ({"max_event_bytes": -1}, "--max-event-bytes -1: expected a whole number above 0"),
        ({"events": (Path("none.jsonl"),)}, "none.jsonl: No such file or directory"),
        ({"knowledge": (Path("none.yaml"),)}, "none.yaml: there is no such file"),
    ],
)
def test_bad_options(job: LearnJob, options: dict[str, Any], message: str) -> None:
    with pytest.raises(SensewireError, match=message):
        run(replace(job, **options), no_session)


def test_an_out_that_is_in_use(job: LearnJob, tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("mine")
    (tmp_path / "stats.json").write_text(f'{{"kind":"{KIND}","version":7')
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for out, overwrite, message in (
        (tmp_path / "other.txt", False, "other.txt exists; name another file, or say --overwrite"),
        (tmp_path / "other.txt", True, "was not written by sensewire learn and is not overwrit"),
        (tmp_path / "stats.json", False, "exists"),
        (tmp_path / "link", True, "was not written by"),
        (tmp_path, True, "was not written by"),
        (tmp_path / "history/stats.json", False, "is inside .*: the next run would read it"),
        (tmp_path / "history", True, "would take the place of the input"),
    ):
        with pytest.raises(SensewireError, match=message):
            run(replace(job, out=out, overwrite=overwrite), no_session)
    assert (tmp_path / "other.txt").read_text() == "mine"


def test_statistics_of_ours_are_overwritten(learning: Learning, job: LearnJob) -> None:
    (history(job) / "e.jsonl").write_text('{"a": 1}')
    job.out.write_text(f'{{"kind":"{KIND}","version":7')
    learning(overwrite=True)
    assert load_learned(job.out).events == 1


@pytest.mark.parametrize(
    ("content", "why"), [(b"", ""), (b"\n \n", ""), (b"bad\n", r" \(.*:1: bad JSON")]
)
def test_a_history_without_events(
    learning: Learning, job: LearnJob, content: bytes, why: str
) -> None:
    (history(job) / "e.jsonl").write_bytes(content)
    with pytest.raises(SensewireError, match=f"no event could be read in .*history{why}"):
        learning()
    assert not job.out.exists()


def test_an_empty_folder(learning: Learning) -> None:
    with pytest.raises(SensewireError, match=r"no event could be read in .*history; expected"):
        learning()


def test_a_file_that_vanishes(job: LearnJob, spark: "SparkSession") -> None:
    (history(job) / "a.jsonl").write_text('{"a": 1}')
    (history(job) / "b.jsonl").write_text('{"a": 1}')

    def session() -> "SparkSession":
        (history(job) / "b.jsonl").unlink()
        return spark

    summary = run(replace(job, partitions=1), session)
    assert str(summary) == "1 events, 1 sampled, 1 attributes, 1 rejected"
    assert "cannot be read" in summary.rejected[0].reason


def test_an_out_that_cannot_be_written(learning: Learning, job: LearnJob, tmp_path: Path) -> None:
    (history(job) / "a.jsonl").write_text('{"a": 1}')
    (tmp_path / "file").write_text("")
    with pytest.raises(SensewireError, match=r"--out .*file/stats.json cannot be written: "):
        learning(out=tmp_path / "file" / "stats.json")
