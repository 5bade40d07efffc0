"""The kernels of G-ToPSS (Liu 2005, section 4): edges found in two hashes, counted, tables joined.

    pairs     (v, w) ──> number            the first hash; a star is a vertex −1, −2, …
    edges     (pair, property) ──> number  the second: the edges of the merged graph
    lists     edge ──> the subscriptions that have it
    tables    an edge that the event touches ──> its binding table: how many hits, and the last
    hits      a triple of the event that an edge may stand for, and the hit before

Stage one looks up all edges of the merged graph that a triple may be; stage two joins the tables of
every subscription that has only touched edges, depth first: of the result of a join no more than
the row at hand is ever stored.

Cost: of stage one, for each triple, a look-up for 1 + 2 stars + pairs of stars, and one step for
each subscription of an edge that is touched for the first time; of stage two, the hits tried.

Invariant: between two events `remaining` is `needed`, and no edge has a table.
"""

from sensewire.match.compiled.jit import Array, Number, inlined, int64, loop, uint64

KEY, VALUE = 0, 1
"""The columns of a hash; a place that nothing is at has the value −1."""
EDGE, LAST, SIZE = 0, 1, 2
"""The columns of a table."""
BEFORE, TRIPLE = 0, 1
"""The columns of a hit."""
TABLE, FROM, TO, BINDS, NEXT = 0, 1, 2, 3, 4
"""The columns of a step of a join: a table; the stars of its edge, or 0 where it has a label; which
of them it binds; the hit that is tried next."""
BINDS_FROM, BINDS_TO = 1, 2
EVENT, SUBSCRIPTION, FIRST_STAR = 0, 1, 2
"""The columns of what is found; behind them the stars' vertices, where rows are wanted."""
NO_ROOM = NO_HIT = UNBOUND = -1
_SPREAD = 0x9E3779B97F4A7C15
_HALF = 0xFFFFFFFF
_RENEWED = 8
"""Counters are renewed one by one, unless this part of all, or more, was touched."""


@inlined
def _key(left: Number, right: Number) -> Number:
    return (int64(left) << int64(32)) | (int64(right) & int64(_HALF))


@inlined
def _place(table: Array, key: Number) -> Number:
    """Where a key stands in a hash, or would."""
    mask = uint64(table.shape[0] - 1)
    mixed = uint64(key) * uint64(_SPREAD)
    place = (mixed ^ (mixed >> uint64(32))) & mask
    while table[place, VALUE] >= 0 and table[place, KEY] != key:
        place = (place + uint64(1)) & mask
    return place


@loop
def number_edges(
    subject: Array, property: Array, object: Array, pairs: Array, edges: Array, pair_ends: Array,
    ends: Array, numbers: Array,
) -> tuple[Number, Number]:  # fmt: skip
    """Fill both hashes, and number each row's edge; how many pairs and edges there are."""
    pair_count = edge_count = 0
    for row in range(len(subject)):
        key = _key(subject[row], object[row])
        place = _place(pairs, key)
        if pairs[place, VALUE] < 0:
            pairs[place, KEY], pairs[place, VALUE] = key, pair_count
            pair_ends[pair_count, 0], pair_ends[pair_count, 1] = subject[row], object[row]
            pair_count += 1
        key = _key(pairs[place, VALUE], property[row])
        place = _place(edges, key)
        if edges[place, VALUE] < 0:
            edges[place, KEY], edges[place, VALUE] = key, edge_count
            ends[edge_count, 0], ends[edge_count, 1] = subject[row], object[row]
            edge_count += 1
        numbers[row] = edges[place, VALUE]
    return pair_count, edge_count


@loop
def list_subscriptions(offsets: Array, numbers: Array, ends_of_lists: Array, lists: Array) -> None:
    """Post each subscription to its edges; the places move on to the ends of the lists."""
    for subscription in range(len(offsets) - 1):
        for row in range(offsets[subscription], offsets[subscription + 1]):
            edge = numbers[row]
            lists[ends_of_lists[edge]] = subscription
            ends_of_lists[edge] += 1


