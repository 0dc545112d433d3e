"""The package is written in the language of Python 3.8, and typed throughout. python38_test.py runs its tests there."""

import ast
import inspect
import pathlib
import sys
import typing
import unittest

PACKAGE = pathlib.Path(__file__).resolve().parents[3] / "clients" / "python"
OLDEST = (3, 8)


def sources():
    return sorted(file for package in ("hpsearch", "hydra_plugins") for file in (PACKAGE / package).rglob("*.py"))


def functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def without_type(function):
    """What of it has none: names of arguments, "return"."""
    arguments = function.args
    named = arguments.posonlyargs + arguments.args + arguments.kwonlyargs + [arguments.vararg, arguments.kwarg]
    missing = [one.arg for one in named if one is not None and one.annotation is None and one.arg not in ("self", "cls")]
    return missing + ["return"] * (function.returns is None)


class OldestPython(unittest.TestCase):
    def test_it_is_written_in_its_language(self):
        self.assertGreater(len(sources()), 6)
        for source in sources():
            ast.parse(source.read_text(), str(source), feature_version=OLDEST)
        with self.assertRaises(SyntaxError):
            ast.parse("match x:\n  case 1: pass", feature_version=OLDEST)

    def test_every_function_has_type_hints(self):
        bare = [f"{source.relative_to(PACKAGE)}:{function.lineno} {function.name}: {', '.join(without_type(function))}"
                for source in sources() for function in functions(ast.parse(source.read_text()))
                if without_type(function)]
        self.assertEqual(bare, [])

    def test_hints_of_public_functions_can_be_resolved(self):
        sys.path.insert(0, str(PACKAGE))
        import hpsearch
        for name in hpsearch.__all__:
            one = getattr(hpsearch, name)
            if inspect.isfunction(one):
                self.assertIn("return", typing.get_type_hints(one), name)


if __name__ == "__main__":
    unittest.main()
