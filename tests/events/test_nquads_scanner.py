"""The scanner of N-Triples and N-Quads says what pyoxigraph says, or leaves a line to it.

Faults that were planted and caught: a language tag whose first hyphen is not looked for;
rdf:dirLangString as a datatype; a backslash that is not escaped in canonical tokens; two # in an
IRI; an IRI with a noncharacter; a label that is taken for the one before, which it begins with; a
carriage return in a string; names that bad lines have for their graphs, taken for tokens.
"""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensewire.events.lines import Line, without_end
from sensewire.events.nquads_scanner import Scanned, Scanner
from sensewire.events.nquads_statements import DEFAULT, scan_statements
from sensewire.events.rdf import said_by
from sensewire.events.scanning import PADDING
from sensewire.model import rdf
from sensewire.model.errors import EventError
from sensewire.model.terms import Term, iri
from tests.events.nquads_texts import (
    INSERTED,
    IRIS,
    ODD_IRIS,
    ODD_SUFFIXES,
    ODD_TEXTS,
    SUFFIXES,
    TEXTS,
    WHOLE,
    XSD,
    any_lines,
    usual_lines,
)
from tests.events.telling import PLAIN

Said = tuple[Term, Term, Term, Term | None] | None


def scanned(lines: Sequence[bytes], scanner: Scanner, end: bytes = b"\n") -> Scanned:
    data = b"".join(line + end for line in lines)
    return scanner.scan(bytearray(data + bytes(PADDING)), len(data), PLAIN.longest)


def told(found: Scanned, count: int) -> list[Said | str]:
    """What the scanner says of each line; "odd" where it says nothing."""
    said: list[Said | str] = [None] * count
    for row in range(found.rows):
        graph = int(found.statements.graph[row])
        name = None if graph == DEFAULT else found.dictionary.term(graph) if graph >= 0 else None
        line = int(found.statements.number[row])
        said[line] = (*found.fact(row), name) if graph >= DEFAULT else "odd"
    return said


def plainly(line: bytes, format: str) -> Said | str:
    """What pyoxigraph says of a line; None of one that says nothing, a comment of any bytes too."""
    if not line.strip() or line.lstrip().startswith(b"#"):
        return None
    if format == "nq":
        said = said_by(Line(1, without_end(line + b"\n")), PLAIN)
        if said is None:
            return None
        return str(said.problem) if said.fact is None else (*said.fact, said.graph)
    try:
        statements = list(rdf.quads(line, format))
    except EventError as error:
        return str(error)
    if len(statements) > 1:
        return "several"
    return (*statements[0][1], None) if statements else None


def agree(lines: Sequence[bytes], *, end: bytes = b"\n", scanners: Sequence[Scanner] = ()) -> None:
    for format, scanner in zip(("nq", "nt"), scanners or made(), strict=True):
        found = told(scanned(lines, scanner, end), len(lines))
        for line, said in zip(lines, found, strict=True):
            if said != "odd":
                assert said == plainly(line, format), line


def made() -> tuple[Scanner, Scanner]:
    return Scanner(), Scanner(has_graphs=False)


@given(st.lists(any_lines, min_size=1, max_size=25), st.sampled_from([b"\n", b"\r\n"]))
def test_any_lines(lines: list[bytes], end: bytes) -> None:
    agree(lines, end=end)


@pytest.mark.long
@settings(max_examples=3_000)
@given(st.lists(any_lines, min_size=1, max_size=25), st.sampled_from([b"\n", b"\r\n"]))
def test_very_many_lines(lines: list[bytes], end: bytes) -> None:
    agree(lines, end=end)


@given(st.lists(usual_lines, min_size=1, max_size=25))
def test_usual_lines_are_not_odd(lines: list[bytes]) -> None:
    assert "odd" not in told(scanned(lines, Scanner()), len(lines))


BASES = [
    b"<http://x/a> <http://x:8/p?q#f> <urn:%41> <http://x/g> .",
    '_:a1 <http://x/p> "a\\u0041 é\\n"@en-GB _:g.1 . # so'.encode(),
    b'<a:b> <a:c> "1"^^<http://www.w3.org/2001/XMLSchema#string> .',
    b"<a:b><a:c><a:d><a:e>.",
]


