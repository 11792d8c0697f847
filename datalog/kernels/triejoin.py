"""`complete`: leapfrog triejoin that extends prefixes.

One generic kernel interprets a plan (`encoding.py`). All of its state lies in a caller-owned array, so that a call may
stop anywhere (a full buffer, a spent budget) and the next one goes on. Section 3 of `leapfrog-triejoin-maintenance`
and of the method. The sensitivity records planted here cover every key at every depth that a prefix reaches, not the
depths inside the prefix, which somebody else has covered.

Most time goes into the last depth, which `innermost.py` lists without this machine where it may, and into the depths inside
prefixes: a known value is looked up from where the iterator was left by the prefix before.

The file is long because the join is one state machine, and because kernels name every constant that they use.
"""

from __future__ import annotations

from datalog.kernels.codes import HIGHEST, LOWEST
from datalog.kernels.cursors import node_exists, open_cursor, seek
from datalog.kernels.encoding import (
    ALL,
    CODE_KIND,
    CURSOR_AT_END,
    CURSOR_KEY,
    CURSOR_STACK,
    CURSOR_WORDS,
    DEPTH_BINDING,
    DEPTH_BOUNDS,
    DEPTH_BOUNDS_END,
    DEPTH_CHECKED,
    DEPTH_FALLIBLE,
    DEPTH_FALLIBLE_END,
    DEPTH_FILTERS,
    DEPTH_FILTERS_END,
    DEPTH_GIVES,
    DEPTH_ITERATORS,
    DEPTH_ITERATORS_END,
    DEPTH_JOINED,
    DEPTH_NEGATIONS,
    DEPTH_NEGATIONS_END,
    DEPTH_WORDS,
    DONE,
    FAILED,
    FIRST_OF_HEAD,
    FIRST_OF_PREFIX,
    GIVES_CANDIDATE,
    GIVES_FLOATS,
    GIVES_VALUE,
    LEVEL_AGREEING,
    LEVEL_HIGH,
    LEVEL_LOW,
    LEVEL_NATURAL_LOW,
    LEVEL_POINTER,
    LEVEL_TARGET,
    LEVEL_VALUE,
    LEVEL_WORDS,
    MISSED,
    MISSES_FULL,
    MODE_ADVANCE,
    MODE_ENTER,
    MODE_LEAP,
    MODE_PREFIX,
    NEGATION_LEVELS,
    NEGATION_SLOT,
    NEGATION_VALUES_AT,
    NEGATION_WORDS,
    NO_ERROR,
    NO_VALUE,
    OUTPUT_FULL,
    PAUSED,
    PLAN_DEPTHS,
    PLAN_DEPTHS_AT,
    PLAN_ITERATORS,
    PLAN_NEGATIONS_AT,
    PLAN_OUTPUT_AT,
    PLAN_OUTPUT_WIDTH,
    PLAN_SLOTS_AT,
    PLAN_TIGHT,
    PREFIX_HIGH,
    PREFIX_LENGTH,
    PREFIX_LOW,
    PREFIX_STAMP,
    PREFIX_VALUES,
    RECORD_NOTHING,
    RECORDS_FULL,
    SLOT_COLUMNS,
    SLOT_INNER_ROWS,
    SLOT_LEAF_ROWS,
    SLOT_WORDS,
    STATE_ARGUMENTS_AT,
    STATE_BUDGET,
    STATE_DEPTH,
    STATE_ERROR,
    STATE_ERROR_AT,
    STATE_FAILED_BOUND,
    STATE_FAILED_DEPTH,
    STATE_FAILURES,
    STATE_FIRST_ONLY,
    STATE_MISSED,
    STATE_MISSED_BEFORE,
    STATE_MODE,
    STATE_OPENED,
    STATE_OUTPUT,
    STATE_PREFIX,
    STATE_RECORDING,
    STATE_RECORDS,
    STATE_STEPS,
    STATE_TRUSTED,
    STATE_WORDS,
)
from datalog.kernels.expressions import evaluate, narrow, passes_filters
from datalog.kernels.innermost import EXHAUSTED, NO_ROOM, list_last
from datalog.kernels.jit import INT, READ1, READ2, WRITE1, WRITE2, Budget, Words, device, kernel
from datalog.kernels.ranges import advance_range, enter_range, open_range
from datalog.kernels.recording import flush_records, record, write_record
from datalog.kernels.stamps import is_older, youngest_premise


