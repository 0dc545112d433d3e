"""Digests of functions and of the values that travel with them: equal in every process for what does and is the same.

Pickles have no such digest: sets have another order in each process, equal texts are one object or two, and classes of
scripts get random names.
"""

from __future__ import annotations

import copyreg
import dis
import hashlib
import pickle
import sys
import types
from typing import Any, Dict, Iterable, Iterator, List, Optional, Set

# What its text tells all of.
_PLAIN = {bool, int, float, complex, str, type(None), type(Ellipsis), type(NotImplemented)}
_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
# What Python, pickle and abc keep in a class.
_NOT_OF_CLASS = {"__dict__", "__weakref__", "__module__", "__doc__", "__slotnames__", "_abc_impl", "__annotations__",
                 "__annotations_cache__", "__annotate_func__", "__firstlineno__", "__static_attributes__"}


class NoStableForm(Exception):
    """A value whose digest would be another one in each process; the text says which."""


class FunctionDigest:
    """What a function does, and the values that it uses: of variables around it, of globals, of its object."""

    def __init__(self, function: Any) -> None:
        """NoStableForm: one of these values has none."""
        walk = _Walk(_home_of(function))
        self.code: str = walk.digest_of(function, "the function").hex()
        self.values: Dict[str, str] = {name: digest.hex() for name, digest in sorted(walk.values.items())}


def value_digest(value: Any, path: str, home: str = "__main__") -> str:
    """Of a value; `path` names it in errors, and `home` is the module whose classes are digested by what they do.

    NoStableForm: it has none.
    """
    walk = _Walk(home)
    digest = walk.whole_value(value, path)
    return _joined("value", [digest] + [_joined(name, [one]) for name, one in sorted(walk.values.items())]).hex()


