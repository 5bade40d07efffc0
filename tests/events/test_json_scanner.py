"""The scanner says what the plain decoder says, of the attributes that it was asked for."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sensewire.events import json_scanner, records
from sensewire.events.columns import facts_of
from sensewire.events.decoding import Decoding
from sensewire.events.dictionary import Dictionary
from sensewire.events.json_scanner import scan
from sensewire.events.scanning_lines import DEEPEST, scan_lines
from sensewire.events.scanning_table import entries_of
from sensewire.model.errors import EventError
from sensewire.model.facts import INTEGER, UNSEEN, Facts
from sensewire.model.flatten import LONGEST_NAMES
from sensewire.model.terms import string, term_of
from tests.events.json_texts import (
    ESCAPES,
    INSERTED,
    NAMES,
    NUMBERS,
    STRINGS,
    hostile_texts,
    texts,
)
from tests.events.telling import NOW, PLAIN, Said, agree, plainly, scanned, told


@given(st.lists(texts, min_size=1, max_size=8))
def test_valid_texts(lines: list[bytes]) -> None:
    agree(lines)


@given(
    st.lists(texts | hostile_texts(), min_size=1, max_size=8), st.sampled_from([b"\n", b"", b"1"])
)
def test_hostile_texts_with_whatever_stands_between(lines: list[bytes], between: bytes) -> None:
    agree(lines, between=between)


def odd_rows(
    lines: Sequence[bytes], names: Sequence[str] = NAMES, decoding: Decoding = PLAIN
) -> list[int]:
    """The lines that went to the plain decoder."""
    asked: list[int] = []

    class Spy:
        def __getattr__(self, name: str) -> object:
            return getattr(records, name)

        def line(self, raw: bytes, place: str, decoding: Decoding) -> object:
            asked.append(int(place.removeprefix("row ")))
            return records.line(raw, place, decoding)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_scanner, "records", Spy())
        scanned(lines, names, decoding)
    return asked


def test_whatever_is_usual_never_reaches_the_plain_decoder() -> None:
    values = [
        "laptop", "Zürich", "🙂", 'say "hi"\n\u20ac', "", "x" * 100, True, False, None, [], {}, 0,
        1, -5, 2**53, 2**60, 10**50, 0.5, -1e-7, 1e22, 0.1 + 0.2, 1 / 3, 1e100,
        12345.678901234567, 1e-30, [1, [2, "x"], {"b": [3]}],
        {"b": {"c": [1.5]}, "zz": {"": [{"a": "\\"}]}}, [{"b": 1}, {"b": 2}],
    ]  # fmt: skip
    documents = [{"a": value, "b": value, "unknown": value} for value in values]
    lines = [
        json.dumps(data, ensure_ascii=ascii).encode()
        for data in documents
        for ascii in (False, True)
    ]
    lines += [json.dumps(data, indent=1).encode() for data in documents]
    assert odd_rows(lines) == []
    agree(lines)


@pytest.mark.parametrize("text", NUMBERS)
@pytest.mark.parametrize("form", ['{"a":%s}', '{"x":%s}', '{"a":[%s ]}', '{"a":1,"b":%s\n}', "%s"])
def test_numbers(text: str, form: str) -> None:
    agree([(form % text).encode()])


@pytest.mark.parametrize("text", [*ESCAPES, *STRINGS])
@pytest.mark.parametrize(
    "form", ['{"a":"%s"}', '{"x":"%s"}', '{"%s":1}', '{"a":"x%sy1"}', '{"x":{"%s":1}}']
)
def test_strings(text: str, form: str) -> None:
    agree([(form % text).encode()])


@pytest.mark.parametrize("inserted", INSERTED)
def test_bytes_anywhere(inserted: bytes) -> None:
    text = b'{"a": ["xy", 1.5], "x": {"b": "z"}} '
    agree([text[:at] + inserted + text[at:] for at in range(len(text) + 1)])


def test_every_beginning_of_a_text() -> None:
    text = '{"a.b":[true,false,null,-1.5e+3,"\\ud83d\\ude42 é"],"x":{"y":[{}]}}'.encode()
    agree([text[:end] for end in range(len(text) + 1)], between=text[-3:])


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"a":2}', '{"a":1,"a":null}', '{"x":1,"x":2}', '{"a":{"b":1},"a":{"b":2}}',
        '{"a":{"b":1},"a":5}', '{"a.b":1,"a":{"b":2},"a.b":3}', '{"a":{"b":1,"b":2}}',
        '{"a":[{"b":1},{"b":2,"b":3}]}', '{"a":{"b":1},"a.b":2}', '{"":1,"":2}', '{"":{"":1}}',
        '{"a":{"":1},"a.":2}', '{"":{"a":1}}', '{".a":1}',
        '{"a":{"b.c":1,"b":{"c":2}},"a.b":{"c":3}}', '{"a":[[],[[]],{}]}',
        '{"a":[1,[2,[3,{"b":[4]}]]]}', '{"sensor":{"temperature.inside":1}}',
        '{"sensor.temperature":{"inside":1}}', '{"sensor":{"temperature":1,"x":{"inside":2}}}',
    ],
)  # fmt: skip
def test_keys_twice_and_paths_in_several_ways(text: str) -> None:
    agree([text.encode()])


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "\ufeff{}", "[]", "[1]", "1", '"a"', "null", "{}", "{} {}", "{}x", "{},", "{",
        "}", '{"a"}', '{"a":}', '{"a":1,}', "{,}", '{"a":[1,]}', '{"a":[,1]}', '{"a":[1 2]}',
        '{"a":1 "b":2}', '{"a":[1}', '{"a":{"b":1]}', "{a:1}", "{'a':1}", '{"a":tru}',
        '{"a":truE}', '{"a":falsy}', '{"a":nul}', '{"a":nullx}', '{"x":truex}', '{1:2}',
        '{"a":1}\x00', '\x0c{}', '{"a":\x0b1}',
        '[{"specversion":"1.0","id":"1","source":"s","type":"t","data":{"a":7}}]',
        '[{"specversion":"1.0","id":"1","source":"s","type":"t"},{"specversion":1}]',
        '{"specversion":"1.0","id":"1","source":"s","type":"t","data":{"a":7}}',
        '{"specversion":null}',
        '{"specversio\\u006e":"1.0","id":"1","source":"s","type":"t","data":{"a":7}}',
        '{"x":{"specversion":1},"a":1}', '{"a":1,"specversion":"2"}', '{"specversioX":1,"a":1}',
    ],
)  # fmt: skip
def test_what_is_no_record(text: str) -> None:
    agree([text.encode(), b'{"a":1}'])
    agree([b'{"a":1}', text.encode()], between=b"")


@pytest.mark.parametrize("depth", [60, 63, 64, 65, 100, 1_023, 1_024, 1_100])
def test_depth(depth: int) -> None:
    for open, close in (('{"a":', "}"), ("[", "]"), ('{"x":', "}")):
        agree([(f'{{"a":{open * depth}1{close * depth}}}').encode()])


def test_only_what_is_deeper_than_usual_reaches_the_plain_decoder() -> None:
    lines = [b'{"a":' * depth + b"1" + b"}" * depth for depth in (DEEPEST, DEEPEST + 1)]
    assert odd_rows(lines) == [1]


def test_a_batch_is_no_row() -> None:
    one = '{"specversion":"1.0","id":"1","source":"s","type":"t"}'
    facts = scanned([f"[{one},{one}]".encode()])
    assert facts.rejected == {0: "a batch of 2 CloudEvents; expected one event, for one row"}


def test_names_that_come_to_too_much_are_rejected_as_by_the_plain_decoder() -> None:
    key = "k" * (LONGEST_NAMES // 4_000)
    members = ",".join(f'"{number}":1' for number in range(4_100))
    for fewer in (members, members[: len(members) // 2]):
        lines = [f'{{"a":1,"{key}":{{{fewer}}}}}'.encode()]
        agree(lines)
    assert isinstance(plainly(f'{{"{key}":{{{members}}}}}'.encode(), 0), str)


TIMES = [
    "2024-03-01", "2024-02-29", "2023-02-29", "2024-02-30", "2024-04-31", "2024-01-31",
    "0000-01-01", "0001-01-01", "2024-13-01", "2024-00-01", "2024-01-00", "2024-03-01T10:30",
    "2024-03-01T10:30:00", "2024-03-01T10:30:00Z", "2024-03-01T10:30:00.123456789Z",
    "2024-03-01T10:30:00.", "2024-03-01T24:00:00", "2024-03-01T10:30:60Z", "2024-03-01T10:60:00Z",
    "2024-03-01T10:30:00+01:00", "2024-03-01T10:30:00-14:00", "2024-03-01T10:30:00+14:01",
    "2024-03-01T10:30:00+1:00", "2024-03-01T10:30:00z", "2024-03-01t10:30:00Z", "2024-03-01Z",
    "2024-03-01 10:30:00", "2024/03/01", "20240301", "yesterday", "", "2024-03-01T",
    "2024-03-01T10:30:00ZZ", "2024-03-01T10:30:00.1" + "0" * 20, "2024-03-01T10:30:00+01:60",
    " 2024-03-01", "2024-03-0１", "9999-12-30T23:59:59-13:00", "2024-03-01T10:30:00.5+01:00",
    "2024-03-01T1a:30:00",
]  # fmt: skip


@pytest.mark.parametrize("known", [["a"], ["a", "meta.time"]], ids=["unknown", "known"])
def test_times_decide_about_events(known: list[str]) -> None:
    decoding = Decoding(now=NOW, time_field="meta.time")
    values = [*map(json.dumps, TIMES), "5", "1.5", "true", "null", "[]", "{}", '["2024-03-01"]']
    values += [
        '["2024-03-01","2024-03-02"]',
        '["2024-03-01","2024-03-01"]',
        '[["x"]]',
        '"2024\\u002d03-01"',
    ]
    lines = [f'{{"a":1,"meta":{{"time":{value}}}}}'.encode() for value in values] + [b'{"a":1}']
    facts = scanned(lines, known, decoding)
    assert told_of(facts, "a") == [
        plainly(line, row, ["a"], decoding) for row, line in enumerate(lines)
    ]
    usual = [b'{"meta":{"time":"2024-03-01T10:30:00.25Z"}}', b'{"meta.time":"2024-03-01"}']
    assert odd_rows(usual, known, decoding) == []


def told_of(facts: Facts, name: str) -> list[Said]:
    """As `told`, of one attribute."""
    wanted = facts.attributes.index(name)
    keep = facts.attribute == wanted
    columns = ("event", "attribute", "kind", "word", "number")
    return told(replace(facts, **{column: getattr(facts, column)[keep] for column in columns}))


def test_closed_attributes_take_no_new_strings() -> None:
    dictionary = Dictionary(["a", "b"])
    dictionary.close(0, ["old", "é"])
    count = len(dictionary.words)
    lines = [
        f'{{"a": "{text}"}}'.encode() for text in ("old", "new", "\\u00e9", "\\n", "é", "ü", "old")
    ]
    lines.append(b'{"a": "new", "a": "newer"}')  # odd
    facts = scanned(lines, dictionary=dictionary)
    seen = [word != UNSEEN for word in facts.word]
    assert seen == [True, False, True, False, True, False, True, False]
    assert len(dictionary.words) == count
    facts = scanned([b'{"a": 12345678901234567890, "b": "new"}'], dictionary=dictionary)
    assert told(facts) == [{("a", term_of(12345678901234567890)), ("b", string("new"))}]


def test_numbers_of_words_and_attributes_stay() -> None:
    dictionary = Dictionary(["a"])
    first = scanned([b'{"a":"x"}', b'{"a":"y"}', b'{"b":"z"}'], dictionary=dictionary)
    dictionary.attribute("b")
    again = scanned(
        [b'{"b":"z","a":"y"}', b'{"a":"x"}', b'{"a":"y","a":"x"}'], dictionary=dictionary
    )
    assert again.word[1:].tolist() == [first.word[1], first.word[0], first.word[0]]
    assert told(again)[0] == {("b", string("z")), ("a", string("y"))}


def test_no_word_reaches_into_the_next_line() -> None:
    dictionary = Dictionary(["a"])
    scanned([b'{"a":"xy', b'{"a":"z"}'], between=b'"', dictionary=dictionary)
    assert string("xy") not in [term for _, term in dictionary.words]


def test_many_words_and_many_facts_make_room() -> None:
    lines = [
        json.dumps({"a": [f"{row} {index}" for index in range(100)], "b": "x" * 40 * row}).encode()
        for row in range(100)
    ]
    agree(lines, ["a", "b"])
    agree([json.dumps({"a": list(range(5_000)), "b": "é" * 100_000}).encode()], ["a", "b"])


def test_many_names_and_many_keys() -> None:
    names = [f"sensor{number}.value" for number in range(500)]
    data: dict[str, object] = {f"sensor{number}": {"value": number} for number in range(0, 600, 7)}
    data |= {f"unknown key of some length, number {number}": number for number in range(6_000)}
    agree([json.dumps(data).encode()] * 2, names)


@given(
    st.lists(st.text("ab.-/\0é", max_size=6), max_size=12),
    st.lists(st.lists(st.text("ab.-/\0é", max_size=3), min_size=1, max_size=4), max_size=12),
)
def test_any_names(names: list[str], paths: list[list[str]]) -> None:
    lines = []
    for path in [*paths, *([name] for name in names), *(name.split(".") for name in names)]:
        data: object = 1
        for key in reversed(path):
            data = {key: [data, 2]}
        lines.append(json.dumps(data, ensure_ascii=False).replace("\\u0000", "\x7f").encode())
    names = [name.replace("\0", "\x7f") for name in names]
    agree(lines, names)


def test_names_with_very_many_dots() -> None:
    name = "." * 100_000
    agree(
        [b'{"": 1, "": 2}', json.dumps({name: 1, "x": {"": 2}}).encode()], [name, "a", f"{name}a"]
    )


def test_event_at_decodes_the_whole_row() -> None:
    facts = scanned([b'{"id": "e1", "x": 1}', b'{"x": [2]}', b"{"], ["a"])
    assert facts.event_at(0).id == "e1"
    assert facts.event_at(1).id == "row 1"
    assert [fact.object for fact in facts.event_at(1).facts] == [term_of(2)]
    with pytest.raises(EventError, match="bad JSON"):
        facts.event_at(2)


@pytest.mark.parametrize(
    "kind", [bytes, bytearray, memoryview, lambda raw: np.frombuffer(raw, np.uint8)]
)
def test_any_buffer_and_any_order_of_lines(kind: Callable[[bytes], Any]) -> None:
    raw = b"".join(b'{"a":%d}' % (1_000 + row) for row in range(200))
    starts = np.arange(0, len(raw), 10)
    order = np.random.default_rng(7).permutation(200)
    for rows in (np.arange(200), order):
        facts = scan(
            kind(raw),
            starts[rows].astype(np.int32),
            starts[rows].astype(np.int32) + 10,
            Dictionary(["a"]),
            decoding=PLAIN,
            place=str,
        )
        assert facts.number.tolist() == (1_000 + rows).tolist()


def test_one_kernel_serves_all_callers() -> None:
    raw = b'{"a":"x"}' * 100
    ends = np.arange(9, 901, 9)
    for data in (raw, bytearray(raw), np.frombuffer(bytearray(raw), np.uint8)):
        for writeable in (True, False):
            bounds = ends - 9, ends.copy()
            for bound in bounds:
                bound.flags.writeable = writeable
            facts = scan(data, *bounds, Dictionary(["a"]), decoding=PLAIN, place=str)
            assert len(facts.event) == 100
    batch = pa.RecordBatch.from_pylist([{"a": "x", "b": [1, None]}, {"a": None, "b": None}])
    for some in (batch, batch.slice(1), batch.slice(0, 0)):
        facts_of(some, Dictionary(["a", "b"]), decoding=PLAIN, place=str)
    kernels: list[Any] = [scan_lines, entries_of]  # Any: as numba made them
    assert [len(kernel.signatures) for kernel in kernels] == [1, 1]


GUARDED = """
import ctypes, mmap
import numpy as np
from tests.events.telling import PLAIN, plainly, told
from sensewire.events.dictionary import Dictionary
from sensewire.events.json_scanner import scan