@device
def _enter(
    pages: Words,
    roots: Words,
    plan: Words,
    memo: Words,
    prefixes: Words,
    state: Words,
    records: Words,
    depth: int,
    cursors: int,
    stack: int,
) -> bool:
    """Open the depth's iterators at its interval's lower end. True: they stand, leap; False: nothing here."""
    row = plan[PLAN_DEPTHS_AT] + depth * DEPTH_WORDS
    level = STATE_WORDS + depth * LEVEL_WORDS
    prefix = state[STATE_PREFIX]
    length = prefixes[prefix, PREFIX_LENGTH]
    recorded = state[STATE_RECORDING] != RECORD_NOTHING and depth >= length
    state[level + LEVEL_LOW] = LOWEST
    state[level + LEVEL_HIGH] = HIGHEST
    gives = plan[row + DEPTH_GIVES]
    generates = gives != GIVES_VALUE and gives <= GIVES_FLOATS
    least = 0  # of the integers that the depth gives
    if plan[row + DEPTH_BINDING] >= 0:
        value = evaluate(plan, plan[row + DEPTH_BINDING], state, stack, memo)
        if state[STATE_ERROR] != NO_ERROR:
            if gives == GIVES_CANDIDATE and state[STATE_ERROR] != MISSED:
                state[STATE_ERROR] = NO_ERROR
            return False
        if generates:
            least = int(state[stack])
            if not open_range(gives, state, stack, level):
                return False
        else:
            state[level + LEVEL_LOW] = value
            state[level + LEVEL_HIGH] = value
    if not narrow(plan, plan[row + DEPTH_BOUNDS], plan[row + DEPTH_BOUNDS_END], state, level, stack, memo):
        return False
    state[level + LEVEL_NATURAL_LOW] = state[level + LEVEL_LOW]
    if depth < length:
        value = prefixes[prefix, PREFIX_VALUES + depth]
        state[level + LEVEL_LOW] = max(state[level + LEVEL_LOW], value)
        state[level + LEVEL_HIGH] = min(state[level + LEVEL_HIGH], value)
    elif depth == length:
        state[level + LEVEL_LOW] = max(state[level + LEVEL_LOW], prefixes[prefix, PREFIX_LOW])
        state[level + LEVEL_HIGH] = min(state[level + LEVEL_HIGH], prefixes[prefix, PREFIX_HIGH])
    low = state[level + LEVEL_LOW]
    if low > state[level + LEVEL_HIGH]:
        return False
    state[level + LEVEL_AGREEING] = 0
    state[level + LEVEL_POINTER] = 0
    if generates:
        return enter_range(gives, state, level, least)
    target = low
    for iterator in range(plan[row + DEPTH_ITERATORS], plan[row + DEPTH_ITERATORS_END]):
        cursor = cursors + iterator * CURSOR_WORDS
        open_cursor(pages, roots, plan, state, iterator, cursors, low if recorded else target)
        if recorded:
            record(state, records, iterator, cursor, depth, low)
        if state[cursor + CURSOR_AT_END] == 1:
            return False
        target = max(target, state[cursor + CURSOR_KEY])
        if target > state[level + LEVEL_HIGH]:
            return False
    state[level + LEVEL_TARGET] = target
    return True