@loop
def match_events(
    first: Number, answers: Number, offsets: Array, subject: Array, property: Array, object: Array,
    source: Array, target: Array, pairs: Array, edges: Array, ends: Array, star_pairs: Array,
    loop_pairs: Array, list_offsets: Array, lists: Array, own_offsets: Array, own: Array,
    needed: Array, remaining: Array, table_of: Array, tables: Array, hits: Array, probed: Array,
    complete: Array, steps: Array, values: Array, wanting: Array, budget: Number, found: Array,
) -> tuple[Number, Number]:  # fmt: skip
    """Match events from `first` on; where it stopped, and how many answers there are until then.

    A triple is looked up by its labels `subject`, `property`, `object`, and binds stars to the
    vertices `source` and `target`. It stops where there is no room, or a label is no vertex.
    """
    stars = (len(probed) - 1 - len(star_pairs) - len(loop_pairs)) // 2
    for event in range(first, len(offsets) - 1):
        hit_count = table_count = postings = 0
        completed = uint64(0)
        before = answers
        for triple in range(uint64(offsets[event]), uint64(offsets[event + 1])):
            vertex, other = subject[triple], object[triple]
            if hit_count + len(probed) > len(hits) or (vertex | other) < 0:
                answers = NO_ROOM
                break
            # All pairs first: their look-ups do not wait for each other.
            probes = uint64(0)
            pair = pairs[_place(pairs, _key(vertex, other)), VALUE]
            probed[probes] = pair
            probes += uint64(pair >= 0)
            for star in range(1, stars + 1):
                pair = pairs[_place(pairs, _key(vertex, -star)), VALUE]
                probed[probes] = pair
                probes += uint64(pair >= 0)
                pair = pairs[_place(pairs, _key(-star, other)), VALUE]
                probed[probes] = pair
                probes += uint64(pair >= 0)
            for place in range(uint64(len(star_pairs))):
                probed[probes] = star_pairs[place]
                probes += uint64(1)
            if source[triple] == target[triple]:
                for place in range(uint64(len(loop_pairs))):
                    probed[probes] = loop_pairs[place]
                    probes += uint64(1)
            for probe in range(probes):
                edge = edges[_place(edges, _key(probed[probe], property[triple])), VALUE]
                if edge < 0:
                    continue
                table = table_of[uint64(edge)]
                if table < 0:
                    table = table_count
                    table_count += 1
                    table_of[uint64(edge)] = table
                    tables[uint64(table), EDGE] = edge
                    tables[uint64(table), LAST] = -1
                    tables[uint64(table), SIZE] = 0
                    start = uint64(list_offsets[uint64(edge)])
                    end = uint64(list_offsets[uint64(edge) + uint64(1)])
                    postings += int64(end - start)
                    for posting in range(start, end):
                        subscription = uint64(lists[posting])
                        left = remaining[subscription] - remaining.dtype.type(1)
                        remaining[subscription] = left
                        complete[completed] = subscription
                        completed += uint64(left == 0)
                else:
                    last = uint64(hits[uint64(tables[uint64(table), LAST]), TRIPLE])
                    if source[last] == source[triple] and target[last] == target[triple]:
                        continue  # the same vertices by another label
                hits[uint64(hit_count), BEFORE] = tables[uint64(table), LAST]
                hits[uint64(hit_count), TRIPLE] = triple
                tables[uint64(table), LAST] = hit_count
                tables[uint64(table), SIZE] += 1
                hit_count += 1
        if answers >= 0:
            for place in range(completed):
                answers = _joined(
                    event, complete[place], own_offsets, own, ends, table_of, tables, hits,
                    source, target, steps, values, wanting, budget, found, answers,
                )  # fmt: skip
                if answers < 0:
                    break
        _renew(table_count, postings, tables, table_of, list_offsets, lists, needed, remaining)
        if answers < 0:
            return event, before
    return len(offsets) - 1, answers


