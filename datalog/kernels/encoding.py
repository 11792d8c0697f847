"""The encoded plan and the join's state: named offsets into flat int64 arrays. Only integer constants.

`datalog/plan/encode.py` writes plans, `triejoin.py` reads them; the state is allocated per rule and holds everything
that an interrupted join needs to go on.
"""

# --- plan header -----------------------------------------------------------------------------------------------------
PLAN_DEPTHS = 0  # number of variables
PLAN_ITERATORS = 1  # number of (positive atom, level) iterators
PLAN_DEPTHS_AT = 2  # offsets of the sections
PLAN_ITERATORS_AT = 3
PLAN_CHECKS_AT = 4
PLAN_NEGATIONS_AT = 5
PLAN_SLOTS_AT = 6
PLAN_OUTPUT_AT = 7  # depths of the variables that make up an output row; -1: the greatest stamp of the premises
PLAN_OUTPUT_WIDTH = 8
PLAN_NEGATIONS = 9
PLAN_STACK = 10  # words that the deepest expression needs
PLAN_OLDER = 11  # 1: rows of stamped iterators must be older than the prefix's stamp
PLAN_TIGHT = 12  # iterators of the last depth where all that it does is to find what they have in common (`innermost.py`), else 0
PLAN_LAST_COLUMN = 13  # the first column of the output for the last variable, or -1
PLAN_HEADER = 14

# --- one row per depth -------------------------------------------------------------------------------------------------
DEPTH_BINDING = 0  # offset of the code that computes the variable, or -1: it is joined
DEPTH_ITERATORS = 1  # first and one past the last iterator that takes part
DEPTH_ITERATORS_END = 2
DEPTH_BOUNDS = 3  # checks that narrow the variable's interval
DEPTH_BOUNDS_END = 4
DEPTH_FILTERS = 5  # checks made once the variable is bound
DEPTH_FILTERS_END = 6
DEPTH_FALLIBLE = 7  # checks whose expressions may have no value, made after everything else
DEPTH_FALLIBLE_END = 8
DEPTH_NEGATIONS = 9
DEPTH_NEGATIONS_END = 10
DEPTH_GIVES = 11  # what the binding gives
DEPTH_JOINED = 12  # 1: no binding and no bounds
DEPTH_CHECKED = 13  # 1: something is checked once the variable is bound
DEPTH_WORDS = 14

GIVES_VALUE = 0  # the variable's value
GIVES_RANGE, GIVES_FLOATS = 1, 2  # each of several values; of floats, in steps that are rounded
GIVES_CANDIDATE = 3  # the only value that may pass a later check, or none at all: that is no failure

# --- one row per iterator: one level of one positive atom ------------------------------------------------------------------
ITERATOR_SLOT = 0
ITERATOR_LEVEL = 1  # the column of the arrangement
ITERATOR_PARENT = 2  # the iterator of the level above, or -1
ITERATOR_PREFIX_AT = 3  # where the depths of the levels above are listed
ITERATOR_STAMPS = 4  # the word of a leaf at which its rows' stamps begin, where they count; or -1
ITERATOR_WORDS = 5

# --- checks --------------------------------------------------------------------------------------------------------------
CHECK_OPERATOR = 0
CHECK_LEFT = 1  # offset of code; unused for bounds, whose left side is the depth's own variable
CHECK_RIGHT = 2
CHECK_SYMBOLS = 3  # 1: compare the labels of interned symbols, not their codes
CHECK_WORDS = 4

EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL = 0, 1, 2, 3, 4, 5

# --- negated atoms ---------------------------------------------------------------------------------------------------------
NEGATION_SLOT = 0
NEGATION_LEVELS = 1  # how many columns are bound
NEGATION_VALUES_AT = 2  # where their depths are listed
NEGATION_WORDS = 3

# --- slots: the trees that the plan reads -------------------------------------------------------------------------------------
SLOT_COLUMNS = 0
SLOT_LEAF_ROWS = 1
SLOT_INNER_ROWS = 2
SLOT_WORDS = 3

# --- expression code: operation and operand, in postfix order -------------------------------------------------------------
CODE_END = 0
CODE_VARIABLE = 1  # operand: depth
CODE_CONSTANT = 2  # operand: code of the value
CODE_ADD, CODE_SUBTRACT, CODE_MULTIPLY, CODE_DIVIDE, CODE_REMAINDER, CODE_POWER = 3, 4, 5, 6, 7, 8
CODE_LEAST, CODE_GREATEST = 9, 10
CODE_AND, CODE_OR, CODE_EXCLUSIVE_OR, CODE_SHIFT_LEFT = 11, 12, 13, 14  # bit by bit
CODE_SHIFT_RIGHT_UNSIGNED, CODE_SHIFT_RIGHT = 15, 16  # the latter keeps a number's sign
CODE_BOTH, CODE_EITHER, CODE_EITHER_ONE = 17, 18, 19  # of truth values; 0 is false
CODE_RANGE = 20  # of start, end and step, if the operand is 0, which is else the default step: what `ranges.py` makes of them
CODE_WITHIN = 21  # of a value and what CODE_RANGE has left: 1 if it is in the range, else 0
CODE_CALL = 22  # + number of arguments * CODE_KIND; operand: number of a function that is not computed here
CODE_NEGATE, CODE_ABSOLUTE, CODE_COMPLEMENT, CODE_NOT = 32, 33, 34, 35  # from here on operations of one argument
CODE_TO_NUMBER, CODE_TO_UNSIGNED, CODE_TO_FLOAT, CODE_TO_DECIMAL = 36, 37, 38, 39
CODE_KIND = 64  # operation + kind of the arguments * CODE_KIND; the operand is the unit of a decimal: 10 to its scale
KIND_NUMBER, KIND_UNSIGNED, KIND_FLOAT, KIND_DECIMAL = 0, 1, 2, 3
KIND_WRAPPING, KIND_UNCHECKED = 4, 5  # numbers and floats in arithmetic as the machine has it, which overflow and division by 0 do not end

