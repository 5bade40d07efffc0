"""Lines of N-Quads of every form, and such as are none: for whoever reads them."""

from hypothesis import strategies as st

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

IRIS = [
    "http://x/a", "http://x/b", "http://x.org:80/a/b?c=d&e#f", "urn:isbn:1", "a:", "http://x",
    "http://x/a%20b", "http://x/é€", "http://x/\U00010000", "tag:x,2024:a", "mailto:a@b.c",
    "http://x?q#f", "file:///a/b", "http://x/\\u0061", "http://x/\\U000000e9", "a+.-1:b",
    "http://x/a;b=c,d'(e)*!$~", "http://x:/", "http://x:99999/", "http://x/a?b/c?d#e?f/g",
]  # fmt: skip
ODD_IRIS = [
    "a", "", ":a", "1a:b", "http://x/a b", "http://[::1]/", "http://[::1", "http://u@x/", "a:%zz",
    "a:%2", "http://x:80a/", "http://x/#a#b", "http://x/[", "a:|", "a:{", "a:`", "a:^", "a:\\n",
    "a:\\u0020", "a:\\u003E", "a:\\u00zz", "a:\\ud800", "a:\\U00110000", "a:\ue000", "a:?\ue000",
    "a:\ufdd0", "a:\uffff", "a:\x80", "a:\x7f", "http://x%41/", "http://é/", "a:\U000e0001",
    "a:\U0001fffe", "http://x/\\u005c", "http://x/\\\\", "a:\\u0022", "a:\\u00A0", "a:\\U0001F600",
]  # fmt: skip
LABELS = ["a", "b1", "b10", "H", "1", "a.b", "a-b", "a-", "_", "a..b", "a1b2c3d4e5f60718293a4b5c"]
ODD_LABELS = [
    "",
    "-a",
    ".a",
    "a.",
    "é",
    "aé",
    "·",
    "a·",
    "a:b",
    ":a",
    "a\u203f",
    "\U00010000",
    "a~",
]
TEXTS = [
    "", "a", "a b", "aA", "# . <http://x/g> .", "é €", "\U0001f642", "a\tb", "\x00", "\x7f", "\x01",
    "\x85", "\u2028", "\\t\\b\\n\\r\\f\\\"\\'\\\\", "a\\u0041", "a\\\\u0041", "\\U0001F642",
    "it's", "x" * 40, "1", "true", "2024-03-01", "\\u0000", "\\u000A", "\\u0022", "\\u005C",
    "\ufeff",     "\\\\\\\\", "a\\\\", "\uffff", "\\uFFFF", "\x0b\x0c\x1f",
]  # fmt: skip
ODD_TEXTS = [
    "\\a",
    "\\/",
    "\\ud800",
    "\\uD83D\\uDE42",
    "\\U00110000",
    "\\u00g0",
    "\\u00",
    "\\",
    "\r",
]
SUFFIXES = [
    "", "", "@en", "@EN", "@de-AT", "@zh-Hans", "@zh-Hans-CN", "@es-419", "@gsw",
    f"^^<{XSD}integer>", f"^^<{XSD}string>", f"^^<{XSD}double>", "^^<a:b>", f"^^<{XSD}dateTime>",
]  # fmt: skip
ODD_SUFFIXES = [
    "@e", "@en-", "@en--ltr", "@en--LTR", "@1", "@", "@en_US", "@i-klingon", "@x-a", "@abcd",
    "@en-a", "@toolonglang", "@de-1996", "@en-GB-oed", "@zh-cmn", "@en-x-a", "@en-12", "@en-1234",
    "@eW1234", "@enaLatn", "@en-abc1", "@a1", "@abcde-abc", "@en-latn-latn", "@en-us-us", "@en.",
    "@sr-Latn-419", "@en-Latn-1", "@en-Lat1-GB", "@enLatn-GB", f"^^<{RDF}langString>", "^^",
    f"^^<{RDF}dirLangString>", "^^<a>", "^^_:b", "^<a:b>", "^^ <a:b>", " ^^<a:b>", " @en",
    "^^<a:\\u0062>", f"^^<{XSD}strin\\u0067>", "^^<a:b c>",
]  # fmt: skip
ENDS = [" .", ".", "\t.", " . ", " .\t# so", " .# <http://x/g> .", " . #"]
ODD_ENDS = ["", " ..", " . .", " . x", " .\x0b", " . # é", " . # \x01", " ;", " .\r", " . #\r#"]
WHOLE = [
    "", " ", "\t", "# a comment", " # so", "\r", "\x0b", "\x0c# so", "gibberish", "\ufeff", ".",
    "VERSION", 'VERSION "1.2"', "\ufeff<a:b> <a:b> <a:b> <a:b> .", "<", "_:", "<a:b>",
    "<<( <a:b> <a:b> <a:b> )>> <a:b> <a:b> .", "<a:b> <a:b> <<( <a:b> <a:b> <a:b> )>> <a:b> .",
    "<a:b> <a:b> <a:b> <a:b> <a:b> .", "<a:b> <a:b> .", '"a" <a:b> <a:b> .', "<a:b> _:b <a:b> .",
    '<a:b> "b" <a:b> .', '<a:b> <a:b> <a:b> "g" .', "<a:b> <a:b> 'x' .", "<a:b> <a:b> 1 .",
    "<a:b> <a:b> true .", '<a:b> <a:b> """x""" .', "@prefix a: <a:> .", "<a:b> a <a:b> .",
    "<a:b><a:b><a:b><a:b>.", '_:a<a:b>"x"_:g .', "<a:b> <a:b> <a:b> . <a:b> <a:b> <a:b> .",
    "<a:b>\r<a:b> <a:b> .", "<a:b> <a:b> <a:b> .\r",
]  # fmt: skip
INSERTED = [
    *(bytes([byte]) for byte in b' \t\r\x00\x0b\x1f\x7f"\\<>_:.#@^-%[]{}|`/?1aZ'),
    *(
        b"\x80",
        b"\xc3",
        b"\xc3\xa9",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xff",
        b"\xef\xbb\xbf",
    ),
    *(b"\xc0\xaf", b"\xe2\x82\xac", b"\\u0041", b"\\n", b"%41"),
]

