"""Texts to subscriptions, in every language that Sensewire reads."""

from collections.abc import Callable, Mapping

from sensewire.language import gql, quick, statements
from sensewire.model.conditions import Reading
from sensewire.model.errors import SensewireError
from sensewire.model.subscription import Subscription

Reader = Callable[[str, Reading | None], Subscription]


def parse(text: str, language: str = "sensewire", reading: str | None = None) -> Subscription:
    """The subscription that a text says.

    `reading` is how constants without one of their own are read: "meaning", "exact", or None for
    what the language itself does.

    >>> parse("price <= 1600 and sports").conjunctions[0].atoms[0].condition.bound.value
    1600
    >>> parse("price <=")
    Traceback (most recent call last):
    sensewire.model.errors.ParseError: price <=
            ^ expected a value
    """
    if not isinstance(text, str):
        raise SensewireError(f"a subscription's text is a string, not a {type(text).__name__}")
    reader = _READERS.get(language)
    if reader is None:
        known = ", ".join(_READERS)
        raise SensewireError(f"no language is named {language!r}; known: {known}")
    if reading is not None and reading not in tuple(Reading):
        known = ", ".join(Reading)
        raise SensewireError(f"no reading is named {reading!r}; known: {known}")
    return reader(text, None if reading is None else Reading(reading))


def _ours(text: str, reading: Reading | None) -> Subscription:
    used = reading or Reading.MEANING
    found = quick.read(text, used)
    if found is not None:
        return found
    from sensewire.language import sensewire  # lark is imported by the first text that needs it

    return sensewire.read(text, used)


def _sparql(text: str, reading: Reading | None) -> Subscription:
    from sensewire.language import sparql

    return sparql.read(text, reading)


_READERS: Mapping[str, Reader] = {
    "sensewire": _ours,
    "sparql": _sparql,
    "gql": gql.read,
    "statements": statements.read,
}
