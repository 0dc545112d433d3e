"""The source of a function and of all that it uses, wherever it was written: a script, a notebook, a module."""

from __future__ import annotations

import __future__
import ast
import io
import linecache
import pickle
import sys
import textwrap
import types
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from .large_parts import reduced


class Untransferable(Exception):
    """This function cannot travel as source; the text says why."""


class Definition(NamedTuple):
    """A function or a class, as it was written."""

    name: str
    text: str
    line: int


class FunctionSource(NamedTuple):
    """What a function needs to be made again in another process."""

    name: str
    imports: List[str]  #: Statements.
    definitions: List[Definition]  #: In the order in which they were written.
    values: Dict[str, Any]  #: Global names that are neither.
    postponed: bool  #: Whether annotations are not evaluated (from __future__ import annotations).

    def text(self) -> str:
        """The source of imports and definitions."""
        return "\n".join(self.imports + [one.text for one in self.definitions]) + "\n"


def source_of(function: Any, arguments: Optional[Mapping[str, Any]] = None) -> FunctionSource:
    """The function, and the functions, classes, modules and values of its own module that it and its arguments use.

    Untransferable: its source is not known, it uses variables of a function around it, or something that it uses cannot
    be written down.
    """
    return _Collector(function).collect(arguments or {})


def classes_of(value: Any, module: str) -> List[Any]:
    """The classes and functions of a module that a value needs. Raises what pickle raises."""
    pickler = _Pickler(io.BytesIO(), protocol=5, buffer_callback=lambda buffer: None)  # Buffers have none.
    pickler.home = module
    pickler.dump(value)
    return pickler.own


class _Collector:
    def __init__(self, function: Any) -> None:
        self._function = function
        self._home: str = getattr(function, "__module__", None) or ""
        self._imports: Set[str] = set()
        self._definitions: Dict[str, Definition] = {}
        self._values: Dict[str, Any] = {}
        self._postponed = False

    def collect(self, arguments: Mapping[str, Any]) -> FunctionSource:
        name = getattr(self._function, "__name__", "")
        name = name if name.isidentifier() else "objective"
        self._add_function(name, self._function)
        for argument, value in arguments.items():
            self._add_classes(argument, value)
        ordered = sorted(self._definitions.values(), key=lambda one: one.line)
        return FunctionSource(name, sorted(self._imports), ordered, self._values, self._postponed)

    def _add_function(self, name: str, function: Any) -> None:
        if isinstance(function, types.MethodType):
            raise Untransferable("{} is a method, and its object has no source".format(function.__name__))
        code = getattr(function, "__code__", None)
        if code is None:
            raise Untransferable("{} is a {}, whose source is not known".format(name, type(function).__name__))
        free = [one for one in code.co_freevars if one != "__class__"]
        if free:
            raise Untransferable("{} uses {}, a variable of the function around it".format(name, ", ".join(free)))
        lines, tree = _parsed(code.co_filename, function.__globals__)
        node = _node_of(code, tree)
        if node is None:
            raise Untransferable("the source of {} is not known".format(code.co_name))
        self._define(name, node, lines, function.__globals__)

    def _add_class(self, name: str, kind: type) -> None:
        module = sys.modules.get(kind.__module__)
        methods = [one.__code__.co_filename for one in vars(kind).values() if isinstance(one, types.FunctionType)]
        own = getattr(getattr(self._function, "__code__", None), "co_filename", None)
        # Methods that dataclasses make are of no file; a class of a notebook has nothing but its methods to tell its cell.
        for file in dict.fromkeys(methods + [getattr(module, "__file__", None), own]):
            if module is None or file is None or file == "<string>":
                continue
            lines, tree = _parsed(file, vars(module))
            found = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == kind.__name__]
            if found:
                return self._define(name, found[-1], lines, vars(module))
        raise Untransferable("the source of the class {} is not known".format(name))

    def _define(self, name: str, node: Any, lines: List[str], known: Dict[str, Any]) -> None:
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno] + [one.lineno for one in decorators])
        if isinstance(node, ast.Lambda):
            text = "{} = ({})".format(name, ast.get_source_segment("".join(lines), node))
        else:
            text = textwrap.dedent("".join(lines[first - 1:node.end_lineno])).rstrip("\n")
        self._definitions[name] = Definition(name, text, first)
        if known.get("annotations") is __future__.annotations:
            self._postponed = True
        for other in sorted(_used_names(node) - set(self._definitions)):
            if other in known:
                self._add(other, known[other])

    def _add(self, name: str, value: Any) -> None:
        if isinstance(value, types.ModuleType):
            self._imports.add("import {} as {}".format(value.__name__, name) if value.__name__ != name
                              else "import " + name)
            return
        home = getattr(value, "__module__", None)
        qualified = getattr(value, "__qualname__", None)
        if isinstance(value, (types.FunctionType, type)) and home == self._home:
            add: Any = self._add_class if isinstance(value, type) else self._add_function
            add(name, value)
        elif home and qualified and isinstance(home, str) and home not in ("__main__", self._home):
            module = sys.modules.get(home)
            if "." in qualified or getattr(module, qualified, None) is not value:
                self._add_value(name, value)
            else:
                self._imports.add("from {} import {} as {}".format(home, qualified, name) if qualified != name
                                  else "from {} import {}".format(home, name))
        else:
            self._add_value(name, value)

    def _add_value(self, name: str, value: Any) -> None:
        self._values[name] = value
        self._add_classes(name, value)

    def _add_classes(self, name: str, value: Any) -> None:
        """Those of the same module that a value needs."""
        try:
            own = classes_of(value, self._home)
        except Exception as error:
            raise Untransferable("it uses {}, a {} that cannot be pickled ({})".format(
                name, type(value).__name__, error)) from error
        for one in own:
            if one.__qualname__ == one.__name__ not in self._definitions:
                self._add(one.__name__, one)