@pytest.mark.parametrize("base", BASES)
def test_bytes_put_in_and_left_out_anywhere(base: bytes) -> None:
    lines = [base, *(base[:at] + base[at + 1 :] for at in range(len(base)))]
    for at in range(len(base) + 1):
        lines += [base[:at] + more + base[at:] for more in INSERTED]
        lines += [base[:at] + more + base[at + 1 :] for more in INSERTED]
    agree([line for line in lines if b"\n" not in line])


def test_every_byte_in_every_token() -> None:
    forms = [b"<a:%sb> <a:b> <a:b> .", b"<a%s:b> <a:b> <a:b> .", b"<a://b%s/c> <a:b> <a:b> ."]
    forms += [b'<a:b> <a:b> "%sc" .', b'<a:b> <a:b> "\\%sc" .', b'<a:b> <a:b> "c"@e%sn .']
    forms += [b"<a:b> <a:b> _:%sc .", b"<a:b> <a:b> _:c%sd .", b"<a:b> <a:b> _:c%s ."]
    forms += [b"<a:b>%s<a:b> <a:b> .", b"<a:b> <a:b> <a:b> .%s", b"<a:b> <a:b> <a:b> . #%s"]
    every = [bytes([byte]) for byte in range(256) if byte != 10]
    agree([form % byte for form in forms for byte in every])


@pytest.mark.parametrize("iri", [*IRIS, *ODD_IRIS])
def test_iris(iri: str) -> None:
    forms = ["<{}> <a:b> <a:b> .", "<a:b> <{}> <a:b> .", '<a:b> <a:b> "x"^^<{}> .']
    agree([form.format(iri).encode() for form in [*forms, "<a:b> <a:b> <{0}> <{0}> ."]])


@pytest.mark.parametrize("suffix", [*SUFFIXES, *ODD_SUFFIXES])
def test_literals(suffix: str) -> None:
    agree([f'<a:b> <a:b> "{text}"{suffix} <a:g> .'.encode() for text in (*TEXTS, *ODD_TEXTS)])


def test_other_lines() -> None:
    agree([line.encode() for line in WHOLE])
    for line in WHOLE:
        agree([BASES[0], line.encode(), BASES[0]])


CODE_POINTS = [
    *(0x7F, 0x80, 0x9F, 0xA0, 0x2FF, 0x300, 0xD7FF, 0xE000, 0xF8FF, 0xF900, 0xFDCF, 0xFDD0, 0xFDEF),
    *(0xFDF0, 0xFFEF, 0xFFF0, 0xFFFD, 0xFFFE, 0x10000, 0x1FFFD, 0x1FFFE, 0x20000, 0xDFFFD, 0xDFFFE),
    *(0xE0000, 0xE0FFF, 0xE1000, 0xEFFFD, 0xF0000, 0x10FFFD, 0x10FFFF),
]


@pytest.mark.parametrize("code", CODE_POINTS)
def test_characters_beyond_ascii(code: int) -> None:
    forms = [
        "<a:{}> <a:b> <a:b> .",
        "<a:?{}> <a:b> <a:b> .",
        '<a:b> <a:b> "{}" .',
        "_:a{} <a:b> <a:b> .",
    ]
    for character in (chr(code), f"\\U{code:08x}", f"\\u{code:04X}"):
        agree([form.format(character).encode() for form in forms])


def objects(*written: str) -> list[int]:
    """The codes of objects, written one after another."""
    found = scanned([f"<a:b> <a:b> {value} .".encode() for value in written], Scanner())
    assert found.odd_rows() == []
    return [int(code) for code in found.statements.object[: found.rows]]


@pytest.mark.parametrize(
    "same",
    [
        [
            '"aA"',
            '"a\\u0041"',
            '"\\U00000061A"',
            f'"aA"^^<{XSD}string>',
            f'"a\\u0041"^^<{XSD}string>',
        ],
        ['"x"@de-at', '"x"@DE-AT', '"\\u0078"@de-AT'],
        ['"\\n\\"\\\\"', '"\\u000a\\u0022\\u005C"', '"\\n\\u0022\\\\"'],
        ['"\t\'"', '"\\t\\\'"', '"\\u0009\\u0027"'],
        ["<http://x/é>", "<http://x/\\u00e9>", "<http://x/\\U000000E9>"],
    ],
)
def test_equal_terms_have_one_code(same: list[str]) -> None:
    for order in (same, same[::-1]):
        assert len(set(objects(*order, *order))) == 1


