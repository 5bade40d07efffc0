"""The dates of feeds as texts that compare as dates: RFC 822, as RSS has them, and ISO.

Without a zone a time is in UTC, as everywhere. What is no date gives none.
"""

import re
from email.utils import parsedate_to_datetime

from sensewire.model.errors import EventError
from sensewire.model.event import moment
from sensewire.model.terms import term_of

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def iso_date(text: str) -> str | None:
    """A date as ISO writes it, with its zone unless it is a day.

    >>> iso_date("Wed, 02 Oct 2002 13:00:00 EST"), iso_date("2002-10-02"), iso_date("soon")
    ('2002-10-02T13:00:00-05:00', '2002-10-02', None)
    """
    try:
        found = moment(text)
        if _DAY.fullmatch(text):
            return text
        # As it was written where it has a zone, for a zone is part of what was said.
        return text if _has_seconds_and_zone(text) else term_of(found).text
    except EventError:
        return _from_mail(text)


def _has_seconds_and_zone(text: str) -> bool:
    return text[16:17] == ":" and re.search(r"(Z|[+-]\d\d:\d\d)$", text) is not None


def _from_mail(text: str) -> str | None:
    try:
        found = parsedate_to_datetime(text)
        made = found if found.tzinfo is not None else moment(found.isoformat())
        return term_of(moment(made)).text
    except (ValueError, TypeError, IndexError, OverflowError, EventError):
        return None
