"""Soufflé's tables of symbols and records, as C++ functions of a shared library see them: two objects made by hand.

A `stateful` functor gets a `souffle::SymbolTable*` and a `souffle::RecordTable*` and calls their virtual methods. By the Itanium C++ ABI,
which all compilers but Microsoft's follow, such an object begins with a pointer to an array of its class's virtual functions, in the order
of their declarations, a destructor being two; the `this` pointer is their first argument. So a pointer to an array of ctypes callbacks is
such an object. Two things in their signatures have a layout that the C++ library decides, and here it is that of libstdc++:

    std::string                      char* text, size_t length, and 16 bytes that hold a short text or a capacity
    std::initializer_list<int64_t>   int64_t* begin, size_t length

Words are Soufflé's of 64 bits. A number is itself, an unsigned and a float are their bits, a symbol is its number in the table. `nil` is
0, and a record is its number among the tuples of as many words, from 1 on. A value of an algebraic type none of whose branches has fields
is the number of its branch, by the order of the names; of others it is the record [branch, field], or [branch, record of the fields]
where there are no or several of them. Numbers of symbols and records are not those that Soufflé would give.

Methods that go over a whole table (`begin`, `end`, `enumerate`), and `findOrInsert`, whose result no callback can return, end the process
with a message, since no exception can leave a callback.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datalog.ir.core import Type
from datalog.ir.structures import Shape, Structure
from datalog.store.columns import SIGN_BIT, code_of, floats_of
from datalog.store.values import Values

Words = NDArray[np.int64]

_WORD, _POINTER, _SIZE = ctypes.c_int64, ctypes.c_void_p, ctypes.c_size_t


class _Text(ctypes.Structure):
    """libstdc++'s std::string; its text lies outside of it, as a long one does."""

    _fields_ = (("text", ctypes.c_char_p), ("length", _SIZE), ("capacity", _SIZE), ("unused", _SIZE))


class _List(ctypes.Structure):
    """libstdc++'s std::initializer_list<int64_t>."""

    _fields_ = (("begin", ctypes.POINTER(_WORD)), ("length", _SIZE))


