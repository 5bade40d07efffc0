"""XML as events: what a document says, by the rules; what hostile ones cost.

The standard library's ElementTree is the judge of which elements, attributes and texts there are.
Faults that were planted and caught: a leaf's dotted path without its first step; a single step
added twice; an attribute's namespace dropped; a nil element kept; text behind a child lost; the
DOCTYPE not refused; the depth not bounded; the names of the paths not counted.
"""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensewire.engine import Engine
from sensewire.events.decode import decode
from sensewire.events.decoding import Decoded, Decoding, Outcome, Rejected
from sensewire.events.files import held_slice, listing, slices
from sensewire.events.kinds import Kind
from sensewire.events.xml import RDF_VALUE, document_facts
from sensewire.language.parse import parse
from sensewire.model.terms import HOME, RDF_TYPE, language_string, untyped
from sensewire.model.terms import Kind as TermKind

PLAIN = Decoding(now=datetime(2024, 3, 1, tzinfo=UTC))
ORDER = b"""<?xml version="1.0"?>
<!-- an order -->
<order xmlns="http://shop.org/ns" xmlns:x="http://x.org/" n="7" x:unit="kg" xml:base="http://b/">
  <?print this?>
  <customer><name>Ann</name><address kind="home"><city>Toronto</city></address></customer>
  <price currency="EUR"> 5 </price>
  <note xml:lang="de">rot</note>
  <note><![CDATA[<5]]></note>
  <empty/><blank>  </blank>
  <gone xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:nil="true"><a>1</a></gone>
</order>"""


def read(data: bytes, name: str = "e.xml", decoding: Decoding = PLAIN) -> Outcome:
    (found,) = decode(held_slice(data, Kind.XML, name), decoding)
    return found


def reason(data: bytes, decoding: Decoding = PLAIN) -> str:
    found = read(data, decoding=decoding)
    assert isinstance(found, Rejected)
    return f"{found.place}: {found.reason}"


def said(data: bytes) -> list[str]:
    """The facts, shortly."""
    return [
        " ".join(
            str(term).replace("http://www.w3.org/1999/02/22-rdf-syntax-ns#", "rdf:")
            for term in fact
        )
        for fact in document_facts(data)
    ]


def test_elements_and_attributes_are_facts() -> None:
    assert said(ORDER) == [
        "_:H <rdf:type> <http://shop.org/ns#order>",
        '_:H "n" "7"',
        '_:H <http://x.org/unit> "kg"',
        "_:H <http://shop.org/ns#customer> _:b1",
        '_:b1 <http://shop.org/ns#name> "Ann"',
        '_:H "customer.name" "Ann"',
        "_:b1 <http://shop.org/ns#address> _:b2",
        '_:b2 "kind" "home"',
        '_:H "customer.address.kind" "home"',
        '_:b2 <http://shop.org/ns#city> "Toronto"',
        '_:H "customer.address.city" "Toronto"',
        "_:H <http://shop.org/ns#price> _:b3",
        '_:b3 <rdf:value> "5"',
        '_:H "price" "5"',
        '_:b3 "currency" "EUR"',
        '_:H "price.currency" "EUR"',
        '_:H <http://shop.org/ns#note> "rot"@de',
        '_:H <http://shop.org/ns#note> "<5"',
    ]


def test_names_without_a_namespace_are_those_of_records() -> None:
    assert said(b"<a b=''><c>1</c><c d='2'/>x<e/> y </a>") == [
        '_:H <rdf:type> "a"',
        '_:H <rdf:value> "x y"',
        '_:H "c" "1"',
        '_:H "c" _:b1',
        '_:b1 "d" "2"',
        '_:H "c.d" "2"',
    ]
    assert said(b"<a> 1 </a>") == ['_:H <rdf:type> "a"', '_:H <rdf:value> "1"']


@pytest.mark.parametrize("end", ["#", "/", ":", "?", "="])
def test_a_namespace_that_ends_is_not_ended_again(end: str) -> None:
    assert said(f"<a xmlns='urn:x{end}'/>".encode()) == [f"_:H <rdf:type> <urn:x{end}a>"]


@pytest.mark.parametrize(
    "text",
    [
        "customer.address.city = Toronto",
        "(home, customer, ?c) and (?c, address, ?a) and (?a, city, Toronto)",
        "price < 6 and price.currency = EUR",
        'note = "rot"@de and note prefix "<" and not gone exists and not empty exists',
        "n = 7 and unit = kg",
        "?x is a order and (?x, n, 7)",
        "exactly <http://x.org/unit> = kg",
    ],
)
def test_subscriptions_that_it_meets(text: str) -> None:
    found = read(ORDER)
    assert isinstance(found, Decoded)
    engine = Engine()
    engine.add(parse(text), id="s")
    assert [match.subscription for match in engine.match(found.event)] == ["s"]