class _Pickler(pickle.Pickler):
    """Notes the classes and functions of one module that a value needs."""

    home = ""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.own: List[Any] = []

    def reducer_override(self, one: Any) -> Any:
        return reduced(one)

    def persistent_id(self, one: Any) -> None:
        if isinstance(one, (type, types.FunctionType)) and one.__module__ == self.home:
            self.own.append(one)


def _parsed(file: str, known: Dict[str, Any]) -> Tuple[List[str], ast.Module]:
    lines = linecache.getlines(file, known)
    try:
        return lines, ast.parse("".join(_without_magic(lines)))
    except SyntaxError as error:
        raise Untransferable("its source, {}, cannot be read: {}".format(file, error)) from error


def _without_magic(lines: List[str]) -> List[str]:
    """Lines of notebooks that only IPython understands become comments."""
    return ["#" + line if line.lstrip()[:1] in ("%", "!") else line for line in lines]


def _used_names(node: Any) -> Set[str]:
    """Names that it reads and does not bind itself."""
    names = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
    bound = {one.id for one in names if not isinstance(one.ctx, ast.Load)}
    bound |= {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
    shared = {name for one in ast.walk(node) if isinstance(one, ast.Global) for name in one.names}
    return {one.id for one in names if isinstance(one.ctx, ast.Load)} - (bound - shared)


def _node_of(code: types.CodeType, tree: ast.Module) -> Optional[Any]:
    """Where the code was written; None if that is not clear."""
    if code.co_name != "<lambda>":
        found = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
                 and node.name == code.co_name
                 and min([node.lineno] + [one.lineno for one in node.decorator_list]) == code.co_firstlineno]
        return found[0] if len(found) == 1 else None
    lambdas = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno]
    if len(lambdas) > 1:  # Among several on one line, the one that does the same.
        imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
        lambdas = [node for node in lambdas if _compiles_to(node, imports, code)]
    return lambdas[0] if lambdas and len({ast.dump(node) for node in lambdas}) == 1 else None


def _compiles_to(node: ast.Lambda, imports: Sequence[ast.stmt], code: types.CodeType) -> bool:
    """`imports` are those of the same file: calls of what is imported are compiled in another way."""
    module = ast.Module(body=[*imports, ast.Expr(value=node)], type_ignores=[])
    compiled = compile(ast.fix_missing_locations(module), "<lambda>", "exec")
    inner = next((one for one in compiled.co_consts if isinstance(one, types.CodeType)), None)
    return inner is not None and (inner.co_code, inner.co_names, inner.co_varnames) == (
        code.co_code, code.co_names, code.co_varnames) and [
            one for one in inner.co_consts if not isinstance(one, types.CodeType)] == [
                one for one in code.co_consts if not isinstance(one, types.CodeType)]
