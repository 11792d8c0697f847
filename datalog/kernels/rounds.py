"""`follow`: many rounds of a semi-naive fixpoint in one call, as long as each of them is small.

A round completes the rows that the round before found, for every delta plan, adds the heads that are new to what has been gathered
(`gather.py`), and inserts these into the trees that the plans read. For one row that is a microsecond of work for each plan, and some
twenty of getting there from Python.

A round that cannot be done here is left to the caller, from its beginning (CANNOT_FOLLOW) or from where its heads are known
(CANNOT_ADD), in which case some of them may have been added already: to add them once more changes nothing. What cannot be done: a
round of more than MOST_NEW rows of one predicate; a plan that stops before it is done, or misses a call; rows for which there is no
room.
"""

from __future__ import annotations

from datalog.kernels.addresses import WORD_BYTES, apply_rows_at, complete_at, gather_at, rows_at, words_at
from datalog.kernels.codes import HIGHEST, LOWEST
from datalog.kernels.encoding import (
    DONE,
    MODE_PREFIX,
    PREFIX_HIGH,
    PREFIX_LENGTH,
    PREFIX_LOW,
    PREFIX_STAMP,
    PREFIX_VALUES,
    RECORD_NOTHING,
    RECORD_VALUES,
    STATE_BUDGET,
    STATE_ERROR,
    STATE_FAILURES,
    STATE_FIRST_ONLY,
    STATE_MISSED,
    STATE_MISSED_BEFORE,
    STATE_MODE,
    STATE_OUTPUT,
    STATE_PREFIX,
    STATE_RECORDING,
    STATE_RECORDS,
    STATE_STEPS,
    STATE_TRUSTED,
    STATE_WORDS,
)
from datalog.kernels.gather import COUNT as GATHERED
from datalog.kernels.jit import INT, READ1, READ2, WRITE1, WRITE2, Budget, Words, device, kernel
from datalog.kernels.layout import DONE as ROWS_DONE_BY_TREE
from datalog.kernels.layout import ROOT, SET, SHAPE_WORDS

MOST_NEW = 64  # rows of one predicate in a round, which are sorted by insertion

# --- state, behind the words that the join has: its steps and its budget are where a join has them -----------------------
ROUNDS = STATE_WORDS  # that were done
ROUNDS_LIMIT = STATE_WORDS + 1
ADDED = STATE_WORDS + 2  # rows, in these
ADDED_LIMIT = STATE_WORDS + 3
STAMP = STATE_WORDS + 4  # of the rows of the first round
JOIN, GATHER, INSERT = STATE_WORDS + 5, STATE_WORDS + 6, STATE_WORDS + 7  # where the machine code of the kernels lies that it calls
TRUSTED = STATE_WORDS + 8
SCRATCH = STATE_WORDS + 9  # where there is room for prefixes, and behind it for a missed call
FAILURES = STATE_WORDS + 10  # expressions without a value, in rounds that were followed, and in this one
FAILURES_NOW = STATE_WORDS + 11
LOOP_WORDS = STATE_WORDS + 12

# --- a predicate: a row of `predicates` -------------------------------------------------------------------------------------
ROWS_AT = 0  # what is gathered of it: `rows`, `table` and `state` of `gather.py`
ROOM = 1
WIDTH = 2
TABLE_AT = 3
TABLE_WORDS = 4
STATE_AT = 5
STATE_LENGTH = 6
HEADS_AT = 7  # where heads are written
HEADS_ROOM = 8
HEADS = 9  # how many there are
NEW_FROM = 10  # the first of the rows that are new
PREDICATE_WORDS = 11

# --- a delta plan: a row of `plans` -------------------------------------------------------------------------------------------
GIVEN = 0  # the predicate whose new rows it completes, and its columns that make prefixes
COLUMNS_AT = 1
COLUMNS = 2
HEAD = 3  # the predicate of its head
WORDS_AT = 4
WORDS = 5
PLAN_STATE_AT = 6
PLAN_STATE_WORDS = 7
SLOTS_AT = 8  # the numbers of its trees, and where there is room for their roots
SLOTS = 9
ROOTS_AT = 10
PREFIX_WIDTH = 11
MISSED_WIDTH = 12
FIRST_ONLY = 13  # as in the state of a join
PREFIXES_DONE = 14  # these and the following add up
STEPS_DONE = 15
ROWS_DONE = 16
ROWS_NOW = 17  # in this round
PLAN_WORDS = 18

# --- a tree that has to hold all rows: a row of `trees` -----------------------------------------------------------------------
TREE_PREDICATE = 0
TREE_NUMBER = 1
SHAPE_AT = 2
COLUMNS_OF_TREE_AT = 3  # in which order it has the predicate's columns
TREE_WORDS = 4