@loop
def _renew(
    table_count: Number, postings: Number, tables: Array, table_of: Array, list_offsets: Array,
    lists: Array, needed: Array, remaining: Array,
) -> None:  # fmt: skip
    """Forget the tables, and count from the beginning."""
    whole = postings * _RENEWED > len(needed)
    if whole:
        for subscription in range(uint64(len(needed))):
            remaining[subscription] = needed[subscription]
    for table in range(uint64(table_count)):
        edge = uint64(tables[table, EDGE])
        table_of[edge] = -1
        if not whole:
            start, end = uint64(list_offsets[edge]), uint64(list_offsets[edge + uint64(1)])
            for posting in range(start, end):
                subscription = uint64(lists[posting])
                remaining[subscription] = needed[subscription]


@loop
def _joined(
    event: Number, subscription: Number, own_offsets: Array, own: Array, ends: Array,
    table_of: Array, tables: Array, hits: Array, source: Array, target: Array, steps: Array,
    values: Array, wanting: Array, budget: Number, found: Array, answers: Number,
) -> Number:  # fmt: skip
    """Join the tables of a subscription's edges, and note what is found; how much that is now."""
    first, end = uint64(own_offsets[subscription]), uint64(own_offsets[subscription + 1])
    for star in range(uint64(len(values))):
        values[star] = UNBOUND
    count = int64(end - first)
    for step in range(uint64(count)):
        edge = uint64(own[first + step])
        steps[step, TABLE] = table_of[edge]
        steps[step, FROM] = max(-ends[edge, 0], 0)
        steps[step, TO] = max(-ends[edge, 1], 0)
    wants_rows = len(wanting) > 0 and wanting[subscription]
    before, taken, step, planned = answers, 0, 0, 0
    while step >= 0:
        if step == count:
            if answers == len(found):
                return NO_ROOM
            found[answers, EVENT], found[answers, SUBSCRIPTION] = event, subscription
            answers += 1
            if not wants_rows:
                break
            for star in range(1, len(values)):
                found[answers - 1, FIRST_STAR - 1 + star] = values[star]
            step -= 1
            continue
        at = uint64(step)
        if step == planned:
            _plan(at, uint64(count), tables, steps, values)
            planned += 1
        hit = steps[at, NEXT]
        if hit < 0:
            step -= 1
            continue
        taken += 1
        if taken > budget:
            if before == len(found):
                return NO_ROOM
            found[before, EVENT], found[before, SUBSCRIPTION] = event, -1 - subscription
            return before + 1
        steps[at, NEXT] = hits[uint64(hit), BEFORE]
        triple = uint64(hits[uint64(hit), TRIPLE])
        binds, star, other = steps[at, BINDS], uint64(steps[at, FROM]), uint64(steps[at, TO])
        if binds & BINDS_FROM:
            values[star] = source[triple]
        elif star > 0 and values[star] != source[triple]:
            continue
        if binds & BINDS_TO:
            values[other] = target[triple]
        elif other > 0 and values[other] != target[triple]:
            continue
        if binds == 0:
            steps[at, NEXT] = NO_HIT  # once is enough
        step += 1
        if step < planned:
            steps[uint64(step), NEXT] = tables[uint64(steps[uint64(step), TABLE]), LAST]
    return answers


@inlined
def _plan(step: Number, count: Number, tables: Array, steps: Array, values: Array) -> None:
    """Take next the edge that binds the fewest stars, and of these the one of the least table."""
    best, fewest, least = step, 3, 0
    for place in range(step, count):
        star, other = uint64(steps[place, FROM]), uint64(steps[place, TO])
        binding = int64(star > 0 and values[star] == UNBOUND)
        binding += int64(other > 0 and other != star and values[other] == UNBOUND)
        size = tables[uint64(steps[place, TABLE]), SIZE]
        if binding < fewest or (binding == fewest and size < least):
            best, fewest, least = place, binding, size
    for column in range(uint64(TO + 1)):
        steps[step, column], steps[best, column] = steps[best, column], steps[step, column]
    star, other = uint64(steps[step, FROM]), uint64(steps[step, TO])
    binds = BINDS_FROM if star > 0 and values[star] == UNBOUND else 0
    if other > 0 and other != star and values[other] == UNBOUND:
        binds |= BINDS_TO
    steps[step, BINDS] = binds
    steps[step, NEXT] = tables[uint64(steps[step, TABLE]), LAST]
