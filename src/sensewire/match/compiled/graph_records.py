"""Records that are no events yet as columns of facts, for clauses with patterns."""

import numpy as np

from sensewire.match.compiled.conjunctions import Int32, Truths
from sensewire.model.batch import RAW, FactColumns
from sensewire.model.facts import INTEGER, WORD, Facts
from sensewire.model.terms import HOME, Term, string, term_of


def columns_of_records(facts: Facts, but: Truths) -> tuple[FactColumns, Int32]:
    """The facts of records but for some rows, and the codes of their home vertices.

    Cost: linear in the facts, and a look-up for each distinct word and number.
    """
    codes: dict[Term, int] = {HOME: 0}
    terms = [HOME]

    def code(term: Term) -> int:
        known = codes.setdefault(term, len(terms))
        if known == len(terms):
            terms.append(term)
        return known

    # Strings that nobody asks for are not told apart, and make no difference.
    kept = np.flatnonzero(~but[facts.event] & ((facts.kind != WORD) | (facts.word >= 0)))
    properties = np.array([code(string(name)) for name in facts.attributes], np.int32)
    kind, word, number = facts.kind[kept], facts.word[kept], facts.number[kept]
    value = np.empty(len(kept), np.int32)
    is_word = kind == WORD
    words, places = np.unique(word[is_word], return_inverse=True)
    of_words = [code(facts.words[each][1]) for each in words.tolist()]
    value[is_word] = np.array(of_words, np.int32)[places.reshape(-1)]
    for form in np.unique(kind[~is_word]).tolist():
        is_form = kind == form
        numbers, places = np.unique(number[is_form], return_inverse=True)
        made = numbers.astype(np.int64).tolist() if form == INTEGER else numbers.tolist()
        of_numbers = [code(term_of(each)) for each in made]
        value[is_form] = np.array(of_numbers, np.int32)[places.reshape(-1)]
    counts = np.bincount(facts.event[kept], minlength=facts.count)
    columns = FactColumns(
        terms=terms,
        subject=np.zeros(len(kept), np.int32),
        property=properties[facts.attribute[kept]],
        object=value,
        origin=np.full(len(kept), RAW, np.int32),
        offsets=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
    )
    return columns, np.zeros(facts.count, np.int32)
