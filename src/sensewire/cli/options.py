"""What options of several commands hold: their help, and how their values are read."""

import argparse
from pathlib import Path

EVENTS = (
    "files or folders of events: .jsonl .ndjson .json (records, CloudEvents), .nq .trig (an event "
    "for each named graph), .nt .ttl .rdf .jsonld .n3 (one event)"
)
SUBSCRIPTIONS = (
    'JSON lines {"id", "text", "language"?, "reading"?, "tolerance"?, "expires"?}; one that has '
    "expired is left out"
)
KNOWLEDGE = "files of synonyms, hierarchies and functions: .yaml, RDF in any syntax, WordNet's"


def place(text: str) -> Path:
    """A path, of whatever is there or will be."""
    if not text:
        raise argparse.ArgumentTypeError("expected a path, not an empty text")
    return Path(text)


def setting(text: str) -> tuple[str, str]:
    """The name and the value of a setting of Spark.

    >>> setting("spark.driver.memory=4g")
    ('spark.driver.memory', '4g')
    """
    name, equals, value = text.partition("=")
    if not equals or not name.startswith("spark."):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no setting of Spark; expected spark.NAME=VALUE"
        )
    return name, value
