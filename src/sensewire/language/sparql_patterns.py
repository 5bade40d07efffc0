"""Triple patterns with all their short forms: `;`, `,`, `a`, `[]`, lists, labels of blank nodes.

A blank node is a variable that no query can name; its label holds as far as patterns stand together
in one group, filters between them allowed. Cost: linear.
"""

from sensewire.language.sparql_cursor import Cursor
from sensewire.language.sparql_paths import Connections, Path, Paths
from sensewire.language.sparql_tokens import BLANK, END, LANGUAGE, OTHER, SIGN, VARIABLE, WORD
from sensewire.language.sparql_tree import Element, Triples
from sensewire.model import datatypes
from sensewire.model.conditions import Constant, Variable
from sensewire.model.errors import UnsupportedError
from sensewire.model.subscription import TriplePattern, Vertex
from sensewire.model.terms import iri

Node = Variable | Constant
_FIRST, _REST, _NIL = (iri(datatypes.RDF + name) for name in ("first", "rest", "nil"))
_NODE = "a variable, an IRI, a literal, a blank node or a list"


class Block:
    """Where patterns go that stand together: the elements of a group, and the labels in use."""

    def __init__(self, elements: list[Element]) -> None:
        self.elements = elements
        self.labels: dict[str, Variable] = {}
        self._triples: Triples | None = None

    def add(self, element: Element) -> None:
        """Take an element; patterns are put together."""
        if isinstance(element, Triples):
            for pattern in element.patterns:
                self.put(pattern.subject, pattern.property, pattern.object)
        else:
            self.elements.append(element)

    def put(self, subject: Vertex, property: Node, object_: Vertex) -> None:
        """Take a pattern."""
        triples = self._triples
        if triples is None:
            triples = self._triples = Triples()
            self.elements.append(triples)
        triples.patterns.append(TriplePattern(subject, property, object_))
        if type(subject) is Variable:
            triples.binds.add(subject)
        if type(property) is Variable:
            triples.binds.add(property)
        if type(object_) is Variable:
            triples.binds.add(object_)

    def end(self) -> None:
        """What follows stands apart from what was added."""
        self._triples = None
        self.labels = {}


class Patterns:
    """Reads the triple patterns of one query."""

    def __init__(self, cursor: Cursor) -> None:
        self._of = cursor
        self._paths = Paths(cursor)
        self._connections = Connections(cursor)
        self._labels: set[str] = set()

    def triples(self, block: Block) -> None:
        """The patterns of one subject."""
        of = self._of
        is_list = of.is_sign("[") or of.is_sign("(")
        start = of.at
        subject = self._node(block)
        is_empty = is_list and of.at == start + 2
        if is_list and not is_empty and self._ends():
            return
        self._properties(subject, block)

    def starts(self) -> bool:
        """Whether the token ahead can begin a triple pattern."""
        of = self._of
        kind = of.kinds[of.at]
        if kind == WORD:
            return of.texts[of.at] in ("true", "false")
        if kind == SIGN:
            return of.texts[of.at] in ("[", "(", "<<") or of.is_signed_number()
        return kind not in (OTHER, END, LANGUAGE)

    def _ends(self) -> bool:
        """Whether no property follows."""
        of = self._of
        if of.kinds[of.at] == SIGN:
            return of.texts[of.at] not in ("^", "!", "(")
        return of.kinds[of.at] in (WORD, END) and of.texts[of.at] != "a"

    def _properties(self, subject: Node, block: Block) -> None:
        of = self._of
        while True:
            verb = self._paths.verb()
            self._object(subject, verb, block)
            while of.takes(","):
                self._object(subject, verb, block)
            if not of.takes(";"):
                return
            while of.takes(";"):
                pass
            if self._ends() or of.is_sign("]"):
                return

    def _object(self, subject: Node, verb: Variable | Path, block: Block) -> None:
        of = self._of
        object_ = self._node(block)
        if isinstance(verb, Variable | Constant):
            of.count_pattern()
            block.put(subject, verb, object_)
        else:
            self._connections.lay(subject, verb, object_, block.add)

    def _node(self, block: Block) -> Node:
        of = self._of
        kind, text = of.kinds[of.at], of.texts[of.at]
        if kind == VARIABLE:
            return of.variable()
        if kind == BLANK:
            return self._labelled(text, block)
        if kind == SIGN:
            if text == "[":
                return self._blank(block)
            if text == "(":
                return self._list(block)
            if text == "<<":
                raise UnsupportedError("<<, a triple inside a triple (RDF 1.2)", of.place)
        constant = of.constant()
        if constant is None:
            raise of.wrong(_NODE)
        return constant

    def _labelled(self, label: str, block: Block) -> Variable:
        of = self._of
        found = block.labels.get(label)
        if found is None:
            if label in self._labels:
                raise of.wrong("a label of its own: blank nodes belong to patterns side by side")
            self._labels.add(label)
            found = block.labels[label] = of.fresh()
        of.at += 1
        return found

    def _blank(self, block: Block) -> Variable:
        of = self._of
        place = of.place
        of.at += 1
        node = of.fresh()
        if not of.takes("]"):
            of.deeper(place)
            self._properties(node, block)
            of.must("]", "';', ',' or ")
            of.shallower()
        return node

    def _list(self, block: Block) -> Node:
        of = self._of
        place = of.place
        of.at += 1
        of.deeper(place)
        items: list[Node] = []
        while not of.takes(")"):
            if of.kinds[of.at] == END:
                raise of.wrong(f"{_NODE}, or ')'")
            items.append(self._node(block))
        of.shallower()
        nodes: list[Node] = [of.fresh() for _ in items]
        nodes.append(Constant(_NIL, of.reading, place))
        for number, item in enumerate(items):
            node = nodes[number]
            for property, value in ((_FIRST, item), (_REST, nodes[number + 1])):
                of.count_pattern()
                block.put(node, Constant(property, of.reading, place), value)
        return nodes[0]