# --- errors of expressions --------------------------------------------------------------------------------------------------
NO_ERROR, OVERFLOW, DIVISION_BY_ZERO, OUT_OF_RANGE, NEGATIVE, NOT_A_NUMBER = 0, 1, 2, 3, 4, 5
CALL_FAILED = 6  # the memo says so; STATE_FAILURE is the number of the reason
MISSED = 7  # the memo does not know the call; never seen outside of the kernel
NO_VALUE = 8  # the memo says that there is no value, and that this is no failure; never seen outside of the kernel

# --- memo: what calls gave, in a hash table with linear probing; a column each for the key, the arguments and the result ------
MEMO_KEY = 0  # 0: free; number of the function + 1; negative: there is no value, and the result is the number of the reason, or -1
MEMO_ARGUMENTS = 1
MEMO_BESIDES = 2  # columns that are no arguments
MEMO_FACTOR = 0x9E3779B97F4A7C15  # 2⁶⁴ divided by the golden ratio

# --- state -----------------------------------------------------------------------------------------------------------------
STATE_MODE = 0
STATE_DEPTH = 1
STATE_PREFIX = 2  # index of the prefix being completed
STATE_OUTPUT = 3  # rows written
STATE_RECORDS = 4  # sensitivity records written
STATE_STEPS = 5  # iterator operations since the state was made
STATE_BUDGET = 6  # pause when STATE_STEPS passes it
STATE_RECORDING = 7  # RECORD_NOTHING, RECORD_EXACT, RECORD_RUNS or RECORD_HULLS
STATE_ERROR = 8
STATE_ERROR_AT = 9  # offset of the operation that failed
STATE_OPENED = 10  # how many depths of the current prefix are open
STATE_FIRST_ONLY = 11  # FIRST_OF_PREFIX or FIRST_OF_HEAD: which bindings that follow upon one are passed over
STATE_TRUSTED = 12  # 1: an expression without a value is a literal that does not hold, and no more
STATE_FAILED_DEPTH = 13  # where an expression had no value
STATE_FAILED_BOUND = 14  # and how many variables were bound then
STATE_FAILURE = 15  # of a call: the number of the reason
STATE_FAILURES = 16  # expressions without a value that were not reported
STATE_ARGUMENTS_AT = 17  # of a missed call, on the stack
STATE_MISSED = 18  # missed calls written
STATE_MISSED_BEFORE = 19  # of these, those of earlier prefixes
STATE_WORDS = 20

ALL, FIRST_OF_PREFIX, FIRST_OF_HEAD = 0, 1, 2  # the latter: those that differ behind the last variable of the output only

RECORD_NOTHING, RECORD_EXACT, RECORD_RUNS, RECORD_HULLS = 0, 1, 2, 3

# modes: what to do next at the current depth
MODE_PREFIX, MODE_ENTER, MODE_LEAP, MODE_ADVANCE = 0, 1, 2, 3

# per depth, after STATE_WORDS
LEVEL_VALUE = 0
LEVEL_LOW = 1
LEVEL_HIGH = 2
LEVEL_NATURAL_LOW = 3  # the lower end before the prefix's interval narrowed it
LEVEL_TARGET = 4
LEVEL_AGREEING = 5
LEVEL_POINTER = 6
LEVEL_STEP = 7  # of a range
LEVEL_START = 8  # of a range of floats: where it began, and the value at which it is
LEVEL_AT = 9
LEVEL_WORDS = 10

# per iterator, after the depths
CURSOR_KEY = 0
CURSOR_LIMIT = 1  # end of the prefix's rows within the leaf
CURSOR_AT_END = 2
CURSOR_RECORDED = 3  # 1 while an interval is being recorded
CURSOR_FROM = 4
CURSOR_TO = 5
CURSOR_HEIGHT = 6
CURSOR_STACK = 7  # (page, entry) from the leaf upward
CURSOR_LEVELS = 40  # more than a tree of 2^31 rows has, also with three rows in a page
CURSOR_WORDS = 7 + 2 * 40

# --- prefixes and records ---------------------------------------------------------------------------------------------------
PREFIX_LENGTH = 0
PREFIX_LOW = 1
PREFIX_HIGH = 2
PREFIX_STAMP = 3
PREFIX_VALUES = 4
RECORD_ITERATOR = 0  # negated atoms are numbered after the iterators
RECORD_LOW = 1
RECORD_HIGH = 2
RECORD_VALUES = 3

# A row of missed calls: the prefix to complete once the call is known, then the function's number and the arguments.

# --- what a call returns ----------------------------------------------------------------------------------------------------
DONE, OUTPUT_FULL, RECORDS_FULL, PAUSED, FAILED, MISSES_FULL = 0, 1, 2, 3, 4, 5