class Tables:
    """The two tables of one database, and values as words and back. Words stay what they are as long as the tables live."""

    def __init__(self, values: Values) -> None:
        if sys.platform not in ("linux", "freebsd"):
            raise TypeError("stateful functors of shared libraries are called on Linux only, where std::string is that of libstdc++")
        self._values = values
        self._symbols: dict[str, int] = {}
        self._texts: list[_Text] = []
        self._records: dict[tuple[int, ...], int] = {}
        self._tuples: dict[int, list[Any]] = {}  # by how many words they have; those behind nil come first
        self._word_of: dict[tuple[Structure, int], int] = {}
        self._code_of: dict[tuple[Structure, int], int] = {}
        self._failure: Exception | None = None
        self._kept: list[Any] = []  # what C++ has pointers to
        self._symbol_table = self._object(_symbol_methods(self))
        self._record_table = self._object(_record_methods(self))

    def call(self, function: Any, arguments: Sequence[int]) -> int:
        """The word that a function gives. LookupError where it asked the tables for what they do not have."""
        self._failure = None
        word: int = function(self._symbol_table, self._record_table, *arguments)
        if self._failure is not None:
            raise self._failure
        return word

    # --- values as words -------------------------------------------------------------------------------------------------------

    def words(self, codes: Words, type: Type) -> list[int]:
        """The words of a column of codes."""
        if isinstance(type, Structure):
            self._learn(np.unique(codes), type)
            return [self._word_of.get((type, code), 0) for code in codes.tolist()]
        if type is Type.SYMBOL:
            return [self.encode(text) for text in self._values.decode_column(codes, type)]
        if type is Type.FLOAT:
            codes = floats_of(np.ascontiguousarray(codes)).view(np.int64)
        elif type is Type.UNSIGNED:
            codes = codes ^ SIGN_BIT
        words: list[int] = codes.tolist()
        return words

    def _learn(self, codes: Words, type: Structure) -> None:
        """Make words of values with parts, and of all that they are made of, the innermost ones first."""
        rows: list[tuple[int, Structure, Shape, tuple[int, ...]]] = []
        structures = self._values.structures
        for of, some in structures.reached(codes, type).items():
            for shape, own, columns in structures.shaped(some, of):
                fields = zip(*(column.tolist() for column in columns), strict=True) if columns else [()] * len(own)
                rows += [(one, of, shape, parts) for one, parts in zip(own.tolist(), fields, strict=True) if (of, one) not in self._word_of]
        rows.sort(key=lambda row: row[0])  # a value is made after its parts
        for one, of, shape, parts in rows:
            words = [
                self._word_of.get((field, part), 0) if isinstance(field, Structure) else self.words(np.array([part]), field)[0]
                for part, field in zip(parts, shape.types, strict=True)
            ]
            word = self._put_together(of, shape, words)
            self._word_of[of, one] = word
            self._code_of[of, word] = one

    def _put_together(self, type: Structure, shape: Shape, words: list[int]) -> int:
        if type.record:
            return self.pack(words)
        number = type.number(shape.name)
        if is_enumeration(type):
            return number
        return self.pack([number, words[0] if len(words) == 1 else self.pack(words)])

    def code(self, word: int, type: Type) -> int:
        """The code of a word. LookupError if there is no such value."""
        if isinstance(type, Structure):
            return self._structure(word, type)
        if type is Type.SYMBOL:
            return self._values.encode(self.text(word), type)
        if type is Type.FLOAT:
            return code_of(float(np.array([word]).view(np.float64)[0]), type)
        return word ^ int(SIGN_BIT) if type is Type.UNSIGNED else word

    def _structure(self, word: int, type: Structure) -> int:
        """The code of a value with parts; goes by a stack and not by calls of itself, for it may be nested deeply."""
        waiting = [(type, word)]
        while waiting:
            of, one = waiting[-1]
            if self._known(of, one) is not None:
                waiting.pop()
                continue
            number, words = self._taken_apart(of, one)
            types = of.shapes[number].types
            inner = [
                (field, part)
                for field, part in zip(types, words, strict=True)
                if isinstance(field, Structure) and self._known(field, part) is None
            ]
            if inner:
                if len(waiting) > len(self._records) + 1:
                    raise LookupError("a record is a part of itself")
                waiting += inner
                continue
            codes = [self.code(part, field) for field, part in zip(types, words, strict=True)]
            self._code_of[of, one] = self._values.structures.intern(of, number, codes)
        found = self._known(type, word)
        assert found is not None
        return found

    def _known(self, type: Structure, word: int) -> int | None:
        return 0 if type.record and word == 0 else self._code_of.get((type, word))

    def _taken_apart(self, type: Structure, word: int) -> tuple[int, Sequence[int]]:
        """The number of the shape, and the words of the fields."""
        if type.record:
            return 0, self._tuple(word, len(type.shapes[0].fields))
        number = word
        inner = 0
        if not is_enumeration(type):
            number, inner = self._tuple(word, 2)
        if not 0 <= number < len(type.shapes):
            raise LookupError(f"{type.value} has no branch {number}")
        fields = len(type.shapes[number].fields)
        if fields == 1:
            return number, (inner,)
        return number, () if is_enumeration(type) else self._tuple(inner, fields)

    def settle(self) -> None:
        """Let readers see the values that have been made."""
        self._values.structures.settle()

    # --- the tables ------------------------------------------------------------------------------------------------------------

    def encode(self, text: str) -> int:
        """The number of a symbol, a new one if need be."""
        found = self._symbols.get(text)
        if found is None:
            found = self._symbols[text] = len(self._texts)
            written = text.encode()
            self._texts.append(_Text(written, len(written), len(written), 0))
        return found

    def text(self, number: int) -> str:
        """The symbol of a number."""
        if not 0 <= number < len(self._texts):
            raise LookupError(f"there is no symbol {number}")
        return _read(self._texts[number])

    def address(self, number: int) -> int:
        """Where the std::string of a symbol stands."""
        self.text(number)
        return ctypes.addressof(self._texts[number])

    def has(self, text: str) -> bool:
        return text in self._symbols

    def pack(self, words: Sequence[int]) -> int:
        """The number of a record, a new one if need be."""
        key = tuple(words)
        found = self._records.get(key)
        if found is None:
            known = self._of_length(len(key))
            found = self._records[key] = len(known)
            known.append((_WORD * len(key))(*key))
        return found

    def unpack(self, number: int, length: int) -> int:
        """Where the words of a record stand; zeros for nil."""
        known = self._of_length(length)
        if not 0 <= number < len(known):
            raise LookupError(f"there is no record {number} of {length} fields")
        return ctypes.addressof(known[number])

    def _tuple(self, number: int, length: int) -> list[int]:
        self.unpack(number, length)
        if number == 0:
            raise LookupError("a value of an algebraic type is 0")
        words: list[int] = list(self._tuples[length][number])
        return words

    def _of_length(self, length: int) -> list[Any]:
        if length not in self._tuples:
            self._tuples[length] = [(_WORD * length)()]
        return self._tuples[length]

    # --- objects of C++ --------------------------------------------------------------------------------------------------------

    def guarded(self, method: Callable[..., int], otherwise: int) -> Callable[..., int]:
        """A method that no exception leaves: the call of the functor fails by it, once that has returned."""

        def call(_this: int, *arguments: Any) -> int:
            try:
                return method(*arguments)
            except Exception as error:
                self._failure = self._failure or error
                return otherwise

        return call

    def _object(self, methods: Sequence[Any]) -> int:
        """The address of an object with these virtual functions; in front of them stand the offset to its top and a type."""
        addresses = [0, 0, *(ctypes.cast(method, _POINTER).value for method in methods)]
        table = (_POINTER * len(addresses))(*addresses)
        made = (_POINTER * 1)(ctypes.addressof(table) + 2 * ctypes.sizeof(_POINTER))
        self._kept += (methods, table, made)
        return ctypes.addressof(made)