def test_different_terms_have_different_codes() -> None:
    different = [
        '"a"',
        '"a"@en',
        '"a"@de',
        '"a"^^<a:b>',
        "<a:a>",
        "_:a",
        '"a\\u0041"',
        '"a\\\\u0041"',
    ]
    different += [
        '"\\"@en"',
        '"\\\\"@en',
        '"n"',
        '"\\n"',
        '"\\\\n"',
        '"_:a"',
        '"<a:a>"',
        '""',
        '"\\""',
    ]
    assert len(set(objects(*different))) == len(different)


def test_tokens_that_begin_as_the_ones_before() -> None:
    nodes = ["_:b1", "_:b10", "_:b1", "_:b", "<a:b>", "<a:bc>", "<a:b>", "_:b1.", "_:b1"]
    agree([f"{node} <a:p> <a:o> {node} .".encode() for node in nodes])
    agree([f"{node} <a:p> <a:o> {node}.".encode() for node in nodes])


def test_a_name_that_is_no_iri_stays_none() -> None:
    scanner = Scanner()
    found = scanned([b"<a:b> <a:b> <a:b> ."], scanner)
    for name in (iri("_a:b"), iri("a b"), iri("http://x/%zz")):
        assert found.dictionary.term(found.dictionary.code(name)) == name
        assert scanned([f"<a:b> <a:b> <{name.text}> .".encode()], scanner).odd_rows() == [0]


def test_many_terms_and_many_lines_make_room() -> None:
    lines = [f'<a:{row}> <a:p{row}> "{row}\\n" <a:g{row}> .'.encode() for row in range(12_000)]
    lines.append(b'<a:b> <a:b> "' + b"x\\u0041" * 100_000 + b'" .')
    scanner = Scanner()
    found = scanned(lines, scanner)
    assert found.dictionary.is_full
    rows = [0, 1, 6_000, 11_999, 12_000]
    assert [(*found.fact(row),) for row in rows] == [plainly(lines[row], "nq")[:3] for row in rows]  # type: ignore[index]
    again = scanned(lines[:3], scanner)
    assert again.dictionary is not found.dictionary
    assert [again.fact(row) for row in range(3)] == [found.fact(row) for row in range(3)]


def test_short_lines_without_end() -> None:
    agree([b"x"] * 3_000)
    agree([b"<a:><a:><a:>."] * 3_000)


def test_lines_that_are_too_long_are_odd() -> None:
    line = b"<a:b> <a:b> <a:b> ."
    data = bytearray((line + b"\r\n") * 2 + bytes(PADDING))
    for longest, odd in ((len(line), []), (len(line) - 1, [0, 1])):
        assert Scanner().scan(data, 2 * len(line) + 4, longest).odd_rows() == odd


@pytest.mark.parametrize("stop", [5, 1_000, 2**31])
def test_what_is_no_lines_is_refused(stop: int) -> None:
    with pytest.raises(ValueError, match="bytes are no lines"):
        Scanner().scan(bytearray(b"<a:b>\n" + bytes(PADDING)), stop)


def test_properties_are_asked_about_once() -> None:
    asked: list[str] = []

    def kept(property: str) -> bool:
        asked.append(property)
        return not property.endswith("1")

    scanner = Scanner(kept)
    lines = [f"<a:b> <a:p{row % 700}> <a:b> .".encode() for row in range(2_000)]
    for _ in range(2):
        found = scanned(lines, scanner)
        is_kept = scanner.is_kept(found, found.statements.property[: found.rows])
        assert is_kept is not None
        assert is_kept.tolist() == [row % 700 % 10 != 1 for row in range(2_000)]
    assert asked == [f"a:p{row}" for row in range(700)]


def test_one_kernel_serves_all_callers() -> None:
    agree(BASES)
    kernel: Any = scan_statements  # Any: as numba made it
    assert len(kernel.signatures) == 1
