"""A subscription as a line of JSON states it.

{"id": "anna", "text": "price < 900", "language"?, "reading"?, "tolerance"?, "expires"?}
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import get_close_matches
from typing import Any

from sensewire.events.records import read_json
from sensewire.language.parse import parse
from sensewire.model.errors import SubscriptionError
from sensewire.model.event import moment
from sensewire.model.subscription import Subscription

_KEYS = ("id", "text", "language", "reading", "tolerance", "expires")
_OF_TEXT = ("id", "text", "language", "reading", "expires")


@dataclass(frozen=True, slots=True)
class Stated:
    """A subscription as a line states it."""

    id: str
    subscription: Subscription
    expires: datetime | None


def stated_on(line: bytes) -> Stated:
    """The subscription that a line of JSON states."""
    return stated_in(read_json(line))


def stated_in(data: Any) -> Stated:
    """The subscription that a JSON object states.

    >>> stated_in({"id": "anna", "text": "price < 900", "expires": "2024-03-01"}).expires.year
    2024
    """
    if not isinstance(data, Mapping):
        raise SubscriptionError('a subscription is an object: {"id": …, "text": …}')
    _check_keys(data)
    subscription = parse(
        data["text"], data.get("language") or "sensewire", reading=data.get("reading")
    )
    expires = data.get("expires")
    return Stated(
        data["id"],
        _with_tolerance(subscription, data.get("tolerance")),
        None if expires is None else moment(expires),
    )


def _check_keys(data: Mapping[str, Any]) -> None:
    for key in data:
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, n=1, cutoff=0.0)[0]
            raise SubscriptionError(f"there is no key {key!r}; did you mean {near!r}?")
    for key in ("id", "text"):
        if data.get(key) in (None, ""):
            raise SubscriptionError(f"the key {key!r} is missing or empty")
    for key in _OF_TEXT:
        if not isinstance(data.get(key), str | None):
            raise SubscriptionError(f"{key!r} holds a string, not {data[key]!r}")


def _with_tolerance(subscription: Subscription, tolerance: Any) -> Subscription:
    if tolerance is None:
        return subscription
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float):
        raise SubscriptionError(f"'tolerance' holds a number above 0, not {tolerance!r}")
    if subscription.tolerance not in (None, tolerance):
        raise SubscriptionError(
            f"'tolerance' is {tolerance:g}, but the text says within {subscription.tolerance:g}; "
            "say it once"
        )
    return replace(subscription, tolerance=float(tolerance))