def is_enumeration(type: Structure) -> bool:
    """Whether no branch of an algebraic type has fields."""
    return not type.record and not any(shape.fields for shape in type.shapes)


def _symbol_methods(tables: Tables) -> list[Any]:
    """The virtual functions of souffle::SymbolTable."""
    encode = _method(tables.guarded(lambda at: tables.encode(_read(_Text.from_address(at))), 0), _WORD, _POINTER)
    nothing = tables.encode("")
    decode = _method(tables.guarded(tables.address, tables.address(nothing)), _POINTER, _WORD)
    return [
        *_destructors(),
        _missing("SymbolTable::begin"),
        _missing("SymbolTable::end"),
        _method(tables.guarded(lambda at: tables.has(_read(_Text.from_address(at))), 0), ctypes.c_bool, _POINTER),
        encode,
        decode,
        encode,
        decode,
        _missing("SymbolTable::findOrInsert"),
    ]


def _record_methods(tables: Tables) -> list[Any]:
    """The virtual functions of souffle::RecordTable."""

    def pack_list(at: int) -> int:
        given = _List.from_address(at)
        return tables.pack(given.begin[: given.length])

    def pack(at: int, length: int) -> int:
        return tables.pack(list((_WORD * length).from_address(at)) if length else ())

    zeros = (_WORD * 256)()
    tables._kept.append(zeros)
    return [
        *_destructors(),
        _method(lambda _this, _lanes: None, None, _SIZE),
        _method(tables.guarded(pack, 0), _WORD, _POINTER, _SIZE),
        _method(tables.guarded(pack_list, 0), _WORD, _POINTER),
        _method(tables.guarded(tables.unpack, ctypes.addressof(zeros)), _POINTER, _WORD, _SIZE),
        _missing("RecordTable::enumerate"),
    ]


def _method(call: Callable[..., Any], result: Any, *arguments: Any) -> Any:
    return ctypes.CFUNCTYPE(result, _POINTER, *arguments)(call)


def _destructors() -> list[Any]:
    """The complete one and the deleting one. Nobody but us ends a table."""
    return [_method(lambda _this: None, None), _method(lambda _this: None, None)]


def _missing(name: str) -> Any:
    def end(_this: int) -> None:
        os.write(2, f"datalog: a functor calls {name}, which is there in Soufflé only\n".encode())
        os._exit(1)

    return _method(end, None)


def _read(text: _Text) -> str:
    """What a std::string holds."""
    at = ctypes.cast(ctypes.addressof(text), ctypes.POINTER(_POINTER)).contents.value
    return ctypes.string_at(at or 0, text.length).decode()
