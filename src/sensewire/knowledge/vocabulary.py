"""The words in which RDF files state knowledge, and how a file's nodes are held while it is read.

A node is held as text, which costs less to compare than a term: an IRI as it is, a blank node as
`_:label`, a literal as a quotation mark and its text. DAML+OIL is read as OWL: a word that has a
successor is replaced by it as soon as it is read, so that no rule needs to know the older one.
"""

from collections.abc import Mapping, Sequence

from sensewire.model import datatypes
from sensewire.model.terms import string

Triples = Mapping[str, Sequence[tuple[str, str]]]
"""Triples by their property: (subject, object), as the nodes' texts."""

RDF = datatypes.RDF
RDFS = datatypes.RDFS
XSD = datatypes.XSD
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
SKOS_XL = "http://www.w3.org/2008/05/skos-xl#"
SHACL = "http://www.w3.org/ns/shacl#"
DAML = (
    "http://www.daml.org/2001/03/daml+oil#",
    "http://www.daml.org/2000/12/daml+oil#",
    "http://www.daml.org/2000/10/daml-ont#",
)
_XSD_OF_DAML = "http://www.w3.org/2000/10/XMLSchema#"
VOCABULARIES = (RDF, RDFS, OWL, SKOS, SKOS_XL, SHACL, *DAML)
"""What knowledge is written in; their words are about it and no part of it."""
DOCUMENTARY = (
    "http://purl.org/dc/elements/1.1/",
    "http://purl.org/dc/terms/",
    "http://purl.org/vocab/vann/",
    "http://www.w3.org/2003/06/sw-vocab-status/ns#",
)
"""Whose words mostly describe the description itself: who made it, when, under which licence."""

THING = string("Thing")
"""The root of the concept that everything is."""

TYPE = RDF + "type"
FIRST = RDF + "first"
REST = RDF + "rest"
SUB_CLASS_OF = RDFS + "subClassOf"
SUB_PROPERTY_OF = RDFS + "subPropertyOf"
DOMAIN = RDFS + "domain"
RANGE = RDFS + "range"
LABEL = RDFS + "label"

TOP = OWL + "Thing"
BOTTOM = OWL + "Nothing"
TOPS = frozenset({TOP, RDFS + "Resource"})
TOP_PROPERTIES = frozenset({OWL + "topObjectProperty", OWL + "topDataProperty"})
EQUIVALENT_CLASS = OWL + "equivalentClass"
EQUIVALENT_PROPERTY = OWL + "equivalentProperty"
SAME_AS = OWL + "sameAs"
INVERSE_OF = OWL + "inverseOf"
DISJOINT_WITH = OWL + "disjointWith"
ALL_DISJOINT_CLASSES = OWL + "AllDisjointClasses"
MEMBERS = OWL + "members"
DEPRECATED = OWL + "deprecated"
ANNOTATION_PROPERTY = OWL + "AnnotationProperty"
ON_PROPERTY = OWL + "onProperty"
ON_CLASS = OWL + "onClass"
UNION_OF = OWL + "unionOf"
INTERSECTION_OF = OWL + "intersectionOf"
ON_DATATYPE = OWL + "onDatatype"
ALL_VALUES_FROM = OWL + "allValuesFrom"
SOME_VALUES_FROM = OWL + "someValuesFrom"
FILLERS = (ALL_VALUES_FROM, SOME_VALUES_FROM, ON_CLASS, OWL + "onDataRange")
MOST_VALUES = tuple(
    OWL + name
    for name in ("maxCardinality", "cardinality", "maxQualifiedCardinality", "qualifiedCardinality")
)

CONCEPT = SKOS + "Concept"
BROADER = (SKOS + "broader", SKOS + "broadMatch")
NARROWER = (SKOS + "narrower", SKOS + "narrowMatch")
EXACT_MATCH = SKOS + "exactMatch"
IN_SCHEME = (SKOS + "inScheme", SKOS + "topConceptOf")
HAS_TOP_CONCEPT = SKOS + "hasTopConcept"
LABELS = (LABEL, SKOS + "prefLabel", SKOS + "altLabel", SKOS + "hiddenLabel")
LABEL_NODES = (SKOS_XL + "prefLabel", SKOS_XL + "altLabel", SKOS_XL + "hiddenLabel")
LITERAL_FORM = SKOS_XL + "literalForm"

PROPERTY_SHAPE = SHACL + "property"
PATH = SHACL + "path"
TARGET_CLASS = SHACL + "targetClass"
SHAPE_CLASS = SHACL + "class"
SHAPE_DATATYPE = SHACL + "datatype"
SHAPE_NODE = SHACL + "node"
ALTERNATIVES = (SHACL + "or", SHACL + "xone", SHACL + "and")
QUALIFIED_SHAPE = SHACL + "qualifiedValueShape"
MAX_COUNT = SHACL + "maxCount"
DEACTIVATED = SHACL + "deactivated"

