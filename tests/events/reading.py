"""The outcomes that portions stand for, to compare them with those of the plain decoder."""

from collections.abc import Iterable, Set
from dataclasses import dataclass

from sensewire.events.decoding import Decoding, Outcome, Rejected
from sensewire.events.portions import EventPortion
from sensewire.events.record_portion import RecordPortion


def outcomes_of(
    found: Iterable[RecordPortion | EventPortion | Rejected], decoding: Decoding
) -> list[Outcome]:
    """What the portions hold, decoded one by one, in an order that does not depend on theirs."""
    outcomes: list[Outcome] = []
    for item in found:
        match item:
            case Rejected():
                outcomes.append(item)
            case EventPortion(decoded):
                outcomes += decoded
            case RecordPortion():
                for row in range(len(item)):
                    outcomes += item.outcomes(row, decoding)
    return sorted(outcomes, key=repr)


@dataclass(frozen=True, slots=True)
class Wanting:
    """Somebody who asks for some attributes and properties."""

    names: Set[str]

    def wants(self, attribute: str) -> bool:
        return attribute in self.names

    def wants_property(self, address: str) -> bool:
        return address in self.names