class _Walk:
    def __init__(self, home: str) -> None:
        self.values: Dict[str, bytes] = {}  # Digests of variables and globals, by name.
        self._home = home
        self._known: Dict[int, bytes] = {}
        self._kept: List[Any] = []  # A destroyed object could lend its id to another.
        self._within: Set[int] = set()
        self._by_pickle = False  # Whether some object was taken apart as pickle does.

    def whole_value(self, value: Any, path: str) -> bytes:
        """Its digest, which all copies by pickle must have."""
        before, self._by_pickle = self._by_pickle, False
        digest = self.digest_of(value, path)
        if self._by_pickle and not _is_stable(value, path, self._home):
            raise NoStableForm("{} is a {} whose pickle is another one each time".format(path, type(value).__name__))
        self._by_pickle = before
        return digest

    def digest_of(self, value: Any, path: str) -> bytes:
        kind = type(value)
        if kind in _PLAIN:
            return _joined(kind.__name__, [repr(value).encode("utf-8", "surrogatepass")])
        # Long lists and dicts take long otherwise.
        if kind in (list, tuple):
            kinds = set(map(type, value))
            if kinds <= _PLAIN:
                return _joined("plain " + kind.__name__, [repr(value).encode("utf-8", "surrogatepass")])
            if len(kinds) == 1 and issubclass(next(iter(kinds)), _kind_of("numpy", "number")):
                import numpy
                return _joined("numbers " + kind.__name__, [self.digest_of(numpy.array(value), path)])
        if kind is dict and set(map(type, value)) <= {str} and set(map(type, value.values())) <= _PLAIN:
            return _joined("plain dict", [repr(sorted(value.items(), key=_first)).encode("utf-8", "surrogatepass")])
        if isinstance(value, _kind_of("numpy", "generic")) and not value.dtype.hasobject:
            return _joined("scalar", [value.dtype.str.encode(), value.tobytes()])
        key = id(value)
        if key in self._known:
            return self._known[key]
        if key in self._within:
            return b"itself"
        self._within.add(key)
        try:
            digest = self._digest_of(value, path)
        except RecursionError as error:
            raise NoStableForm("{} is nested too deeply".format(path)) from error
        finally:
            self._within.discard(key)
        self._known[key] = digest
        self._kept.append(value)
        return digest

    def _digest_of(self, value: Any, path: str) -> bytes:
        kind = type(value)
        if kind in (bytes, bytearray, memoryview):
            return _joined(kind.__name__, [hashlib.sha256(value).digest()])
        if kind in (list, tuple):
            return _joined(kind.__name__, [self.digest_of(one, "{}[{}]".format(path, at)) for at, one in enumerate(value)])
        if kind in (set, frozenset):
            return _joined(kind.__name__, sorted(self.digest_of(one, path) for one in value))
        if kind in (dict, types.MappingProxyType):
            return _joined("dict", sorted(self.digest_of(name, path) + self.digest_of(one, "{}[{!r}]".format(path, name))
                                          for name, one in value.items()))
        if isinstance(value, types.ModuleType):
            return _joined("module", [value.__name__.encode()])
        if isinstance(value, type):
            return self._class(value, path)
        if isinstance(value, types.FunctionType):
            return self._function(value, path)
        if isinstance(value, types.CodeType):
            return self._code(value, path)
        if isinstance(value, (staticmethod, classmethod)):
            return _joined(kind.__name__, [self.digest_of(value.__func__, path)])
        if isinstance(value, property):
            return _joined("property", [self.digest_of(one, path) for one in (value.fget, value.fset, value.fdel)])
        wrapped = getattr(value, "__wrapped__", None)
        if isinstance(wrapped, types.FunctionType) and not self._is_of_home(kind):  # By lru_cache(), or a compiler of functions.
            return _joined("wrapped", [kind.__name__.encode(), self.digest_of(wrapped, path)])
        return self._data(value, path) or self._as_pickled(value, path)

    # --- what functions do ---

    def _function(self, function: types.FunctionType, path: str) -> bytes:
        if not self._is_of_home(function):
            return _joined("name", [function.__module__.encode(), function.__qualname__.encode()])
        own = "<" in function.__qualname__ or function.__module__ == "__main__"
        parts = [self._code(function.__code__, path),
                 self.digest_of(function.__defaults__, "the defaults of " + function.__name__),
                 self.digest_of(function.__kwdefaults__, "the defaults of " + function.__name__)]
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            try:
                inside = cell.cell_contents
            except ValueError:  # Not assigned yet.
                continue
            parts.append(self._variable(name, inside, True))
        for name in sorted(set(_globals_of(function.__code__))):
            if name in function.__globals__:
                parts.append(self._variable(name, function.__globals__[name], own))
        more = {name: one for name, one in vars(function).items() if name != "__wrapped__"}
        if more:
            parts.append(self._variable(function.__name__, more, own))
        return _joined("function", parts)

    def _variable(self, name: str, value: Any, travels: bool) -> bytes:
        """Of a variable that a function uses. One that doesn't travel with the function, because its module is imported
        in the trial, may be a lock or a connection."""
        try:
            if isinstance(value, (types.ModuleType, type, types.FunctionType)):
                return _joined(name, [self.digest_of(value, name)])
            digest = self.whole_value(value, name)
        except NoStableForm:
            if travels:
                raise
            return _joined(name, [type(value).__name__.encode()])
        self.values[name] = _joined("several", [self.values[name], digest]) if name in self.values else digest
        return _joined(name, [])

    def _code(self, code: types.CodeType, path: str) -> bytes:
        taken = code.co_argcount + code.co_kwonlyargcount
        return _joined("code", [
            code.co_code, getattr(code, "co_exceptiontable", b""), repr(code.co_names).encode(), repr(code.co_freevars).encode(),
            repr((code.co_argcount, code.co_posonlyargcount, code.co_varnames[:taken])).encode(),
            self.digest_of(code.co_consts, path)])

    def _class(self, kind: type, path: str) -> bytes:
        if not self._is_of_home(kind):
            return _joined("name", [kind.__module__.encode(), kind.__qualname__.encode()])
        parts = [kind.__qualname__.encode()] + [self.digest_of(base, path) for base in kind.__bases__]
        for name, member in sorted(vars(kind).items()):
            if name in _NOT_OF_CLASS or isinstance(member, (types.MemberDescriptorType, types.GetSetDescriptorType)):
                continue
            try:
                parts.append(_joined(name, [self.digest_of(member, "{}.{}".format(kind.__name__, name))]))
            except NoStableForm:  # As the lock of a cached property.
                parts.append(_joined(name, [type(member).__name__.encode()]))
        return _joined("class", parts)

    def _is_of_home(self, one: Any) -> bool:
        """Whether a function or class is known by what it does, not by its name: it is of the function's own module, or
        no module has it."""
        if one.__module__ in ("__main__", self._home):
            return True
        found: Any = sys.modules.get(one.__module__ or "")
        for part in one.__qualname__.split("."):
            found = getattr(found, part, None)
        return found is None or "<locals>" in one.__qualname__

    # --- what values are ---

    def _data(self, value: Any, path: str) -> Optional[bytes]:
        """Of an array, a tensor or a table by its content; None if it is none of them."""
        if type(value) is _kind_of("numpy", "ndarray"):
            import numpy
            head = repr((value.dtype.descr if value.dtype.names else value.dtype.str, value.shape)).encode()
            if value.dtype.hasobject:
                return _joined("array", [head, self.digest_of(value.tolist(), path)])
            return _joined("array", [head, hashlib.sha256(numpy.ascontiguousarray(value).reshape(-1).view("u1")).digest()])
        if isinstance(value, _kind_of("torch", "Tensor")):
            import torch
            if value.layout is not torch.strided:
                return None
            flat = value.detach().cpu().contiguous().reshape(-1)
            head = repr((str(value.dtype), tuple(value.shape), bool(value.requires_grad), type(value).__name__)).encode()
            return _joined("tensor", [head, hashlib.sha256(flat.view(torch.uint8).numpy() if len(flat) else b"").digest()])
        if isinstance(value, _kind_of("pandas", "DataFrame")):
            return self._table(value, path)
        if isinstance(value, _kind_of("pandas", "Series")):
            return _joined("series", [self._column(value, path), self._column(value.index, path + ".index"),
                                      self.digest_of(dict(value.attrs), path + ".attrs")])
        return _joined("index", [self._column(value, path)]) if isinstance(value, _kind_of("pandas", "Index")) else None

    def _table(self, value: Any, path: str) -> bytes:
        """Column by column: how pandas puts them together in memory doesn't count."""
        columns = [value.iloc[:, at] for at in range(value.shape[1])]
        return _joined("table", [self._column(value.columns, path + ".columns"), self._column(value.index, path + ".index"),
                                 self.digest_of(dict(value.attrs), path + ".attrs")] + [
                                     self._column(column, "{}[{!r}]".format(path, column.name)) for column in columns])

    def _column(self, value: Any, path: str) -> bytes:
        """Of a column or an index, whatever keeps its values."""
        kind: Any = getattr(value, "dtype", None)
        parts = [str(kind).encode(), self.digest_of(list(getattr(value, "names", None) or [value.name]), path)]
        if hasattr(kind, "categories"):
            parts.append(self.digest_of([kind.categories.tolist(), bool(kind.ordered)], path))
        if getattr(kind, "kind", "O") in "biufcmM" and type(kind).__module__.startswith("numpy"):
            return _joined("column", parts + [self.digest_of(value.to_numpy(), path)])
        return _joined("column", parts + [self.digest_of(value.tolist(), path)])

    def _as_pickled(self, value: Any, path: str) -> bytes:
        """Of the parts that pickle stores."""
        self._by_pickle = True
        kind = type(value)
        try:
            reduce = copyreg.dispatch_table.get(kind)
            parts: Any = reduce(value) if reduce is not None else value.__reduce_ex__(4)
        except NoStableForm:
            raise
        except Exception as error:
            raise NoStableForm("{} is a {}, which cannot be pickled ({})".format(path, kind.__name__, error)) from error
        if isinstance(parts, str):
            return _joined("name", [str(getattr(value, "__module__", "")).encode(), parts.encode()])
        function, given, state, members, items = (tuple(parts) + (None,) * 5)[:5]
        return _joined("object", [
            self.digest_of(function, path), self.digest_of(given, path), self._state(state, path),
            _joined("list", [self.digest_of(one, path) for one in members or ()]),
            _joined("items", [self.digest_of(name, path) + self.digest_of(one, "{}[{!r}]".format(path, name))
                              for name, one in items or ()])])

    def _state(self, state: Any, path: str) -> bytes:
        if type(state) is dict and all(isinstance(name, str) for name in state):
            return _joined("state", sorted(_joined(name, [self.digest_of(one, "{}.{}".format(path, name))])
                                           for name, one in state.items()))
        return self.digest_of(state, path)


