"""Sensewire: publish/subscribe by meaning. The names that a user types, loaded when first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sensewire.engine import Engine as Engine
    from sensewire.knowledge.knowledge import Knowledge as Knowledge
    from sensewire.language.parse import parse as parse
    from sensewire.language.unparse import unparse as unparse
    from sensewire.model.errors import EventError as EventError
    from sensewire.model.errors import IndexFolderError as IndexFolderError
    from sensewire.model.errors import KnowledgeError as KnowledgeError
    from sensewire.model.errors import ParseError as ParseError
    from sensewire.model.errors import SensewireError as SensewireError
    from sensewire.model.errors import SubscriptionError as SubscriptionError
    from sensewire.model.errors import UnsupportedError as UnsupportedError
    from sensewire.model.event import Event as Event
    from sensewire.model.learned import Learned as Learned
    from sensewire.model.learned import load_learned as load_learned
    from sensewire.model.terms import Term as Term

__version__ = "0.1.0"

_PLACES = {
    "Engine": "sensewire.engine",
    "Event": "sensewire.model.event",
    "Knowledge": "sensewire.knowledge.knowledge",
    "Learned": "sensewire.model.learned",
    "Term": "sensewire.model.terms",
    "load_learned": "sensewire.model.learned",
    "parse": "sensewire.language.parse",
    "unparse": "sensewire.language.unparse",
    **dict.fromkeys(
        (
            "EventError",
            "IndexFolderError",
            "KnowledgeError",
            "ParseError",
            "SensewireError",
            "SubscriptionError",
            "UnsupportedError",
        ),
        "sensewire.model.errors",
    ),
}
__all__ = ["__version__", *_PLACES]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'sensewire' has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
