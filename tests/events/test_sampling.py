"""Samples of files: uniform, and the same however the files are cut."""

import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from sensewire.events import line_portions, records
from sensewire.events.decode import decode
from sensewire.events.decoding import Decoded, Decoding, Outcome, Rejected
from sensewire.events.files import Slice, listing, slices
from sensewire.events.lines import count_lines
from sensewire.events.sampling import Form, Lowest, Sampled, hash_of, number_hashes, outcomes_of
from sensewire.model.event import Event
from sensewire.model.learned import UNTIMED

DECODING = Decoding(UNTIMED, longest=40)
LINES = st.sampled_from(
    [b'{"e": "' + b"y" * 31 + b'"}\r',  # 40 bytes, and the return

        b'{"a": 1}', b' {"b": "\xc3\xbc"}', b"", b"   ", b"\x0b\x0c", b"no JSON", b"[1]", b" []",
        b'[{"specversion": "1.0"}, {"specversion": "1.0"}]', b"[" + b" " * 60, b" " * 41,
        b'{"c": "' + b"x" * 50 + b'"}', b'{"d": 2}\r', b"\r",
    ]
)  # fmt: skip


def parts_of(path: Path, cuts: list[int]) -> list[Slice]:
    """The file cut at some bytes, with the numbers of the lines."""
    (file,) = listing([path]).files
    data = path.read_bytes()
    ends = sorted({cut for cut in cuts if cut < file.size} | {file.size})
    parts, start, line = [], 0, 1
    for end in ends:
        parts.append(Slice(file, start, end, line))
        line += count_lines(BytesIO(data), start, end)
        start = end
    return parts


def sampled(parts: list[Slice], most: int, most_bytes: int = 10**9) -> tuple[int, list[Sampled]]:
    """Each part by itself, and then all together, as Spark does it."""
    whole, events = Lowest(most, most_bytes), 0
    items: list[Sampled] = []
    for part in parts:
        each = Lowest(most, most_bytes)
        each.add(part, DECODING)
        events += each.events
        assert not each.unread
        items += each.sample()
        whole.bound = min(whole.bound, each.bound)
    for item in items:
        whole.offer(item)
    return events, whole.sample()


@given(
    lines=st.lists(LINES, min_size=1, max_size=12),
    ending=st.sampled_from([b"", b"\n"]),
    mark=st.sampled_from([b"", b"\xef\xbb\xbf"]),
    cuts=st.lists(st.integers(1, 400), max_size=5),
    most=st.sampled_from([1, 3, 100]),
    block=st.sampled_from([7, 64, 4_096]),
)
def test_no_cut_changes_the_sample(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[bytes],
    ending: bytes,
    mark: bytes,
    cuts: list[int],
    most: int,
    block: int,
) -> None:
    path = tmp_path_factory.mktemp("lines") / "e.jsonl"
    path.write_bytes(mark + b"\n".join(lines) + ending)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_portions.line_portions, "__defaults__", (block,))
        events, sample = sampled(parts_of(path, cuts), most)
    decoded = [
        outcome for part in parts_of(path, []) for outcome in decode(part, DECODING)
    ]  # the definition
    assert events == len(decoded)
    assert sample == sampled(parts_of(path, []), most)[1]
    assert len(sample) == min(most, events)
    if most >= events:
        found = sorted(str(each) for each in outcomes_of(sample, DECODING) if _is_event(each))
        assert found == sorted(str(each.event) for each in decoded if isinstance(each, Decoded))
        reasons = sorted(
            (each.place, each.reason)
            for each in outcomes_of(sample, DECODING)
            if not isinstance(each, Event)
        )
        assert reasons == sorted(
            (each.place, each.reason) for each in decoded if not isinstance(each, Decoded)
        )


def _is_event(found: object) -> bool:
    return isinstance(found, Event)


def test_the_sample_is_uniform(tmp_path: Path) -> None:
    """A thousand events of ten thousand: of each tenth of the file about a hundred."""
    path = tmp_path / "e.jsonl"
    path.write_bytes(b"".join(b'{"n": %d}\n' % number for number in range(10_000)))
    events, sample = sampled(parts_of(path, [30_000, 70_000]), 1_000)
    assert (events, len(sample)) == (10_000, 1_000)
    numbers = [json.loads(item.data)["n"] for item in sample]
    assert len(set(numbers)) == 1_000
    tenths = np.bincount(np.array(numbers) // 1_000, minlength=10)
    assert tenths.min() > 65
    assert tenths.max() < 135
    last_digits = np.bincount(np.array(numbers) % 10, minlength=10)
    assert last_digits.min() > 65
    assert last_digits.max() < 135


def test_only_what_is_sampled_is_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "e.jsonl"
    path.write_bytes(b'{"n": 1}\n' * 1_000)
    decoded = []
    line = records.line

    def noted(raw: bytes, place: str, decoding: Decoding) -> Iterator[Outcome]:
        decoded.append(place)
        return line(raw, place, decoding)

    monkeypatch.setattr(records, "line", noted)
    events, sample = sampled(parts_of(path, [500]), 10)
    assert events == 1_000
    assert not decoded
    assert len(list(outcomes_of(sample, DECODING))) == len(decoded) == 10


@given(cuts=st.lists(st.integers(1, 2_000), max_size=4), most_bytes=st.integers(1, 500))
def test_the_limit_in_bytes_depends_on_no_cut(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], most_bytes: int
) -> None:
    path = tmp_path_factory.mktemp("lines") / "e.jsonl"
    path.write_bytes(b"".join(b'{"n": %d}\n' % 10 ** (number % 20) for number in range(100)))
    _, sample = sampled(parts_of(path, cuts), 50, most_bytes)
    assert sample == sampled(parts_of(path, []), 50, most_bytes)[1]
    assert sum(len(item.data) for item in sample) <= most_bytes
    longer = sampled(parts_of(path, []), 50)[1]
    assert sample == longer[: len(sample)]


