"""Gathering the distinct rows that a fixpoint finds, in the order in which they are found.

Rows lie in a growing block; a table beside it tells which are there. Where the columns range over few values (LOW … HIGH of each), a
row is a word, and the table is a bit for each word there may be, or the words themselves, hashed; else it is the places of the rows,
hashed. Hash tables are probed linearly, and have room for twice as many rows as there may be.
"""

from __future__ import annotations

import numpy as np

from datalog.kernels.jit import INT, READ2, WRITE1, WRITE2, Words, device, kernel

BITS, WORDS, ROWS = 0, 1, 2  # what the table is made of

# The words of `state`, and behind them those of each column.
FORM = 0
COUNT = 1  # of rows gathered
COLUMNS = 2
LOW, HIGH, WIDTH = 0, 1, 2  # of a column: the least and the greatest value, and the bits that it takes in a word
COLUMN_WORDS = 3

HALF_BITS = 31
HALF = 2**31 - 1
LOW_FACTOR, HIGH_FACTOR = 0x2545F491, 0x11C3B2D5  # odd, and small enough that no product overflows


@device
def mix(word: int) -> int:
    mixed = (word & HALF) * LOW_FACTOR + (word >> HALF_BITS) * HIGH_FACTOR
    return mixed ^ (mixed >> 23)


@device
def word_of_row(rows: Words, row: int, state: Words) -> int:
    """The row as a word, or -1 if it lies outside of the columns' ranges."""
    word = 0
    for column in range(rows.shape[1]):
        at = COLUMNS + column * COLUMN_WORDS
        value = rows[row, column]
        if value < state[at + LOW] or value > state[at + HIGH]:
            return -1
        word = (word << int(state[at + WIDTH])) | int(value - state[at + LOW])
    return word


@device
def enter_bit(table: Words, word: int) -> bool:
    """Note a word: True if it is new."""
    place = word >> 6
    bits = table[place]
    bit = word & 63
    table[place] = bits | (np.int64(1) << bit)
    return bool((bits >> bit) & 1 == 0)


@device
def enter_word(table: Words, word: int) -> bool:
    last = table.shape[0] - 1
    place = mix(word) & last
    while table[place] != 0:
        if table[place] == word + 1:
            return False
        place = (place + 1) & last
    table[place] = word + 1
    return True


@device
def enter_row(table: Words, rows: Words, count: int, heads: Words, head: int) -> bool:
    """Note that a head is to be row number `count`: True if none before it is equal."""
    width = rows.shape[1]
    last = table.shape[0] - 1
    mixed = 0
    for column in range(width):
        mixed = mix(mixed ^ int(heads[head, column]))
    place = mixed & last
    while table[place] != 0:
        row = table[place] - 1
        column = 0
        while column < width and rows[row, column] == heads[head, column]:
            column += 1
        if column == width:
            return False
        place = (place + 1) & last
    table[place] = count + 1
    return True


@kernel(INT(READ2, WRITE2, WRITE1, WRITE1))
def gather(heads: Words, gathered: Words, table: Words, state: Words) -> int:
    """Append the heads that are new, until there is no more room or a head lies outside of the ranges; how many heads it went through."""
    form = state[FORM]
    count = state[COUNT]
    room, width = gathered.shape
    head = 0
    while head < heads.shape[0] and count < room:
        if form == ROWS:
            new = enter_row(table, gathered, count, heads, head)
        else:
            word = word_of_row(heads, head, state)
            if word < 0:
                break
            new = enter_bit(table, word) if form == BITS else enter_word(table, word)
        if new:
            for column in range(width):
                gathered[count, column] = heads[head, column]
            count += 1
        head += 1
    state[COUNT] = count
    return head
