"""The learning job: a history of events in, one file of statistics out.

    files ──> slices ──> lowest hashes of each ──> lowest of all ──> decoded ──> distributions
              ingest     events/sampling.py        Spark's top-k     driver      model/

The same file comes out however the history is cut. Only what is low enough travels; the driver
decodes no more than the sample.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sensewire.events.decoding import LONGEST_EVENT, Decoding, Rejected
from sensewire.events.files import listing
from sensewire.events.locations import location
from sensewire.events.sampling import Form, Lowest, Sampled, outcomes_of
from sensewire.knowledge.knowledge import Knowledge, called
from sensewire.model.batch import Batch
from sensewire.model.distribution import Pair, distributions
from sensewire.model.errors import SensewireError
from sensewire.model.event import Event
from sensewire.model.learned import UNTIMED, Learned, is_learned, write_learned
from sensewire.model.terms import Kind, Term, local_name, string
from sensewire.normalise.passes import normalised
from sensewire.spark.failures import spark_errors
from sensewire.spark.ingest import sliced, slices_of
from sensewire.spark.progress import Counters, Report, reported

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SAMPLE = 16_384
"""Events of a sample, unless the caller says otherwise."""

_COUNT, _BOUND, _UNREAD = "count", "bound", "unread"
_MOST_TOLD = 100
_BYTES_A_BATCH = 16_777_216
_COLUMNS: dict[str, pa.DataType] = {
    "form": pa.string(),  # a `Form`; or one of those above
    "hash": pa.int64(),  # of a count, the number of events; of a bound, the bound
    "place": pa.string(),
    "data": pa.binary(),
}
_ROWS = pa.schema(_COLUMNS)


@dataclass(frozen=True, slots=True)
class LearnJob:
    """What to learn from, and where to write what was learned."""

    events: tuple[Path | str, ...]
    out: Path
    sample: int = SAMPLE
    knowledge: tuple[Path, ...] = ()
    id_field: str | None = "id"
    time_field: str | None = None
    overwrite: bool = False
    max_event_bytes: int = LONGEST_EVENT
    partitions: int | None = None


@dataclass(frozen=True, slots=True)
class LearnSummary:
    """What a job learned, and the first things that it could not read."""

    learned: Learned
    rejected: tuple[Rejected, ...]

    def __str__(self) -> str:
        learned = self.learned
        return (
            f"{learned.events} events, {len(learned.sample)} sampled, "
            f"{len(learned.attributes)} attributes, {learned.rejected} rejected"
        )


def run(
    job: LearnJob, session: Callable[[], "SparkSession"], report: Report | None = None
) -> LearnSummary:
    """Run a job. The session is asked for when the input has been seen to be there."""
    _check(job)
    files = listing(job.events)
    knowledge = Knowledge.load(*job.knowledge)
    decoding = Decoding(UNTIMED, job.id_field, job.time_field, job.max_event_bytes)
    with spark_errors():
        spark = session()
        counters = Counters.of(spark)
        with reported(counters, sum(file.size for file in files.files), report):
            slices = sliced(spark, files.files, job.partitions)
            rows = lowest(slices, decoding, job.sample, counters)
            events, unread, sample = _sampled(rows, job.sample)
    found: list[Event] = []
    bad: list[Rejected] = []
    for outcome in outcomes_of(sample, decoding):
        if isinstance(outcome, Event):
            found.append(outcome)
        else:
            bad.append(outcome)
    rejected = [*files.rejected, *unread, *bad]
    if not found:
        raise SensewireError(_nothing_learned(job, rejected))
    readable = round(events * len(found) / (len(found) + len(bad)))
    told = distributions(list(_told(found, knowledge)), of=readable)
    learned = Learned(events, len(rejected), told, tuple(found))
    try:
        write_learned(job.out, learned)
    except OSError as error:
        raise SensewireError(f"--out {job.out} cannot be written: {error.strerror}") from None
    return LearnSummary(learned, tuple(rejected[:_MOST_TOLD]))


def lowest(
    slices: "DataFrame", decoding: Decoding, most: int, counters: Counters | None = None
) -> "DataFrame":
    """The samples of a table of slices, one for each partition; and what was counted there."""
    from pyspark.sql.pandas.types import from_arrow_schema

    def stage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = Lowest(most)
        weight = 0
        for batch in batches:
            for part in slices_of(batch):
                found.add(part, decoding)
            weight += sum(row["weight"] for row in batch.select(["weight"]).to_pylist())
        if counters is not None:
            counters.add(weight, {"events": found.events, "matches": 0, "rejected": 0})
        return _batches(_rows(found))

    return slices.mapInArrow(stage, from_arrow_schema(_ROWS))


def _rows(found: Lowest) -> Iterator[dict[str, Any]]:
    sample = found.sample()
    yield {"form": _COUNT, "hash": found.events}
    yield {"form": _BOUND, "hash": found.bound}
    for item in found.unread:
        yield {"form": _UNREAD, "place": item.place, "data": item.reason.encode()}
    for hash, place, form, data in sample:
        yield {"form": form.value, "hash": hash, "place": place, "data": data}


def _batches(rows: Iterable[dict[str, Any]]) -> Iterator[pa.RecordBatch]:
    held: list[dict[str, Any]] = []
    size = 0
    for row in rows:
        held.append(row)
        size += len(row.get("data", b""))
        if size >= _BYTES_A_BATCH:
            yield pa.RecordBatch.from_pylist(held, schema=_ROWS)
            held, size = [], 0
    yield pa.RecordBatch.from_pylist(held, schema=_ROWS)


def _sampled(rows: "DataFrame", most: int) -> tuple[int, list[Rejected], list[Sampled]]:
    """How many events there are, the files that could not be read, and the sample of all."""
    from pyspark import StorageLevel

    kept = rows.persist(StorageLevel.DISK_ONLY)
    try:
        counted = kept.where(kept.form == _COUNT).groupBy().sum("hash").collect()
        bounds = kept.where(kept.form == _BOUND).groupBy().min("hash").collect()
        unread = kept.where(kept.form == _UNREAD).orderBy("place").collect()
        forms = [form.value for form in Form]
        low = kept.where(kept.form.isin(forms)).orderBy("hash", "place", "form", "data")
        table = low.limit(most + 1).toArrow()  # with the first that is too many: it is the bound
    finally:
        with suppress(ConnectionError):  # a JVM that is gone holds nothing; why it went says more
            kept.unpersist()
    whole = Lowest(most, bound=bounds[0][0])
    for row in table.to_pylist():
        whole.offer(Sampled(row["hash"], row["place"], Form(row["form"]), row["data"]))
    files = [Rejected(row["place"], b"", bytes(row["data"]).decode()) for row in unread]
    return counted[0][0], files, whole.sample()


def _told(events: Sequence[Event], knowledge: Knowledge) -> Iterator[list[Pair]]:
    """The attributes and values of each event, under the names that the knowledge has for them."""
    batch = normalised(Batch(events), knowledge)
    known = bool(knowledge.content.entities)
    for row in range(len(events)):
        pairs = [(property, value) for _, property, value in batch.facts(row)]
        yield [pair for each in pairs for pair in _named(*each, knowledge)] if known else pairs


def _named(property: Term, value: Term, knowledge: Knowledge) -> Iterator[Pair]:
    root = knowledge.value_root(value, knowledge.scope_of(property))
    for attribute in knowledge.attribute_roots(property):
        yield _known(property, attribute, knowledge), _known(value, root, knowledge)


def _known(term: Term, root: Term, knowledge: Knowledge) -> Term:
    """What a root is called; the term itself, where its root is no more than its spelling."""
    is_spelling = term.kind is Kind.IRI and root == string(local_name(term.text))
    if root == term or (is_spelling and knowledge.entity(root) is None):
        return term
    return root if root.kind is Kind.IRI else string(called(root))


def _check(job: LearnJob) -> None:
    for name, number in (
        ("sample", job.sample),
        ("max-event-bytes", job.max_event_bytes),
        ("partitions", job.partitions),
    ):
        if number is not None and number < 1:
            raise SensewireError(f"--{name} {number}: expected a whole number above 0")
    place = job.out.resolve()
    for source in map(location, (*job.events, *job.knowledge)):
        if not source.is_local:
            continue
        if place == Path(source.text).resolve():
            raise SensewireError(f"--out {job.out} would take the place of the input {source.name}")
        if place.is_relative_to(Path(source.text).resolve()):
            raise SensewireError(
                f"--out {job.out} is inside {source.name}: the next run would read it"
            )
    if not job.out.exists() and not job.out.is_symlink():
        return
    if not job.overwrite:
        raise SensewireError(f"{job.out} exists; name another file, or say --overwrite")
    if not job.out.is_file() or not is_learned(job.out):
        raise SensewireError(
            f"{job.out} was not written by sensewire learn and is not overwritten;"
            " name another file"
        )


def _nothing_learned(job: LearnJob, rejected: Sequence[Rejected]) -> str:
    named = ", ".join(location(place).name for place in job.events[:3])
    why = f" ({rejected[0].place}: {rejected[0].reason})" if rejected else ""
    return f"no event could be read in {named}{why}; expected files or folders with events"
