"""Where things stand in pages, trees' shapes and the pool's counters. Integer constants only: kernels bake them in.

A page is one row of the pool, `int64[W]`: four header words, then columns of `cap` words each, entry i of column c at
`HEADER + c * cap + i`.

- leaf (LEVEL 0): the k key columns, then the payload if the tree has one;
- inner (LEVEL > 0): the k columns of the separator, the child's page id, the number of rows below it and, if the tree keeps a scan,
  its word for all rows below it (`scans.py`).

Rows are distinct and lexicographically ascending as signed words. A separator is a lower bound of its child's least row and greater
than every row of the child before; the trees of `btree.py` keep it equal to the least row. An empty tree is the root EMPTY.
"""

# Words of a page's header.
LEVEL = 0
COUNT = 1
BORN = 2  # number of the transaction that created the page
HEADER = 4  # word 3 is spare

EMPTY = -1
MAX_HEIGHT = 64

# Words of a tree's shape.
WIDTH = 0  # key columns
PAYLOAD = 1  # payload columns, 0 or 1
SCAN = 2  # what inner entries hold of the rows below them: a kind of scan
LEAF_CAP = 3
INNER_CAP = 4
SHAPE_WORDS = 5

# Inner columns after the k separators.
CHILD = 0
ROWS = 1
SCANNED = 2

# Words of the pool's `ctl`: heights of the four stacks in the ledger (whose row numbers they share), then single values.
FREE = 0  # pages that nobody reaches
TAKEN = 1  # pages that the running transaction took from FREE or from the top
RETIRED = 2  # pages of older versions that the running transaction replaced
RECYCLED = 3  # taken pages that the running transaction gave up again
TRANSACTION = 4
TOP = 5  # pages below this one have been used
ROOT = 6  # in and out: the tree that a kernel changes
DONE = 7  # in and out: rows of the batch that are finished
CTL_WORDS = 8
LEDGER_STACKS = 4

# Actions of a batch.
SET = 0
COUNT_UP = 1
MAX = 2
REMOVE = 3
ADD = 4

# Kinds of scan. PRODUCT counts a row's last key column as often as its payload says, ODD_BITS if that is odd.
NO_SCAN = 0
GREATEST_PAYLOAD = 1
TOTAL = 2  # of the payloads; wraps
LEAST_KEY = 3  # these and the following: of the last key column
GREATEST_KEY = 4
ALL_BITS = 5
ANY_BITS = 6
ODD_BITS = 7
PRODUCT = 8
