"""From a text to its tree by the grammar, and from the parser's complaints to people's words.

The parser is built once, at the first text, in about a tenth of a second. It keeps its own stack,
so that no depth of brackets recurses; texts that nest deeper than `DEEPEST` are refused, which lets
the passes after it recurse. Cost: linear in the text.
"""

from collections.abc import Iterator
from functools import cache

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser

from sensewire.language.expected import expected_at
from sensewire.language.limits import DEEPEST, LONGEST
from sensewire.language.words import surrogate_in
from sensewire.model.errors import ParseError, UnsupportedError

# Between two brackets, at most eight symbols wait on the stack: `a or b and not 1 + 2 * (`.
_TALLEST = 8 * DEEPEST + 100
_WEIGHTS = {
    **dict.fromkeys(("group", "pattern", "call", "refused", "minus", "exactly", "calculated"), 1),
    "none_of": 2,
}


@cache
def _grammar() -> Lark:
    return Lark.open("grammar.lark", rel_to=__file__, parser="lalr", maybe_placeholders=False)


def tree_of(text: str) -> Tree[Token]:
    """The tree of a text by the grammar."""
    if len(text) > LONGEST:
        raise UnsupportedError(f"a text of {len(text):,} characters; at most {LONGEST:,}", LONGEST)
    half = surrogate_in(text)
    if half is not None:
        raise ParseError(text, half, "a character, not half of a surrogate pair")
    tokens: list[Token] = []
    parser = _grammar().parse_interactive(text)
    try:
        for token in _lexed(parser):
            tokens.append(token)
            if len(parser.parser_state.state_stack) > _TALLEST:
                raise _too_deep(_place(token))
            parser.feed_token(token)
        tree = parser.feed_eof()  # type: ignore[no-untyped-call]  # lark's
    except UnexpectedInput as error:
        raise _in_words(text, error, tokens) from None
    assert isinstance(tree, Tree)
    _check_depth(tree)
    return tree


def _lexed(parser: InteractiveParser) -> Iterator[Token]:
    """The tokens of the parser's text, each by what the parser takes where it stands."""
    tokens: Iterator[Token] = parser.lexer_thread.lex(  # type: ignore[no-untyped-call]  # lark's
        parser.parser_state
    )
    return tokens


def _in_words(text: str, error: UnexpectedInput, tokens: list[Token]) -> ParseError:
    """The parser's complaint; it is asked again what it takes there, before it saw the token."""
    position = len(text)
    match error:
        case UnexpectedCharacters():
            position = error.pos_in_stream or 0
        case UnexpectedToken() if error.token.type != "$END":
            position = _place(error.token)
    parser = _grammar().parse_interactive(text)
    for token in tokens:
        if _place(token) < position:
            parser.feed_token(token)
    accepted: set[str] = parser.accepts()  # type: ignore[no-untyped-call]  # lark's
    return ParseError(text, position, expected_at(text, position, accepted))


def _check_depth(tree: Tree[Token]) -> None:
    waiting = [(tree, 0, 0)]
    while waiting:
        node, depth, position = waiting.pop()
        depth += _WEIGHTS.get(node.data, 0)
        for child in node.children:
            if isinstance(child, Tree):
                waiting.append((child, depth, position))
            else:
                position = _place(child)
        if depth > DEEPEST:
            raise _too_deep(position)


def _too_deep(position: int) -> UnsupportedError:
    return UnsupportedError(f"brackets or `not` nested deeper than {DEEPEST}", position)


def _place(token: Token) -> int:
    assert token.start_pos is not None
    return token.start_pos
