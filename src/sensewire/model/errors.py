"""The errors that Sensewire raises: one root; each says what was wrong, where, what is right."""


class SensewireError(Exception):
    """The root of every error that Sensewire raises on purpose."""


class ParseError(SensewireError):
    """A subscription's text that the grammar does not take; `str()` draws a caret under the place.

    >>> print(ParseError("price <=", 8, "a value"))
    price <=
            ^ expected a value
    """

    def __init__(self, text: str, position: int, expected: str) -> None:
        self.text = text
        self.position = position
        self.expected = expected
        super().__init__(text, position, expected)

    def __str__(self) -> str:
        return pointed_at(self.text, self.position, f"expected {self.expected}")


class UnsupportedError(SensewireError):
    """Something well formed that Sensewire does not take, with its 0-based offset in the text."""

    def __init__(self, what: str, position: int) -> None:
        self.what = what
        self.position = position
        super().__init__(what, position)

    def __str__(self) -> str:
        return f"not supported: {self.what} (at character {self.position})"


class KnowledgeError(SensewireError):
    """Knowledge that cannot be loaded."""


class SubscriptionError(SensewireError):
    """A subscription that the engine cannot take, or an id that it does not know."""


class EventError(SensewireError):
    """An event that cannot be decoded, or that breaks a rule of the model."""


class IndexFolderError(SensewireError):
    """A saved index that cannot be opened."""


def pointed_at(text: str, position: int, message: str, width: int = 100) -> str:
    """Draw the line of `text` that holds `position`, a caret under the place, and the message."""
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    line = text[start : end if end >= 0 else len(text)].replace("\t", " ")
    column = position - start
    if len(line) > width:
        left = max(0, column - width // 2)
        line = ("…" if left else "") + line[left : left + width] + "…"
        column = column - left + (1 if left else 0)
    where = f"line {text.count(chr(10), 0, position) + 1}:\n" if "\n" in text else ""
    return f"{where}{line}\n{' ' * column}^ {message}"