def test_a_document_is_one_event_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "day").mkdir()
    (tmp_path / "day/e.xml").write_bytes(b"<a><seen>2024-02-01</seen></a>")
    (file,) = listing([tmp_path]).files
    timed = Decoding(now=PLAIN.now, time_field="seen")
    (found,) = decode(slices(file, 1)[0], timed)
    assert isinstance(found, Decoded)
    assert (found.event.id, found.event.home, found.place) == (
        "day/e.xml",
        HOME,
        f"{tmp_path}/day/e.xml:1",
    )
    assert (found.event.time, found.raw) == (datetime(2024, 2, 1, tzinfo=UTC), found.raw)
    assert "'soon' is no date" in reason(b"<a><seen>soon</seen></a>", timed)


names = st.sampled_from(["a", "b", "{urn:n#}a"])
texts = st.text(st.sampled_from("x1 <&é\n"), max_size=4)


@st.composite
def elements(draw: st.DrawFn, depth: int = 3) -> ElementTree.Element:
    element = ElementTree.Element(draw(names), draw(st.dictionaries(names, texts, max_size=2)))
    element.text = draw(texts)
    for _ in range(draw(st.integers(0, 2)) if depth else 0):
        child = draw(elements(depth - 1))
        child.tail = draw(texts)
        element.append(child)
    return element


@given(root=elements())
def test_every_leaf_is_an_attribute_of_the_home_vertex(root: ElementTree.Element) -> None:
    data = ElementTree.tostring(root)
    root = ElementTree.fromstring(data)  # with line ends as a reader sees them
    facts = document_facts(data)
    ours = [fact for fact in facts if fact.property not in (RDF_TYPE, RDF_VALUE)]
    assert {
        (fact.property.text.removeprefix("urn:n#"), fact.object.text)
        for fact in ours
        if fact.subject == HOME and fact.object.kind is not TermKind.BLANK
    } == set(leaves(root, ""))
    assert len({fact.object for fact in facts if fact.object.kind is TermKind.BLANK}) == sum(
        map(is_vertex, list(root.iter())[1:])
    )
    values = [fact.object.text for fact in facts if fact.property == RDF_VALUE]
    assert values == [text for text in map(own_text, vertices(root)) if text]


def leaves(element: ElementTree.Element, path: str) -> Iterator[tuple[str, str]]:
    """What a document says, by dotted paths."""
    if path and is_vertex(element) and own_text(element):
        yield path[1:], own_text(element)
    for name, value in element.attrib.items():
        if value:
            yield f"{path}.{local(name)}"[1:], value
    for child in element:
        below = f"{path}.{local(child.tag)}"
        if is_vertex(child):
            yield from leaves(child, below)
        elif own_text(child):
            yield below[1:], own_text(child)


def vertices(root: ElementTree.Element) -> list[ElementTree.Element]:
    return [element for element in root.iter() if element is root or is_vertex(element)]


def own_text(element: ElementTree.Element) -> str:
    return "".join((element.text or "", *(child.tail or "" for child in element))).strip()


def local(name: str) -> str:
    return name.rpartition("}")[2]


def is_vertex(element: ElementTree.Element) -> bool:
    return bool(len(element) or element.attrib)


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [
        *(("utf-8", "UTF-8"), ("utf-8-sig", "utf-8"), ("utf-16", "UTF-16"), ("utf-8", "utf-16")),
        *(("latin-1", "ISO-8859-1"), ("cp1252", "windows-1252"), ("shift_jis", "Shift_JIS")),
        *(("utf-16-le", "UTF-16LE"), ("gb18030", "GB18030"), ("koi8-r", "KOI8-R")),
    ],
)
def test_encodings_are_those_that_a_document_declares(encoding: str, declared: str) -> None:
    text = {"koi8-r": "да", "shift_jis": "日本", "gb18030": "日本"}.get(encoding, "é")
    data = f"<?xml version='1.0' encoding='{declared}'?><a><b>{text}</b></a>".encode(encoding)
    assert document_facts(data)[1].object == untyped(text)


def test_a_language_counts_where_it_stands() -> None:
    _, first, second = document_facts(b"<a xml:lang='de'><b xml:lang='EN-us'>x</b><c>5</c></a>")
    assert (first.object, second.object) == (language_string("x", "en-us"), untyped("5"))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "e.xml:1: broken XML at line 1, column 1: no element found"),
        (b"<a>\n<b></a>", "e.xml:2: broken XML at line 2, column 6: mismatched tag"),
        (b"<a>\n \xff</a>", "e.xml:2: not utf-8: the byte 0xff cannot be read"),
        (b"<a>\0</a>", "e.xml:1: broken XML at line 1, column 4: not well-formed (invalid token)"),
        (b"<a/><b/>", "e.xml:1: broken XML at line 1, column 5: junk after document element"),
        (b"<p:a/>", "e.xml:1: broken XML at line 1, column 1: unbound prefix"),
        (b"<?xml version='1.0' encoding='zlib'?><a/>", "e.xml:1: the encoding 'zlib' is not known"),
        (b"<?xml version='1.0' encoding='unicode_escape'?><a/>", "'unicode_escape' is not known"),
        (b"<a>&b;</a>", "e.xml:1: broken XML at line 1, column 4: undefined entity"),
    ],
)
def test_what_is_broken_is_rejected_with_its_place(data: bytes, expected: str) -> None:
    assert expected in reason(data)