# --- why it returns -------------------------------------------------------------------------------------------------------------
CLOSED = 0  # the last round found nothing new
AT_LIMIT = 1  # of rounds, of rows or of steps
CANNOT_FOLLOW = 2
CANNOT_ADD = 3


@device
def count_of(predicates: Words, predicate: int) -> int:
    """How many rows are gathered of a predicate."""
    return int(words_at(predicates[predicate, STATE_AT], predicates[predicate, STATE_LENGTH])[GATHERED])


@device
def fill_prefixes(prefixes: Words, rows: Words, first: int, last: int, columns: Words) -> int:
    """Write the distinct values of `columns` in the rows first … last - 1, ascending, as prefixes; how many there are."""
    length = columns.shape[0]
    count = 0
    for row in range(first, last):
        place = count
        equal = False
        while place > 0:
            column = 0
            while column < length and prefixes[place - 1, PREFIX_VALUES + column] == rows[row, columns[column]]:
                column += 1
            if column == length:
                equal = True
                break
            if prefixes[place - 1, PREFIX_VALUES + column] < rows[row, columns[column]]:
                break
            place -= 1
        if equal:
            continue
        for later in range(count, place, -1):
            for column in range(length):
                prefixes[later, PREFIX_VALUES + column] = prefixes[later - 1, PREFIX_VALUES + column]
        for column in range(length):
            prefixes[place, PREFIX_VALUES + column] = rows[row, columns[column]]
        count += 1
    for row in range(count):
        prefixes[row, PREFIX_LENGTH] = length
        prefixes[row, PREFIX_LOW] = LOWEST
        prefixes[row, PREFIX_HIGH] = HIGHEST
        prefixes[row, PREFIX_STAMP] = 0
    return count


@device
def complete_new(
    pages: Words, version: Words, labels: Words, memo: Words, predicates: Words, plans: Words, plan: int, state: Words
) -> bool:
    """Complete the new rows of a plan's predicate, its heads behind those that are there; False if it cannot be done here."""
    given = plans[plan, GIVEN]
    head = plans[plan, HEAD]
    width = plans[plan, PREFIX_WIDTH]
    first = predicates[given, NEW_FROM]
    last = count_of(predicates, given)
    rows = rows_at(predicates[given, ROWS_AT], last, predicates[given, WIDTH])
    prefixes = rows_at(state[SCRATCH], last - first, width)
    count = fill_prefixes(prefixes, rows, first, last, words_at(plans[plan, COLUMNS_AT], plans[plan, COLUMNS]))
    own = words_at(plans[plan, PLAN_STATE_AT], plans[plan, PLAN_STATE_WORDS])
    slots = words_at(plans[plan, SLOTS_AT], plans[plan, SLOTS])
    roots = words_at(plans[plan, ROOTS_AT], plans[plan, SLOTS])
    for slot in range(slots.shape[0]):
        roots[slot] = version[slots[slot]]
    before = predicates[head, HEADS]
    own[STATE_MODE] = MODE_PREFIX
    own[STATE_PREFIX] = -1
    own[STATE_OUTPUT] = before
    own[STATE_RECORDS] = 0
    own[STATE_STEPS] = 0
    own[STATE_BUDGET] = state[STATE_BUDGET] - state[STATE_STEPS]
    own[STATE_RECORDING] = RECORD_NOTHING
    own[STATE_ERROR] = 0
    own[STATE_FIRST_ONLY] = plans[plan, FIRST_ONLY]
    own[STATE_TRUSTED] = state[TRUSTED]
    own[STATE_FAILURES] = 0
    own[STATE_MISSED] = 0
    own[STATE_MISSED_BEFORE] = 0
    spare = state[SCRATCH] + WORD_BYTES * MOST_NEW * width
    status = complete_at(
        state[JOIN],
        pages,
        roots,
        words_at(plans[plan, WORDS_AT], plans[plan, WORDS]),
        labels,
        memo,
        rows_at(state[SCRATCH], count, width),
        own,
        rows_at(predicates[head, HEADS_AT], predicates[head, HEADS_ROOM], predicates[head, WIDTH]),
        rows_at(spare, 0, RECORD_VALUES),
        rows_at(spare, 1, plans[plan, MISSED_WIDTH]),
    )
    state[STATE_STEPS] += own[STATE_STEPS]
    plans[plan, STEPS_DONE] += own[STATE_STEPS]
    plans[plan, PREFIXES_DONE] += count
    if status != DONE or own[STATE_MISSED] > 0:
        return False
    plans[plan, ROWS_NOW] = own[STATE_OUTPUT] - before
    state[FAILURES_NOW] += own[STATE_FAILURES]
    predicates[head, HEADS] = own[STATE_OUTPUT]
    return True


