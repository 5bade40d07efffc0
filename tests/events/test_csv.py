"""Tables of texts: Python's own reader and writer of CSV as the judge, both ways in held together.

Faults that were planted and caught: a doubled quote taken as the end of its cell; blank lines in a
quoted cell passed over; a row's number that of its last line; an empty cell kept as a value; texts
of columns read as strings; a portion's rows without their header, or those of other rows; a break
of the file that is not told; one column `json` taken for JSON texts.
"""

import csv
import gzip
import io
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.engine import Engine
from sensewire.events.columns import facts_of
from sensewire.events.decode import decode
from sensewire.events.decoding import Decoded, Decoding, Outcome, Rejected
from sensewire.events.dictionary import Dictionary
from sensewire.events.files import held_slice, listing, slices
from sensewire.events.kinds import Kind
from sensewire.events.portions import portions
from sensewire.events.record_portion import RecordPortion
from sensewire.language.parse import parse
from sensewire.model.terms import Term, untyped
from tests.events.reading import Wanting, outcomes_of
from tests.events.telling import told

PLAIN = Decoding(now=datetime(2024, 3, 1, tzinfo=UTC))

cells = st.text(st.sampled_from('ab1 ,;\t"\n\0é'), max_size=6)


def read(data: bytes, name: str = "t.csv", decoding: Decoding = PLAIN) -> list[Outcome]:
    """The outcomes of a table, by both ways in, which must agree."""
    part = held_slice(data, Kind.CSV, name)
    found = list(decode(part, decoding))
    assert outcomes_of(portions([part], decoding), decoding) == sorted(found, key=repr)
    return found


def values(outcome: Outcome) -> list[tuple[str, str]]:
    assert isinstance(outcome, Decoded)
    assert all(fact.object == untyped(fact.object.text) for fact in outcome.event.facts)
    return [(fact.property.text, fact.object.text) for fact in outcome.event.facts]


def rejected(outcome: Outcome) -> tuple[str, str, bytes]:
    assert isinstance(outcome, Rejected)
    return outcome.place, outcome.reason, outcome.raw


@given(
    rows=st.lists(st.lists(cells, min_size=3, max_size=3), max_size=6),
    separator=st.sampled_from(",;\t"),
    is_quoted=st.booleans(),
    end=st.sampled_from(["\n", "\r\n"]),
    mark=st.sampled_from(["", "\ufeff"]),
)
def test_it_is_what_another_writer_wrote(
    rows: list[list[str]], separator: str, is_quoted: bool, end: str, mark: str
) -> None:
    out = io.StringIO()
    writer = csv.writer(
        out,
        delimiter=separator,
        lineterminator=end,
        quoting=csv.QUOTE_ALL if is_quoted else csv.QUOTE_MINIMAL,
    )
    names = ["id", "a.b", "c d"]
    writer.writerows([names, *rows])
    name = "t.tsv" if separator == "\t" else "t.csv"
    found = read((mark + out.getvalue()).encode(), name)
    assert [values(each) for each in found] == [
        [(name, cell) for name, cell in zip(names, row, strict=True) if cell] for row in rows
    ]
    reader = csv.reader(io.StringIO(out.getvalue(), newline=""), delimiter=separator)
    ends = [reader.line_num for _ in reader]
    places = [f"{name}:{end + 1}" for end in ends[:-1]]
    assert [each.place for each in found] == places
    assert [each.event.id for each in found if isinstance(each, Decoded)] == [
        row[0] or place for row, place in zip(rows, places, strict=True)
    ]


pieces = st.sampled_from(
    [b'"', b'""', b",", b"\n", b"\r\n", b"\r", b" ", b"a", b"1,2", b"\xff", b"\0", b"0123456789"]
)