LAUGHS = b"".join(
    b'<!ENTITY %c "%s">' % (letter + 1, b"&%c;" % letter * 10) for letter in range(97, 106)
)
DTD = "XML with a DTD is refused: write entities out and drop the DOCTYPE"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'<!DOCTYPE r [<!ENTITY a "lol">%s]><r>&j;</r>' % LAUGHS, DTD),
        (b'<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><r>&a;</r>', DTD),
        (b'<!DOCTYPE r SYSTEM "http://127.0.0.1:9/x.dtd"><r/>', DTD),
        (b'<!DOCTYPE r [<!ENTITY %% a SYSTEM "file:///x">%%a;]><r/>', DTD),
        (b'<!DOCTYPE r [<!ENTITY a "%s">]><r>%s</r>' % (b"x" * 99_999, b"&a;" * 99_999), DTD),
        (b"<a>" * 100_000 + b"</a>" * 100_000, "nested deeper than 200 levels"),
        (
            b"".join(b"<a%s>" % (b"x" * 20_000) for _ in range(99)) + b"<b c='1'/>" * 99
            + b"".join(b"</a%s>" % (b"x" * 20_000) for _ in range(99)),
            "names come to over 67,108,864 characters",
        ),
    ],
)  # fmt: skip
def test_what_is_hostile_costs_little(data: bytes, expected: str) -> None:
    begun = time.process_time()
    assert expected in reason(data)
    assert time.process_time() - begun < 5


@pytest.mark.long
def test_facts_are_bounded() -> None:
    large = Decoding(now=PLAIN.now, longest=2**26)
    for data in (
        b"<a>" + b"<b/>" * 1_000_001 + b"</a>",
        b"<a " + b"".join(b'a%d="1" ' % number for number in range(1_000_001)) + b"/>",
    ):
        assert "more than 1,000,000 elements and attributes" in reason(data, large)
    data = b"<a>" + b"<b><c d='1'>2</c></b>" * 210_000 + b"</a>"
    assert "more than 1,000,000 facts" in reason(data)


def test_a_document_that_is_too_long_is_rejected() -> None:
    short = Decoding(now=PLAIN.now, longest=50)
    found = read(b"<a>" + b"x" * 60 + b"</a>", decoding=short)
    assert isinstance(found, Rejected)
    assert "longer than 50 bytes" in found.reason


RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="%s">%s</rdf:RDF>'


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<a/>", Kind.XML),
        ("", Kind.XML),
        ("no XML", Kind.XML),
        ("<!DOCTYPE rss><rss/>", Kind.XML),
        ("<rss/>", Kind.FEED),
        ("<?xml version='1.0'?><!-- x --><rss>", Kind.FEED),
        ("<feed/>", Kind.XML),
        ("<feed xmlns='http://www.w3.org/2005/Atom'/>", Kind.FEED),
        ("<entry xmlns='http://www.w3.org/2005/Atom'/>", Kind.FEED),
        ("<Channel xmlns='http://purl.org/net/rss1.1#'/>", Kind.FEED),
        ("<Channel/>", Kind.XML),
        (RDF % ("urn:", ""), Kind.DOCUMENT),
        (RDF % ("urn:", "<a><item/></a>"), Kind.DOCUMENT),
        (RDF % ("http://purl.org/rss/1.0/", "<channel/>"), Kind.FEED),
        (RDF % ("http://purl.org/rss/1.0/", "<rdf:Description/><item/>"), Kind.FEED),
        (RDF % ("http://my.netscape.com/rdf/simple/0.9/", "<item/>"), Kind.FEED),
    ],
)
def test_xml_is_looked_into(tmp_path: Path, text: str, kind: Kind) -> None:
    (tmp_path / "e.xml").write_text(text)
    (file,) = listing([tmp_path]).files
    assert file.kind is kind
    assert held_slice(text.encode("utf-16"), Kind.XML, "e.xml").file.kind is kind


def test_rdf_that_is_called_xml_is_an_rdf_document() -> None:
    about = '<rdf:Description rdf:about="urn:s"><what>bread</what></rdf:Description>'
    found = read((RDF % ("urn:", about)).encode())
    assert isinstance(found, Decoded)
    assert [str(fact.property) for fact in found.event.facts] == ["<urn:what>"]
    assert RDF_TYPE not in {fact.property for fact in found.event.facts}