@device
def _stand(pages: Words, roots: Words, plan: Words, state: Words, depth: int, cursors: int, value: int) -> int:
    """Put the depth's iterators on the value that the prefix has for it: 1, or 0 where one of them does not have it."""
    row = plan[PLAN_DEPTHS_AT] + depth * DEPTH_WORDS
    state[STATE_WORDS + depth * LEVEL_WORDS + LEVEL_TARGET] = value
    for iterator in range(plan[row + DEPTH_ITERATORS], plan[row + DEPTH_ITERATORS_END]):
        cursor = cursors + iterator * CURSOR_WORDS
        open_cursor(pages, roots, plan, state, iterator, cursors, value)
        if state[cursor + CURSOR_AT_END] == 1 or state[cursor + CURSOR_KEY] != value:
            return 0
    return 1


@device
def _leap(pages: Words, plan: Words, state: Words, records: Words, depth: int, cursors: int, recorded: bool, room: int) -> int:
    """Leapfrog until all iterators of the depth agree: 1 match, 0 exhausted, 2 `room` records are written, 3 the budget is spent."""
    row = plan[PLAN_DEPTHS_AT] + depth * DEPTH_WORDS
    level = STATE_WORDS + depth * LEVEL_WORDS
    first = plan[row + DEPTH_ITERATORS]
    count = plan[row + DEPTH_ITERATORS_END] - first
    high = state[level + LEVEL_HIGH]
    target = state[level + LEVEL_TARGET]
    agreeing = state[level + LEVEL_AGREEING]
    pointer = state[level + LEVEL_POINTER]
    outcome = 1
    while agreeing < count:
        iterator = first + pointer
        cursor = cursors + iterator * CURSOR_WORDS
        if state[cursor + CURSOR_KEY] < target:
            if recorded and state[STATE_RECORDS] >= room:
                outcome = 2
                break
            if state[STATE_STEPS] >= state[STATE_BUDGET]:
                outcome = 3
                break
            seek(pages, plan, state, iterator, cursors, target)
            if recorded:
                record(state, records, iterator, cursor, depth, target)
            if state[cursor + CURSOR_AT_END] == 1:
                return 0
            if state[cursor + CURSOR_KEY] > target:
                target = state[cursor + CURSOR_KEY]
                agreeing = 0
                if target > high:
                    return 0
        agreeing += 1
        pointer += 1
        if pointer == count:
            pointer = 0
    state[level + LEVEL_TARGET] = target
    state[level + LEVEL_AGREEING] = agreeing
    state[level + LEVEL_POINTER] = pointer
    return outcome


@device
def _advance(pages: Words, plan: Words, state: Words, records: Words, depth: int, cursors: int, recorded: bool) -> bool:
    """Leave the current key: True if the next iterator stands on a later one within the interval."""
    row = plan[PLAN_DEPTHS_AT] + depth * DEPTH_WORDS
    level = STATE_WORDS + depth * LEVEL_WORDS
    gives = plan[row + DEPTH_GIVES]
    if gives != GIVES_VALUE and gives <= GIVES_FLOATS:
        return advance_range(gives, state, level)
    first = plan[row + DEPTH_ITERATORS]
    count = plan[row + DEPTH_ITERATORS_END] - first
    key = state[level + LEVEL_TARGET]
    if key >= state[level + LEVEL_HIGH] or count == 0:
        return False
    pointer = state[level + LEVEL_POINTER]
    cursor = cursors + (first + pointer) * CURSOR_WORDS
    seek(pages, plan, state, first + pointer, cursors, key + 1)
    if recorded:
        record(state, records, first + pointer, cursor, depth, key + 1)
    if state[cursor + CURSOR_AT_END] == 1 or state[cursor + CURSOR_KEY] > state[level + LEVEL_HIGH]:
        return False
    state[level + LEVEL_TARGET] = state[cursor + CURSOR_KEY]
    state[level + LEVEL_AGREEING] = 1
    pointer += 1
    state[level + LEVEL_POINTER] = 0 if pointer == count else pointer
    return True