def _first(pair: Any) -> Any:
    return pair[0]


class _Nothing:
    pass


def _kind_of(module: str, name: str) -> Any:
    """A class of a library, if this process has imported it; else a class that nothing is of."""
    return getattr(sys.modules.get(module), name, _Nothing)


def _is_stable(value: Any, path: str, home: str) -> bool:
    """Whether two copies by pickle have the same digest; true if only cloudpickle can copy it."""
    try:
        copies = [pickle.loads(pickle.dumps(value, protocol=4)) for _ in range(2)]
    except Exception:
        return True
    first, second = (_Walk(home).digest_of(copy, path) for copy in copies)
    return first == second


def _globals_of(code: types.CodeType) -> Iterator[str]:
    for one in dis.get_instructions(code):
        if one.opname in _GLOBALS:
            yield str(one.argval)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _globals_of(inner)


def _home_of(function: Any) -> str:
    named = function if isinstance(function, (types.FunctionType, type, types.MethodType)) else type(function)
    return str(getattr(named, "__module__", None) or "__main__")


def _joined(kind: str, parts: Iterable[bytes]) -> bytes:
    hashed = hashlib.sha256(kind.encode("utf-8", "surrogatepass"))
    for part in parts:
        hashed.update(len(part).to_bytes(8, "little"))
        hashed.update(part)
    return hashed.digest()