@given(
    data=st.lists(pieces, max_size=25).map(b"".join),
    header=st.sampled_from([b"a,b\n", b"a,a\n", b"json\n", b"time;id\n", b""]),
    kept=st.integers(0, 100),
)
def test_whatever_comes_is_an_event_or_is_rejected(data: bytes, header: bytes, kept: int) -> None:
    short = replace(PLAIN, longest=20, time_field="time")
    read(header + data, decoding=short)
    packed = gzip.compress(header + data, compresslevel=0)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv.gz"
        path.write_bytes(packed[: len(packed) * kept // 100])
        (file,) = listing([path]).files
        (part,) = slices(file, 1)
        found = list(decode(part, short))
        assert outcomes_of(portions([part], short), short) == sorted(found, key=repr)


def test_the_header_names_the_attributes() -> None:
    assert read(b"") == read(b"\n \n") == read(b"a,b\n\n") == []
    (found,) = read(b" a , b.c ,a\n1,2,3\n")
    assert values(found) == [("a", "1"), ("a", "3"), ("b.c", "2")]
    (found,) = read(b"a;b,c\n1,2;3\n")  # a comma comes first
    assert values(found) == [("a;b", "1"), ("c", "2;3")]
    (found,) = read(b"a,,c\n1,2,3\n4,5,6\n")
    assert rejected(found) == (
        "t.csv:1",
        "the header has no name for column 2 of 3; expected a name for every column",
        b"a,,c",
    )
    (found,) = read("a,b\n1,2".encode("utf-16"))
    assert "the header cannot be read: not UTF-8: byte 0xff" in rejected(found)[1]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("t.csv", b"a,b\n1,x"),
        ("t.csv", b"a;b\n1;x"),
        ("t.csv", b"a\tb\n1\tx"),
        ("t.csv", b'"a";"b"\r\n1;x\r\n'),
        ("t.csv", b'"a,;"\tb\n1\tx'),
        ("t.tsv", b"a\tb\n1\tx"),
        ("t.TSV.gz", b"a\tb\n1\tx"),
    ],
)
def test_the_separator_is_that_of_the_header_or_of_the_name(name: str, data: bytes) -> None:
    (found,) = read(data, name)
    assert [value for _, value in values(found)] == ["1", "x"]


def test_a_tab_is_the_only_separator_of_a_tsv() -> None:
    (found,) = read(b"a,b\n1,2\n", "t.tsv")
    assert values(found) == [("a,b", "1,2")]


def test_rows_that_are_none_are_rejected_alone_with_their_place() -> None:
    data = b'a,b\n1,2\n\n3\n"4\n5",6\n7,8,9\n"x"y,1\n\xff,1\n0,"\xff\n"\n10,11\n'
    found = read(data)
    assert [each.place for each in found if isinstance(each, Decoded)] == [
        "t.csv:2",
        "t.csv:5",
        "t.csv:12",
    ]
    assert [rejected(each) for each in found if isinstance(each, Rejected)] == [
        ("t.csv:4", "a row of 1 cells; expected 2, as in the header", b"a,b\n3"),
        ("t.csv:7", "a row of 3 cells; expected 2, as in the header", b"a,b\n7,8,9"),
        (
            "t.csv:8",
            "cell 1 goes on behind its closing quote; "
            'a quote inside a cell is written twice, as ""',
            b'a,b\n"x"y,1',
        ),
        (
            "t.csv:9",
            "not UTF-8: byte 0xff at position 0 of line 9 cannot be read",
            b"a,b\n\xff,1",
        ),
        (
            "t.csv:10",
            "not UTF-8: byte 0xff at position 3 of line 10 cannot be read",
            b'a,b\n0,"\xff\n"',
        ),
    ]


def test_a_quote_in_the_middle_of_a_cell_is_a_character() -> None:
    (found,) = read(b'size\n5" disk\n')
    assert values(found) == [("size", '5" disk')]


def test_a_quote_that_is_never_closed_costs_what_follows_and_no_memory() -> None:
    first, last = read(b'a,b\n1,2\n3,"4\n' + b"5,6\n" * 1_000)
    assert isinstance(first, Decoded)
    assert rejected(last)[:2] == (
        "t.csv:3",
        "a quote that opens in line 3 or behind it is never closed; "
        "close it: what follows is not read",
    )
    short = replace(PLAIN, longest=100)
    for unclosed in (b"5,6\n" * 1_000, b"x" * 1_000, b"x" * 1_000 + b'"\n5,6'):
        _, last = read(b'a,b\n1,2\n3,"4\n' + unclosed, decoding=short)
        place, reason, raw = rejected(last)
        assert (place, "never closed" in reason, len(raw) <= 110) == ("t.csv:3", True, True)


def test_rows_that_are_too_long_are_rejected_and_the_rest_goes_on() -> None:
    short = replace(PLAIN, longest=20)
    long = b'x,"' + b"y\n" * 20 + b'"\n'
    _, quoted, plain, last = read(
        b"a,b\n1,2\n" + long + b"0," + b"z" * 30 + b"\n3,4\n", decoding=short
    )
    for outcome, place in ((quoted, "t.csv:3"), (plain, "t.csv:24")):
        assert rejected(outcome)[0] == place
        assert "longer than 20 bytes" in rejected(outcome)[1]
        assert len(rejected(outcome)[2]) == 20
    assert values(last) == [("a", "3"), ("b", "4")]