usual_iris = st.sampled_from(IRIS).map("<{}>".format)
usual_labels = st.sampled_from(LABELS).map("_:{}".format)
usual_literals = st.builds('"{}"{}'.format, st.sampled_from(TEXTS), st.sampled_from(SUFFIXES))
iris = st.sampled_from(ODD_IRIS).map("<{}>".format) | st.text("a:/?#[]@%é0-", max_size=9).map(
    "<{}>".format
)
labels = st.sampled_from(ODD_LABELS).map("_:{}".format)
literals = st.builds(
    '"{}"{}'.format,
    st.sampled_from([*TEXTS, *ODD_TEXTS]),
    st.sampled_from([*SUFFIXES, *ODD_SUFFIXES]),
)
blanks = st.sampled_from([" ", " ", " ", "\t", "  "])


def _line(
    subjects: st.SearchStrategy[str],
    properties: st.SearchStrategy[str],
    objects: st.SearchStrategy[str],
    graphs: st.SearchStrategy[str],
    ends: st.SearchStrategy[str],
    between: st.SearchStrategy[str],
) -> st.SearchStrategy[bytes]:
    return st.builds(
        lambda *parts: "".join(parts).encode(),
        *(st.sampled_from(["", "", " "]), subjects, between, properties, between, objects),
        *(between, graphs, ends),
    )


_nodes = usual_iris | usual_labels
usual_lines = _line(
    _nodes,
    usual_iris,
    _nodes | usual_literals,
    _nodes.map("{} ".format) | st.just(""),
    st.sampled_from(ENDS),
    blanks,
)
"""Lines that are read without pyoxigraph."""
usual_triples = _line(
    _nodes, usual_iris, _nodes | usual_literals, st.just(""), st.sampled_from(ENDS), blanks
)
"""The same of N-Triples."""
_any_nodes = usual_iris | usual_labels | iris | labels
unusual_lines = _line(
    _any_nodes,
    usual_iris | iris,
    _any_nodes | literals | usual_literals,
    _nodes | iris | labels | st.just(""),
    st.sampled_from([*ENDS, *ODD_ENDS]),
    blanks | st.sampled_from(["", "\x0b", "\u00a0"]),
)


@st.composite
def mutated_lines(draw: st.DrawFn) -> bytes:
    """Lines in which bytes were put in, left out or replaced."""
    line = draw(usual_lines)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(line)))
        left_out = draw(st.integers(0, 2))
        more = draw(st.sampled_from([b"", *INSERTED]) | st.binary(max_size=2))
        line = line[:at] + more + line[at + left_out :]
    return line.replace(b"\n", b"")


whole_lines = st.sampled_from(WHOLE).map(str.encode)
any_lines = usual_lines | unusual_lines | mutated_lines() | whole_lines