@device
def _passes_negations(
    pages: Words, roots: Words, plan: Words, first: int, last: int, state: Words, records: Words, depth: int, recorded: bool
) -> bool:
    for negation in range(first, last):
        at = plan[PLAN_NEGATIONS_AT] + negation * NEGATION_WORDS
        slot = plan[PLAN_SLOTS_AT] + plan[at + NEGATION_SLOT] * SLOT_WORDS
        state[STATE_STEPS] += 1
        if recorded:
            value = state[STATE_WORDS + depth * LEVEL_WORDS + LEVEL_VALUE]
            write_record(state, records, plan[PLAN_ITERATORS] + negation, depth, value, value)
        if node_exists(
            pages,
            roots[plan[at + NEGATION_SLOT]],
            plan[slot + SLOT_COLUMNS],
            plan[slot + SLOT_LEAF_ROWS],
            plan[slot + SLOT_INNER_ROWS],
            plan,
            plan[at + NEGATION_VALUES_AT],
            plan[at + NEGATION_LEVELS],
            state,
        ):
            return False
    return True


@device
def _holds(
    pages: Words,
    roots: Words,
    plan: Words,
    prefixes: Words,
    state: Words,
    records: Words,
    depth: int,
    cursors: int,
    stack: int,
    labels: Words,
    memo: Words,
    recorded: bool,
) -> bool:
    """Does the value just bound pass everything that is checked at its depth?"""
    row = plan[PLAN_DEPTHS_AT] + depth * DEPTH_WORDS
    return (
        is_older(pages, plan, prefixes, state, depth, cursors)
        and passes_filters(plan, plan[row + DEPTH_FILTERS], plan[row + DEPTH_FILTERS_END], state, stack, labels, memo)
        and _passes_negations(
            pages, roots, plan, plan[row + DEPTH_NEGATIONS], plan[row + DEPTH_NEGATIONS_END], state, records, depth, recorded
        )
        and passes_filters(plan, plan[row + DEPTH_FALLIBLE], plan[row + DEPTH_FALLIBLE_END], state, stack, labels, memo)
    )


@device
def _next_prefix(prefixes: Words, state: Words) -> int:
    """Go to the next prefix; what it shares with the last one, as far as that was opened, stays open."""
    prefix = state[STATE_PREFIX]
    if prefix < 0:
        state[STATE_PREFIX] = 0
        return 0
    if prefixes[prefix, PREFIX_STAMP] != prefixes[prefix + 1, PREFIX_STAMP]:
        state[STATE_PREFIX] = prefix + 1
        return 0  # rows that were old enough for the last one may not be for this one
    limit = min(state[STATE_OPENED], prefixes[prefix + 1, PREFIX_LENGTH])
    shared = 0
    while shared < limit and prefixes[prefix, PREFIX_VALUES + shared] == prefixes[prefix + 1, PREFIX_VALUES + shared]:
        shared += 1
    state[STATE_PREFIX] = prefix + 1
    return shared


