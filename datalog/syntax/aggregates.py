"""Where aggregates begin. Their names are no reserved words: `max(a, b)` calls a functor and `max - 1` may subtract from a variable,
but `max x : { … }`, `max (a) - b : { … }` and `max -x : { … }` are aggregates. The colon behind the arguments decides, which is
further ahead than the parser sees, so the rest of the clause is looked through once for all such words in it.

A word directly before another word, a number or a string begins an aggregate in any case. Of several that may, the colon belongs
to the last such one, or else to the last of those that could be names as well. One aggregate among the arguments of another
therefore stands in parentheses, or is misread, which the colon that is left over reveals.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from datalog.syntax.operators import INFIX
from datalog.syntax.skim import tokens

# The words, and how many arguments each takes before its colon.
AGGREGATES = {
    **dict.fromkeys(("sum", "mean", "min", "max", "median", "product", "bitand", "bitor", "bitxor", "collect"), 1),
    **dict.fromkeys(("argmin", "argmax", "quantile", "join"), 2),
    "count": 0,
}
OTHER_NAMES = {"avg": "mean", "average": "mean"}  # what other languages call them, for hints

ENDS_ARGUMENTS = frozenset((";", "=", "<", ">", "<=", ">=", "!=", "!", ":-", "<-", "<<", ">>"))


@dataclass(slots=True, eq=False)
class Word:
    """A word that may begin an aggregate. `commas` so far between its arguments; `only_word`: it begins an aggregate in any case."""

    start: int
    name: str
    commas: int = 0
    begun: bool = False
    only_word: bool = False
    is_call: bool = False

    def fits(self) -> bool:
        """Whether the arguments so far are as many as it takes."""
        wanted = AGGREGATES[self.name]
        return not self.is_call and (self.commas == wanted - 1 if self.begun else wanted == 0)


@dataclass(slots=True)
class Level:
    """What stands between two brackets: the words that wait for their colon, and the one directly before the opening bracket."""

    before: Word | None
    waiting: list[Word] = field(default_factory=list)
    users: int = 0  # the user's own aggregates, `@@f`, that wait for their colons
    initial: int = 0  # those that wait for the comma behind their first values

    def comma(self) -> None:
        """The comma belongs to a word that takes one more argument, or else to the call before the bracket."""
        if self.users or self.initial:
            self.initial -= not self.users
            self.drop(0)
            return
        words = [word for word in self.waiting if word.begun and word.commas < AGGREGATES[word.name] - 1]
        if word := chosen(words):
            self.drop(self.waiting.index(word) + 1)
            word.commas += 1
        else:
            self.drop(0)
            self.is_call()

    def colon(self) -> Word | None:
        """The word whose arguments end here."""
        word = chosen([word for word in self.waiting if word.fits()])
        if word is not None:
            del self.waiting[self.waiting.index(word) :]
        elif self.users:
            self.users -= 1
            self.initial += 1
        return word

    def drop(self, first: int) -> None:
        """The words from this place on are names after all, and their commas those of the call before the bracket."""
        if any(word.commas for word in self.waiting[first:]):
            self.is_call()
        del self.waiting[first:]

    def is_call(self) -> None:
        if self.before is not None:
            self.before.is_call = True


def chosen(words: list[Word]) -> Word | None:
    """Of those to which a sign may belong: the last that can be nothing but an aggregate, or else the last."""
    return next((word for word in reversed(words) if word.only_word), words[-1] if words else None)


def aggregates(text: str, start: int) -> tuple[set[int], int]:
    """The offsets from `start` up to an end at which aggregates begin, and that end: the full stop, or an unmatched bracket.

    Takes time in proportion to the text up to the end, times the words in it that wait for a colon at once.
    """
    found: set[int] = set()
    levels = [Level(None)]
    previous: Word | None = None  # the word directly before the token
    last, end = "", len(text)
    for match in tokens(text, start):
        token, level = match.group(), levels[-1]
        operand = token[0].isalnum() or token[0] in '_?"$@'
        if previous is not None and token not in INFIX and operand:
            previous.only_word = True
            found.add(previous.start)
        if level.waiting and token not in (":", ",", "{"):
            level.waiting[-1].begun = True
        word_before, previous = previous, None
        if token in AGGREGATES:
            previous = Word(match.start(), token)
            level.waiting.append(previous)
        elif token == "@" and last == "@":
            level.users += 1
        elif token in ("(", "[", "{"):
            if token == "{" and last not in (":", ",") and (missing := level.colon()):
                found.add(missing.start)  # its colon is forgotten
            levels.append(Level(word_before))
            if token == "[" and word_before is not None:
                level.waiting.remove(word_before)
        elif token in (")", "]", "}"):
            level.drop(0)
            if last == "(":
                level.is_call()
            if len(levels) == 1:
                end = match.start()
                break
            levels.pop()
        elif token == ",":
            level.comma()
        elif token == ":" and (ended := level.colon()):
            found.add(ended.start)
        elif token in ENDS_ARGUMENTS:
            level.drop(0)
        elif token == "." or match.group("directive"):
            end = match.start()
            break
        last = token
    return found, end