NQUADS = b"".join(b'<urn:h> <urn:p> "%d" <urn:g%d> .\n' % (n, n) for n in range(30)) + b"broken\n"


def test_other_formats_are_decoded(tmp_path: Path) -> None:
    (tmp_path / "a.nq").write_bytes(NQUADS)
    (tmp_path / "b.json").write_text('[{"x": 1}, 5]')
    (tmp_path / "c.ttl").write_text("<urn:a> <urn:b> <urn:c> .")
    (tmp_path / "d.trig").write_text(
        "".join(f"<urn:t{n}> {{ <urn:a> <urn:b> {n} }}\n" for n in range(5))
    )
    plain = Decoding(UNTIMED)
    found = Lowest(1_000)
    for file in listing([tmp_path]).files:
        found.add(Slice(file, 0, file.size), plain)
    forms = [item.form for item in found.sample()]
    assert (found.events, forms.count(Form.EVENT), forms.count(Form.REJECTED)) == (38, 36, 2)
    events = [each for each in outcomes_of(found.sample(), plain) if isinstance(each, Event)]
    assert {event.id for event in events} >= {"urn:g7", "urn:t4", "c.ttl"}
    assert all(event.time == UNTIMED for event in events)
    few = Lowest(7)  # in another order
    for file in reversed(listing([tmp_path]).files):
        few.add(Slice(file, 0, file.size), plain)
    assert few.sample() == found.sample()[:7]


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    (tmp_path / "e.jsonl").write_text("{}")
    (tmp_path / "e.ttl").write_text("")
    files = listing([tmp_path]).files
    found = Lowest(10)
    for file in files:
        Path(file.path).unlink()
        found.add(Slice(file, 0, file.size), DECODING)
    assert found.events == 0
    assert [item.place for item in found.unread] == [file.name for file in files]
    assert all("cannot be read (No such file" in item.reason for item in found.unread)


def test_rows_of_columns_are_sampled_by_their_numbers(tmp_path: Path) -> None:
    """Whatever slices of row groups they come in; a row that is no event is one of them."""
    path = tmp_path / "e.parquet"
    times = ["2024-03-01" if n % 10 else "never" for n in range(200)]
    parquet.write_table(pa.table({"n": range(200), "t": times}), path, row_group_size=30)
    timed = Decoding(UNTIMED, time_field="t")
    (file,) = listing([path]).files
    whole, parts = slices(file, 10**9), slices(file, 1)
    assert (len(whole), len(parts)) == (1, 7)
    found = []
    for some in (whole, parts[::-1]):
        lowest = Lowest(50)
        for part in some:
            lowest.add(part, timed)
        assert (lowest.events, len(lowest.sample())) == (200, 50)
        found.append(lowest.sample())
    assert found[0] == found[1]
    outcomes = list(outcomes_of(found[0], timed))
    rejected = [each for each in outcomes if isinstance(each, Rejected)]
    assert {int(each.place.rpartition(":")[2]) % 10 for each in rejected} == {1}
    assert 0 < len(rejected) < 15


def test_a_cell_without_a_text_is_no_event(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    texts = ['{"a": 1}', None, '[{"specversion": "1.0"}]', "5"]
    parquet.write_table(pa.table({"json": texts}), path)
    plain = Decoding(UNTIMED)
    found = Lowest(10)
    for part in slices(listing([path]).files[0], 10**9):
        found.add(part, plain)
    events = [each for each in outcomes_of(found.sample(), plain) if isinstance(each, Event)]
    assert (found.events, len(events)) == (4, 1)


def test_hashes_of_lines_differ_by_file_and_number() -> None:
    numbers = np.arange(1, 100_001)
    one, other = (number_hashes(hash_of(name), numbers) for name in ("a.jsonl", "b.jsonl"))
    assert len({*one.tolist(), *other.tolist()}) == 200_000
    assert one.min() >= 0
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.02
    assert abs(np.corrcoef(one[:-1], one[1:])[0, 1]) < 0.02