@device
def _defer(plan: Words, prefixes: Words, state: Words, missed: Words) -> None:
    """Note the call that was missed, and the prefix that is to be completed when it is known.

    That is the part that was bound when the call was needed, so that all that was not looked at then is looked at again.
    """
    row = state[STATE_MISSED]
    state[STATE_MISSED] = row + 1
    prefix = state[STATE_PREFIX]
    depth = state[STATE_FAILED_DEPTH]
    bound = state[STATE_FAILED_BOUND]
    length = prefixes[prefix, PREFIX_LENGTH]
    if depth < length or (depth == length and bound == depth):
        for column in range(prefixes.shape[1]):
            missed[row, column] = prefixes[prefix, column]
    else:
        missed[row, PREFIX_LENGTH] = depth
        missed[row, PREFIX_LOW] = LOWEST
        missed[row, PREFIX_HIGH] = HIGHEST
        missed[row, PREFIX_STAMP] = prefixes[prefix, PREFIX_STAMP]
        for above in range(depth):
            missed[row, PREFIX_VALUES + above] = state[STATE_WORDS + above * LEVEL_WORDS + LEVEL_VALUE]
        if bound > depth:
            value = state[STATE_WORDS + depth * LEVEL_WORDS + LEVEL_VALUE]
            missed[row, PREFIX_LOW] = value
            missed[row, PREFIX_HIGH] = value
    at = state[STATE_ERROR_AT]
    behind = prefixes.shape[1]
    missed[row, behind] = plan[at + 1]
    for argument in range(plan[at] // CODE_KIND):
        missed[row, behind + 1 + argument] = state[state[STATE_ARGUMENTS_AT] + argument]


@kernel(INT(READ2, READ1, READ1, READ1, READ2, READ2, WRITE1, WRITE2, WRITE2, WRITE2), Budget(STATE_STEPS, STATE_BUDGET))
def complete(
    pages: Words,
    roots: Words,
    plan: Words,
    labels: Words,
    memo: Words,
    prefixes: Words,
    state: Words,
    output: Words,
    records: Words,
    missed: Words,
) -> int:
    """Write the output row of every binding that extends a prefix, in the order of prefixes and variables.

    pages: int64[p, words]; roots: int64[slots], -1 for an empty tree; labels: int64[symbols], the order of symbols;
    memo: int64[2^k, 2 + most arguments], see MEMO_*; prefixes: int64[m, 4 + variables], see PREFIX_*; output: int64[rows, output width];
    records: int64[rows, 3 + variables], see RECORD_*. A record's context may be unsorted and repeated;
    missed: int64[rows, 4 + variables + 1 + most arguments], the prefixes that it has put off, each with a call that the memo does
    not know. Everything else that extends the prefixes has been found.
    Returns DONE, or why it stopped: OUTPUT_FULL, RECORDS_FULL, MISSES_FULL (empty the buffer, zero its count in state, call again),
    PAUSED (raise STATE_BUDGET, call again), FAILED (an expression has no value: STATE_ERROR, STATE_ERROR_AT, STATE_FAILED_*;
    zero STATE_ERROR and call again to go on as if the literal did not hold).
    """
    depths = plan[PLAN_DEPTHS]
    cursors = STATE_WORDS + depths * LEVEL_WORDS
    stack = cursors + plan[PLAN_ITERATORS] * CURSOR_WORDS
    output_at = plan[PLAN_OUTPUT_AT]
    width = plan[PLAN_OUTPUT_WIDTH]
    room = records.shape[0]
    recording = state[STATE_RECORDING] != RECORD_NOTHING
    tight = depths - 1 if plan[PLAN_TIGHT] > 0 and not recording and state[STATE_FIRST_ONLY] == ALL else -1
    needed = -1  # the last depth that the output needs
    for column in range(width):
        needed = max(needed, plan[output_at + column])
    if state[STATE_PREFIX] < 0:
        for iterator in range(plan[PLAN_ITERATORS]):
            state[cursors + iterator * CURSOR_WORDS + CURSOR_STACK] = -1  # it has not been opened yet
    mode = state[STATE_MODE]
    depth = state[STATE_DEPTH]
    status = DONE
    while True:
        if mode == MODE_PREFIX:
            if state[STATE_PREFIX] + 1 >= prefixes.shape[0]:
                break
            depth = _next_prefix(prefixes, state)
            state[STATE_OPENED] = depth
            state[STATE_MISSED_BEFORE] = state[STATE_MISSED]
            mode = MODE_ENTER
        length = prefixes[state[STATE_PREFIX], PREFIX_LENGTH]
        if depth == depths:  # a binding; only MODE_ENTER comes here
            if state[STATE_OUTPUT] >= output.shape[0]:
                status = OUTPUT_FULL
                break
            row = state[STATE_OUTPUT]
            for column in range(width):
                place = plan[output_at + column]
                if place >= 0:
                    output[row, column] = state[STATE_WORDS + place * LEVEL_WORDS + LEVEL_VALUE]
                else:
                    output[row, column] = youngest_premise(pages, plan, prefixes, state, cursors)
            state[STATE_OUTPUT] = row + 1
            depth -= 1
            mode = MODE_ADVANCE
            if state[STATE_FIRST_ONLY] == FIRST_OF_HEAD:
                depth = needed
            elif state[STATE_FIRST_ONLY] == FIRST_OF_PREFIX:
                state[STATE_MISSED] = state[STATE_MISSED_BEFORE]  # nothing more is asked of this prefix
                mode = MODE_PREFIX
                continue
        if (depth < length and mode == MODE_ADVANCE) or depth < 0:
            mode = MODE_PREFIX  # a prefix has no second value
            continue
        at = plan[PLAN_DEPTHS_AT] + depth * DEPTH_WORDS
        recorded = recording and depth >= length
        reserve = 0
        if recorded:
            # What one step may write: a record of each iterator when the depth is left, and one of each negated atom.
            reserve = plan[at + DEPTH_ITERATORS_END] - plan[at + DEPTH_ITERATORS]
            reserve += plan[at + DEPTH_NEGATIONS_END] - plan[at + DEPTH_NEGATIONS] + 1
            if state[STATE_RECORDS] + reserve >= room:
                status = RECORDS_FULL
                break
        if state[STATE_STEPS] >= state[STATE_BUDGET]:
            status = PAUSED
            break
        if state[STATE_MISSED] >= missed.shape[0]:
            status = MISSES_FULL
            break
        fixed = depth < length and plan[at + DEPTH_JOINED] == 1
        found = 1
        if mode == MODE_ENTER and fixed:
            found = _stand(pages, roots, plan, state, depth, cursors, prefixes[state[STATE_PREFIX], PREFIX_VALUES + depth])
        elif mode == MODE_ENTER:
            found = int(_enter(pages, roots, plan, memo, prefixes, state, records, depth, cursors, stack))
        elif mode == MODE_ADVANCE:
            found = int(_advance(pages, plan, state, records, depth, cursors, recorded))
        if found == 1 and depth == tight and depth >= length:
            mode = MODE_LEAP
            found = list_last(pages, plan, prefixes, state, output, depth, cursors)
            if found != EXHAUSTED:
                status = OUTPUT_FULL if found == NO_ROOM else PAUSED
                break
        elif found == 1 and not fixed:
            mode = MODE_LEAP
            found = _leap(pages, plan, state, records, depth, cursors, recorded, room - reserve)
            if found > 1:
                status = RECORDS_FULL if found == 2 else PAUSED
                break
        if found == 0:
            if recorded:
                flush_records(plan, state, records, cursors, depth)
            state[STATE_FAILED_DEPTH] = depth
            state[STATE_FAILED_BOUND] = depth
            depth -= 1
            mode = MODE_ADVANCE
        else:
            level = STATE_WORDS + depth * LEVEL_WORDS
            state[level + LEVEL_VALUE] = state[level + LEVEL_TARGET]
            mode = MODE_ADVANCE
            if plan[at + DEPTH_CHECKED] == 0 or _holds(
                pages, roots, plan, prefixes, state, records, depth, cursors, stack, labels, memo, recorded
            ):
                depth += 1
                mode = MODE_ENTER
                if depth <= length:
                    state[STATE_OPENED] = depth
                continue
            state[STATE_FAILED_DEPTH] = depth
            state[STATE_FAILED_BOUND] = depth + 1
        if state[STATE_ERROR] != NO_ERROR:
            if state[STATE_ERROR] == MISSED:
                _defer(plan, prefixes, state, missed)
            elif state[STATE_ERROR] != NO_VALUE:
                if state[STATE_TRUSTED] == 0:
                    status = FAILED
                    break
                state[STATE_FAILURES] += 1
            state[STATE_ERROR] = NO_ERROR
    state[STATE_MODE] = mode
    state[STATE_DEPTH] = depth
    return status