BETWEEN_CLASSES = (SUB_CLASS_OF, EQUIVALENT_CLASS, DISJOINT_WITH)
TO_CLASSES = (DOMAIN, RANGE, TARGET_CLASS, SHAPE_CLASS)
BETWEEN_PROPERTIES = (SUB_PROPERTY_OF, EQUIVALENT_PROPERTY, INVERSE_OF)
BETWEEN_CONCEPTS = (*BROADER, *NARROWER, EXACT_MATCH)

READ = frozenset(
    {
        *(TYPE, FIRST, REST, *LABELS, *LABEL_NODES, LITERAL_FORM, SAME_AS, MEMBERS, DEPRECATED),
        *(*BETWEEN_CLASSES, *TO_CLASSES, *BETWEEN_PROPERTIES, *BETWEEN_CONCEPTS),
        *(*IN_SCHEME, HAS_TOP_CONCEPT, ON_PROPERTY, *FILLERS, *MOST_VALUES),
        *(UNION_OF, INTERSECTION_OF, ON_DATATYPE, PROPERTY_SHAPE, PATH, SHAPE_DATATYPE),
        *(SHAPE_NODE, *ALTERNATIVES, QUALIFIED_SHAPE, MAX_COUNT, DEACTIVATED),
    }
)
"""The vocabularies' properties that some rule looks at; triples of the others are dropped."""

CLASS_TYPES = frozenset({RDFS + "Class", OWL + "Class", OWL + "DeprecatedClass"})
DATATYPE_TYPES = frozenset({RDFS + "Datatype", OWL + "Datatype", OWL + "DataRange"})
INDIVIDUAL_TYPES = frozenset({OWL + "NamedIndividual", TOP})
DEPRECATED_TYPES = frozenset({OWL + "DeprecatedClass", OWL + "DeprecatedProperty"})
PROPERTY_TYPES = frozenset(
    {
        RDF + "Property",
        RDFS + "ContainerMembershipProperty",
        *(
            f"{OWL}{kind}Property"
            for kind in (
                *("Object", "Datatype", "Annotation", "Ontology", "Deprecated", "Functional"),
                *("InverseFunctional", "Transitive", "Symmetric", "Asymmetric"),
                *("Reflexive", "Irreflexive"),
            )
        ),
    }
)

_SUCCESSORS = {
    **dict.fromkeys(("first", "rest", "nil", "type", "List", "Property"), RDF),
    **dict.fromkeys(("subClassOf", "subPropertyOf", "domain", "range", "label", "Literal"), RDFS),
    "equivalentTo": SAME_AS,
    "sameIndividualAs": SAME_AS,
    "sameClassAs": EQUIVALENT_CLASS,
    "samePropertyAs": EQUIVALENT_PROPERTY,
    "toClass": ALL_VALUES_FROM,
    "hasClass": SOME_VALUES_FROM,
    "hasClassQ": ON_CLASS,
    "maxCardinalityQ": OWL + "maxQualifiedCardinality",
    "cardinalityQ": OWL + "qualifiedCardinality",
    "UniqueProperty": OWL + "FunctionalProperty",
    "UnambiguousProperty": OWL + "InverseFunctionalProperty",
    "Datatype": RDFS + "Datatype",
}
"""What became of DAML+OIL's words: a namespace where the name stayed; the others went to OWL."""

_DATATYPES = frozenset(
    {
        datatypes.LITERAL,
        datatypes.LANGUAGE_STRING,
        datatypes.QUANTITY,
        *(RDF + name for name in ("PlainLiteral", "XMLLiteral", "HTML", "JSON")),
        *(OWL + name for name in ("real", "rational")),
    }
)


def successor(address: str) -> str:
    """The word that took an older word's place, or the word itself.

    >>> successor(DAML[0] + "toClass") == ALL_VALUES_FROM
    True
    """
    if address.startswith(DAML):
        name = address.partition("#")[2]
        successor = _SUCCESSORS.get(name, OWL)
        return successor + name if successor in (RDF, RDFS, OWL) else successor
    if address.startswith(_XSD_OF_DAML):
        return XSD + address.removeprefix(_XSD_OF_DAML)
    return address


def is_datatype(node: str) -> bool:
    """Whether a node is a datatype that everybody knows."""
    return node.startswith(XSD) or node in _DATATYPES


def is_iri(node: str) -> bool:
    """Whether a node is an IRI: blank nodes and literals begin as no IRI can.

    >>> [is_iri(node) for node in ("http://x.org/a", "_:b1", '"text')]
    [True, False, False]
    """
    return node[0] not in '_"'