def test_ids_and_times_are_those_of_records() -> None:
    timed = replace(PLAIN, id_field="key", time_field="seen")
    found = read(b"key,seen\nk,2024-02-01\n,\nm,never\n", decoding=timed)
    first, second, third = found
    assert isinstance(first, Decoded)
    assert isinstance(second, Decoded)
    assert (first.event.id, first.event.time) == ("k", datetime(2024, 2, 1, tzinfo=UTC))
    assert (second.event.id, second.event.time) == ("t.csv:3", PLAIN.now)
    assert "'never' is no date" in rejected(third)[1]
    (found_one,) = read(b"key,key,seen,seen\na,b,2024-01-01,2024-01-02\n", decoding=timed)
    assert "holds 2 values, not 1" in rejected(found_one)[1]
    (same,) = read(b"key,key\na,b\n", decoding=timed)
    assert isinstance(same, Decoded)
    assert same.event.id == "t.csv:2"


def test_what_was_read_can_be_read_again_by_itself() -> None:
    data = b'a;b\n1;"x\n;y"\n2\n3;4\n'
    for outcome in read(data):
        (again,) = read(outcome.raw)
        assert again.raw == outcome.raw
        if isinstance(outcome, Decoded):
            assert isinstance(again, Decoded)
            assert again.event.facts == outcome.event.facts
    (portion,) = (
        item
        for item in portions([held_slice(data, Kind.CSV, "t.csv")], PLAIN)
        if isinstance(item, RecordPortion)
    )
    assert [portion.at([1]).raw(0), portion.some(1, 1).raw(0)] == [b"a;b\n3;4"] * 2
    assert portion.as_json(0) == b'{"a":"1","b":"x\\n;y"}'


SUBSCRIPTIONS = (
    *("a = 1", "a < 2", 'a = "1"', "b prefix 'x'", "b != y", "a exists and not b = 7", "a = true"),
    *("a > 2024-01-01", "select ?v where a = ?v and ?v > 0", "b = 5 km or json = '{}'", "a = 1.0"),
)


sent = st.sampled_from(["", "1", "1.0", "01", "2024-03-01", "x", "true", "5 km"])


@pytest.fixture(scope="module")
def engine() -> Engine:
    engine = Engine()
    for text in SUBSCRIPTIONS:
        engine.add(parse(text), id=text)
    return engine


@given(
    rows=st.lists(
        st.tuples(sent, sent),
        min_size=1,
        max_size=8,
    ),
    names=st.sampled_from([("a", "b"), ("b", "a"), ("a", "a"), ("json", "a")]),
)
def test_the_engine_says_the_same_of_columns_as_of_events(
    engine: Engine, rows: Sequence[tuple[str, str]], names: tuple[str, str]
) -> None:
    data = "\n".join(map(",".join, (names, *rows))).encode()
    part = held_slice(data, Kind.CSV, "t.csv")
    (portion,) = portions([part], PLAIN, wanted=engine)
    assert isinstance(portion, RecordPortion)
    found = engine.match_batch(portion.batch).matches.to_pylist()
    expected = [
        (row, match.subscription)
        for row, outcome in enumerate(decode(part, PLAIN))
        if isinstance(outcome, Decoded)
        for match in engine.match(outcome.event)
    ]
    assert sorted((row["event"], row["subscription"]) for row in found) == sorted(expected)


def test_columns_give_untyped_words_and_only_those_that_are_asked_for() -> None:
    part = held_slice(b"a,b,c,c\n1,2,3,\n,5,6,7\n", Kind.CSV, "t.csv")
    (portion,) = portions([part], replace(PLAIN, id_field=None), wanted=Wanting({"a", "c"}))
    assert isinstance(portion, RecordPortion)
    assert portion.batch.schema.names == ["a", "c"]
    facts = facts_of(
        portion.batch, Dictionary(["a", "b", "c"]), decoding=PLAIN, place=portion.place
    )
    expected: list[set[tuple[str, Term]]] = [
        {("a", untyped("1")), ("c", untyped("3"))},
        {("c", untyped("6")), ("c", untyped("7"))},
    ]
    assert told(facts) == expected


def test_one_column_that_is_called_json_is_text() -> None:
    part = held_slice(b'json\n"{""a"": 1}"\n', Kind.CSV, "t.csv")
    (portion,) = portions([part], PLAIN)
    assert isinstance(portion, RecordPortion)
    engine = Engine()
    engine.add(parse("json exists"), id="text")
    engine.add(parse("a exists"), id="read")
    assert engine.match_batch(portion.batch).matches.column("subscription").to_pylist() == ["text"]
