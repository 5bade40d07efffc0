"""JSON texts for tests: valid ones, hostile ones, and the parts that readers differ on."""

import json

from hypothesis import strategies as st

NAMES = ["a", "a.b", "a.b.c", "ab", "", ".", "a.", ".a", "b", "Zürich", "sensor.temperature.inside"]
UNKNOWN = ["x", "specversio", "a.x", "x.a", "ba", "sensor", "sensor.temperature", "b.b", "🙂", "B"]

NUMBERS = [
    "0", "-0", "-0.0", "0.0", "1e400", "-1e400", "1E+2", "1e-2", "01", "-01", "1.", ".5", "-",
    "+1", "9007199254740992", "9007199254740993", "-9007199254740993", "999999999999999999",
    "1234567890123456789", "18446744073709551615", "18446744073709551616", "9" * 59, "9" * 60,
    "1" * 61, "0" * 20, "1" + "0" * 400, "0.1", "1e-320", "5e-324", "123456789012345678e-5",
    "1e22", "1e23", "0.30000000000000004", "2.2250738585072011e-308", "1.7976931348623157e308",
    "1e308", "8.5e-5", "0.00012345678901234567", "1e0000000000000000000", "1e00000005", "1e5.5",
    "1e", "1e+", "1.5e-3", "9007199254740993.0", "9007199254740993e0", "0e999", "0.0e99999",
    "1.0000000000000001", "12345678901234567890.5", "0." + "0" * 30 + "1", "0." + "0" * 80 + "1",
    "1" + "0" * 30 + ".5", "NaN", "Infinity", "-Infinity", "1_000", "0x10", "1e281",
    "123456789012345678e290", "1e-300",
]  # fmt: skip
ESCAPES = [
    r"\u0000", r"\ud83d\ude42", r"\ud83d", r"\ude42", r"\ude42\ud83d", r"\ud83d\n", r"\"", r"\\",
    r"\n\t\r\b\f\/", r"\x", r"\u12", r"\uD83D\uDE42", r"\u00e9", r"\u0061", r"\u20AC", "\\",
    r"\u00310000", "\\u" + "0" * 21, "\\ua" + "1" * 18, "\\u0041" + "1" * 14, "1" * 25,
    "\\u0041" + "1" * 15, r"\ud83d\u0041", r"\ud83dx\ude42",
]  # fmt: skip
STRINGS = [
    "", "laptop", "seven77", "eight888", "nine99999", "é", "€uro", "🙂", "Zürich", "\x7f",
    "x" * 40, "fifteen chars é", "\ud7ff\ue000",
]  # fmt: skip
SPACES = ["", "", "", "", " ", "\t", "\r", "  \t ", "\n"]

spaces = st.sampled_from(SPACES)
keys = st.sampled_from([*NAMES, *NAMES, *UNKNOWN, "c", "temperature.inside", "temperature"])
strings = st.sampled_from(STRINGS) | st.text(max_size=20)


@st.composite
def key_texts(draw: st.DrawFn) -> str:
    if draw(st.integers(0, 30)) == 0:
        return (
            '"'
            + draw(st.sampled_from(["\\u0061", "specversion", "specversio\\u006e", "\\n"]))
            + '"'
        )
    return json.dumps(draw(keys), ensure_ascii=draw(st.integers(0, 20)) == 0)


@st.composite
def string_texts(draw: st.DrawFn) -> str:
    text = json.dumps(draw(strings), ensure_ascii=draw(st.booleans()))
    if draw(st.integers(0, 5)) == 0:
        cut = draw(st.integers(1, max(1, len(text) - 1)))
        text = text[:cut] + draw(st.sampled_from(ESCAPES)) + text[cut:]
    return text


scalars = st.one_of(
    string_texts(),
    string_texts(),
    st.sampled_from([*NUMBERS[:3], "12", "-7", "19.99", "null", "true", "false"]),
    st.integers().map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
)


def lists(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    item = st.tuples(spaces, values, spaces).map("".join)
    return st.tuples(spaces, st.lists(item, max_size=4).map(",".join)).map(
        lambda parts: f"[{parts[0]}{parts[1]}]"
    )


def objects(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    member = st.tuples(spaces, key_texts(), spaces, st.just(":"), spaces, values, spaces)
    inside = st.lists(member.map("".join), max_size=6).map(",".join)
    return st.tuples(spaces, inside).map(lambda parts: "{" + parts[0] + parts[1] + "}")


values = st.recursive(scalars, lambda inner: lists(inner) | objects(inner), max_leaves=12)
texts = st.tuples(spaces, objects(values), spaces).map(lambda parts: "".join(parts).encode())
INSERTED = [
    b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b" ", b"\x0c", b"\x00", b"\xef\xbb\xbf",
    b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe0\x80\x80",
    b"\xf0\x8f\xbf\xbf", b"\xc3", b"\xc3\xa9", b"\xe2\x82\xac", b"\xf0\x9f\x99\x82", b"1", b"-",
    b".", b"e", b"true", b"null", b"//", b"\xc1\x80", b"\xf5\x80\x80\x80", b"\xe2\x82",
    b"\xf0\x9f\x99", b"\x80", b"\x1f", b"\x7f",
]  # fmt: skip


@st.composite
def hostile_texts(draw: st.DrawFn) -> bytes:
    """A JSON text with some of its bytes flipped, cut off, doubled or moved in."""
    text = bytearray(draw(texts))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        match draw(st.integers(0, 4)):
            case 0:
                text[at:at] = draw(st.sampled_from(INSERTED))
            case 1 if at < len(text):
                text[at] ^= 1 << draw(st.integers(0, 7))
            case 2:
                del text[at:]
            case 3:
                del text[at : at + draw(st.integers(1, 4))]
            case _:
                text[at:at] = text[at : at + draw(st.integers(1, 12))]
    return bytes(text)