for last in (b'{"a": 1}', b'{"a": "1', b'{"a": 1', b"{", b'{"a":tru', b""):
    lines = [b'{"a": "%d", "x": [1.5e3, true]}' % number for number in range(40)] + [last]
    raw = b"".join(lines)
    size = (len(raw) // mmap.PAGESIZE + 2) * mmap.PAGESIZE
    pages = mmap.mmap(-1, size)
    end = size - mmap.PAGESIZE
    pages[end - len(raw) : end] = raw
    address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(address + end), mmap.PAGESIZE, 0) == 0
    data = np.frombuffer(pages, np.uint8)[end - len(raw) : end]
    ends = np.cumsum([len(line) for line in lines])
    starts = ends - [len(line) for line in lines]
    for order in (np.arange(41), np.arange(41)[::-1]):
        facts = scan(
            data,
            starts[order],
            ends[order],
            Dictionary(["a"]),
            decoding=PLAIN,
            place=lambda row: f"row {row}",
        )
        assert told(facts) == [plainly(lines[row], at, ["a"]) for at, row in enumerate(order)]
print("read")
"""


def test_nothing_is_read_behind_the_data() -> None:
    """A page that must not be read stands there: whoever does is killed."""
    outcome = subprocess.run(
        [sys.executable, "-c", GUARDED],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (outcome.returncode, outcome.stdout) == (0, "read\n"), outcome.stderr


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 1), (0, 8), (8, 8)])
def test_lines_outside_of_the_data_are_refused(start: int, end: int) -> None:
    bounds = np.array([0, start]), np.array([7, end])
    with pytest.raises(EventError, match=f"row 1 is said to be the bytes {start} to {end}, of 7"):
        scan(b'{"a":1}', *bounds, Dictionary(["a"]), decoding=PLAIN, place=str)


def test_no_lines() -> None:
    none = np.zeros(0, np.int64)
    facts = scan(b"", none, none, Dictionary(["a"]), decoding=PLAIN, place=str)
    assert len(facts) == len(facts.event) == 0
    assert told(scanned([b'{"a":1}'], [])) == [set()]


def test_the_integer_zero_has_no_sign() -> None:
    facts = scanned([b'{"a":-0}'])
    assert (facts.kind.tolist(), np.signbit(facts.number).tolist()) == ([INTEGER], [False])


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_doubles_as_python_writes_them(value: float) -> None:
    facts = scanned([f'{{"a":{value!r}}}'.encode()])
    (number,) = facts.number
    assert number == value


@given(st.integers(1, 10**19), st.integers(-330, 300))
@example(9007199254740993, 0)
@example(9007199254740993, -1)
@example(5 * (2**53 + 1), -1)
@example(2**63 + 2**10, 0)
def test_doubles_of_all_digits(decimal: int, power: int) -> None:
    text = f"{decimal}e{power}"
    agree([f'{{"a":{text}}}'.encode(), f'{{"a":-{decimal}.5e{power}}}'.encode()])


@given(st.integers(2**52, 2**53 - 1), st.integers(-20, 10))
def test_doubles_halfway_between_two(mantissa: int, shift: int) -> None:
    halfway = (
        Fraction(2 * mantissa + 1) * Fraction(2) ** shift
    )  # 2 ** 53 and more: one bit too long
    digits = halfway * 10**20
    if halfway.denominator == 1 and halfway < 10**19:
        agree([f'{{"a":{halfway.numerator}.0}}'.encode()])
    elif digits.denominator == 1:
        text = str(digits.numerator)
        agree([f'{{"a":{text[:-20]}.{text[-20:].rstrip("0") or "0"}}}'.encode()])