@device
def follow_new(pages: Words, version: Words, labels: Words, memo: Words, predicates: Words, plans: Words, state: Words) -> bool:
    """Find the heads that new rows lead to; False if that cannot be done here."""
    for predicate in range(predicates.shape[0]):
        predicates[predicate, HEADS] = 0
    state[FAILURES_NOW] = 0
    for plan in range(plans.shape[0]):
        given = plans[plan, GIVEN]
        plans[plan, ROWS_NOW] = 0
        if count_of(predicates, given) > predicates[given, NEW_FROM] and not complete_new(
            pages, version, labels, memo, predicates, plans, plan, state
        ):
            return False
    for plan in range(plans.shape[0]):
        plans[plan, ROWS_DONE] += plans[plan, ROWS_NOW]
    state[FAILURES] += state[FAILURES_NOW]
    return True


@device
def insert_new(pages: Words, ledger: Words, ctl: Words, version: Words, predicates: Words, trees: Words, state: Words) -> bool:
    """Insert the new rows into the trees that have to hold them; False if the pool has to grow for that."""
    for tree in range(trees.shape[0]):
        predicate = trees[tree, TREE_PREDICATE]
        width = predicates[predicate, WIDTH]
        last = count_of(predicates, predicate)
        rows = rows_at(predicates[predicate, ROWS_AT], last, width)
        columns = words_at(trees[tree, COLUMNS_OF_TREE_AT], width)
        row = rows_at(state[SCRATCH], 1, width)
        stamp = words_at(state[SCRATCH] + WORD_BYTES * width, 1)
        for new in range(predicates[predicate, NEW_FROM], last):
            for column in range(width):
                row[0, column] = rows[new, columns[column]]
            stamp[0] = state[STAMP] + state[ROUNDS]
            ctl[ROOT] = version[trees[tree, TREE_NUMBER]]
            ctl[ROWS_DONE_BY_TREE] = 0
            if apply_rows_at(state[INSERT], pages, ledger, ctl, words_at(trees[tree, SHAPE_AT], SHAPE_WORDS), row, stamp, SET) != 0:
                return False
            version[trees[tree, TREE_NUMBER]] = ctl[ROOT]
    return True


@device
def add_heads(pages: Words, ledger: Words, ctl: Words, version: Words, predicates: Words, trees: Words, state: Words) -> bool:
    """Add the heads that are new to what is gathered; False if that cannot be done here."""
    for predicate in range(predicates.shape[0]):
        predicates[predicate, NEW_FROM] = count_of(predicates, predicate)
    for predicate in range(predicates.shape[0]):
        heads = predicates[predicate, HEADS]
        if heads > 0:
            width = predicates[predicate, WIDTH]
            taken = gather_at(
                state[GATHER],
                rows_at(predicates[predicate, HEADS_AT], heads, width),
                rows_at(predicates[predicate, ROWS_AT], predicates[predicate, ROOM], width),
                words_at(predicates[predicate, TABLE_AT], predicates[predicate, TABLE_WORDS]),
                words_at(predicates[predicate, STATE_AT], predicates[predicate, STATE_LENGTH]),
            )
            if taken < heads:
                return False
    return insert_new(pages, ledger, ctl, version, predicates, trees, state)


@kernel(INT(WRITE2, WRITE2, WRITE1, WRITE1, READ1, READ2, WRITE2, WRITE2, WRITE2, WRITE2, WRITE1), Budget(STATE_STEPS, STATE_BUDGET))
def follow(
    pages: Words,
    ledger: Words,
    ctl: Words,
    version: Words,
    labels: Words,
    memo: Words,
    predicates: Words,
    plans: Words,
    trees: Words,
    sizes: Words,
    state: Words,
) -> int:
    """Do rounds until one finds nothing new, or cannot be done here.

    version: int64[trees], their roots, of the running transaction;
    sizes: int64[rounds, predicates], how many rows of each predicate each round has found.
    """
    while True:
        new = 0
        for predicate in range(predicates.shape[0]):
            of_predicate = count_of(predicates, predicate) - predicates[predicate, NEW_FROM]
            if of_predicate > MOST_NEW:
                return CANNOT_FOLLOW
            new += of_predicate
        if new == 0:
            return CLOSED
        if state[ROUNDS] >= state[ROUNDS_LIMIT] or state[ADDED] > state[ADDED_LIMIT] or state[STATE_STEPS] >= state[STATE_BUDGET]:
            return AT_LIMIT
        if not follow_new(pages, version, labels, memo, predicates, plans, state):
            return CANNOT_FOLLOW
        if not add_heads(pages, ledger, ctl, version, predicates, trees, state):
            return CANNOT_ADD
        for predicate in range(predicates.shape[0]):
            found = count_of(predicates, predicate) - predicates[predicate, NEW_FROM]
            sizes[state[ROUNDS], predicate] = found
            state[ADDED] += found
        state[ROUNDS] += 1
