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

    def comma(self) -> None:
        """The comma belongs to the last word that takes one more argument; those behind it, and all if there is none, are names."""
        while self.waiting and not (self.waiting[-1].begun and self.waiting[-1].commas < AGGREGATES[self.waiting[-1].name] - 1):
            self.waiting.pop()
        if self.waiting:
            self.waiting[-1].commas += 1

    def colon(self) -> Word | None:
        """The word whose arguments end here; those behind it are names."""
        fitting = [word for word in self.waiting if word.fits()]
        chosen = next((word for word in reversed(fitting) if word.only_word), fitting[-1] if fitting else None)
        if chosen is not None:
            del self.waiting[self.waiting.index(chosen) :]
        return chosen


def aggregates(text: str, start: int) -> tuple[set[int], int]:
    """The offsets from `start` up to an end at which aggregates begin, and that end: the full stop, or an unmatched bracket.

    Takes time in proportion to the text up to the end.
    """
    found: set[int] = set()
    levels = [Level(None)]
    previous: Word | None = None  # the word directly before the token
    end = len(text)
    for match in tokens(text, start):
        token, level = match.group(), levels[-1]
        operand = token[0].isalnum() or token[0] in '_?"'
        if previous is not None and token not in INFIX and operand:
            previous.only_word = True
            found.add(previous.start)
        for word in level.waiting:
            word.begun |= token not in (":", ",", "{")
        word_before, previous = previous, None
        if token in AGGREGATES:
            previous = Word(match.start(), token)
            level.waiting.append(previous)
        elif token in ("(", "[", "{"):
            if token == "{" and (missing := level.colon()):
                found.add(missing.start)
            levels.append(Level(word_before))
            if token == "[" and word_before is not None:
                level.waiting.remove(word_before)
        elif token in (")", "]", "}"):
            if len(levels) == 1:
                end = match.start()
                break
            levels.pop()
        elif token == ",":
            if level.before is not None:
                level.before.is_call = True
            level.comma()
        elif token == ":":
            chosen = level.colon()
            if chosen is not None:
                found.add(chosen.start)
        elif token in ENDS_ARGUMENTS:
            level.waiting.clear()
        elif token == "." or match.group("directive"):
            end = match.start()
            break
    return found, end
