"""docs/python/python-api.md is made of the docstrings of the package hpsearch.

  python_api.py           fails when they differ, or when a public name has no docstring
  python_api.py --write   writes the page

The package is read, not imported: libraries that it works with need not be installed."""

import ast
import builtins
import difflib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "clients" / "python" / "hpsearch"
PAGE = ROOT / "docs" / "python" / "python-api.md"

HEAD = """# Python API

All public names of the package `hpsearch`, with units, ranges and exceptions. [Python](python.md) has examples. The text is
that of the docstrings, which `help(hpsearch.tune)` shows too; `python3 tests/docs/python_api.py --write` writes this page.

Programs use the module `hpsearch.wandb` by the names of W&B ([importing](../importing.md#programs-of-wb-sweeps)), and the
Hydra sweeper by keys of Hydra ([Hydra](hydra.md)).

Every call to a daemon can raise a [`Problem`](#exceptions): `Unreachable` if no daemon answers, `AccessDenied` if the token
or its role doesn't suffice. Times are seconds. Steps and lengths are whole numbers, in the unit of the experiment.

A `Distribution` is the dict of a hyperparameter, as in the [experiment file](../experiment-file.md#hyperparameters). A `Length`
is a number, or a dict of a unit and a number: `{"epochs": 27}`. A `Config` is the path of an experiment file, its text, or
its content as a dict.
"""

# Each group: heading, and its names. A name is that of hpsearch, or MODULE:NAME with MODULE below hpsearch.
GROUPS = [
    ("Searches", ["tune", "FunctionTrial", "Stop", "Pause", "local", "Local", "searches", "LocalSearch", "open", "programs", "programs_version",
                  "_inprocess.experiment:InProcessExperiment"]),
    ("Callbacks of a search", ["SearchCallback", "stop_after", "stop_at", "stop_on_plateau", "StopSearch"]),
    ("Spaces", ["uniform", "loguniform", "quniform", "int", "choice", "const"]),
    ("Experiments without a file", ["experiment", "asha", "async_halving", "random", "grid", "single"]),
    ("Client", ["Client", "Experiment", "Snapshot", "_functions.snapshot:BestSoFar", "_client.trials:Trials", "TrialView", "Explanation", "Annotation",
                "TrialFile", "Checkpoint", "_client.plots:Plots"]),
    ("asyncio", ["aio:Client", "aio:Experiment"]),
    ("Exceptions", ["Problem", "ProblemItem", "BadRequest", "NotFound", "WrongState", "Conflict", "AccessDenied",
                    "Unreachable", "IncompatibleDaemon", "ExperimentFailed", "ExperimentCanceled"]),
    ("Inside a trial", ["params", "length", "unit", "report", "report_training", "checkpoint", "latest_checkpoint",
                        "checkpoint_dir", "output_dir", "should_stop", "invalid_hyperparameters", "progress", "log_line",
                        "mirror",
                        "trial", "in_trial", "seed", "metric", "data", "Directive", "TrialInfo", "InvalidHyperparameters",
                        "Refused", "Disconnected"]),
    ("Callbacks", ["callbacks.keras:KerasCallback", "callbacks.lightning:LightningCallback",
                   "callbacks.transformers:TransformersCallback", "callbacks.xgboost:XGBoostCallback",
                   "callbacks.lightgbm:LightGBMCallback"]),
    ("transformers", ["transformers:HpsearchBackend"]),
    ("Engine in process", ["search:Search", "search:Work", "search:Best", "search:SearchError"]),
    ("scikit-learn", ["sklearn:HpsearchCV"]),
    ("Optuna", ["optuna:objective", "optuna:Objective", "optuna:OptunaTrial", "optuna:to_study", "optuna:import_study"]),
]
# Classes that programs make objects of; the others come from calls.
MADE = {"FunctionTrial", "Client", "KerasCallback", "LightningCallback", "TransformersCallback", "XGBoostCallback",
        "LightGBMCallback", "Search", "HpsearchCV"}
# Public names that are described with another one, and modules.
WITHOUT_ENTRY = {"hpsearch": {"__version__", "CONTINUE", "PAUSE", "STOP", "Search", "aio", "optuna"}}
MODULES = ["", "aio", "search", "sklearn", "optuna", "callbacks", "transformers"]


class Module:
    """The source of a module, and where its names are defined."""

    known = {}

    def __init__(self, name):
        path = PACKAGE.joinpath(*name.split(".")) if name else PACKAGE
        self.path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        self.package = name if path.is_dir() else name.rpartition(".")[0]
        self.lines = self.path.read_text(encoding="utf-8").splitlines()
        self.tree = ast.parse("\n".join(self.lines))
        self.names = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.level:
                for alias in node.names:
                    above = self.package.split(".")[: len(self.package.split(".")) + 1 - node.level]
                    home = ".".join(part for part in (*above, node.module or "") if part)
                    self.names[alias.asname or alias.name] = (home, alias.name)
        for node in self.tree.body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                self.names[node.name] = node

    @classmethod
    def of(cls, name):
        if name not in cls.known:
            cls.known[name] = cls(name)
        return cls.known[name]

    def find(self, name):
        """Module and definition of a name, also of one that is imported."""
        found = self.names.get(name)
        if found is None:
            sys.exit(f"{self.path}: there is no {name}")
        return Module.of(found[0]).find(found[1]) if isinstance(found, tuple) else (self, found)

    def public(self):
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
                return set(ast.literal_eval(node.value))
        return set()


def text_of(node, without=False, types=False):
    """The parameters of a function, as a list of texts; without the first, which is `self` or `cls`."""
    def parameter(argument, default, stars=""):
        kind = f": {ast.unparse(argument.annotation)}" if types and argument.annotation else ""
        kind = re.sub(r"(?<=: )'(.*)'$", r"\1", kind)
        gap = " = " if kind else "="
        return stars + argument.arg + kind + ("" if default is None else gap + ast.unparse(default))

    arguments = node.args
    positional = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    parts = [parameter(*pair) for pair in zip(positional, defaults)]
    if arguments.posonlyargs:
        parts.insert(len(arguments.posonlyargs), "/")
    parts = parts[1:] if without else parts
    if arguments.vararg:
        parts.append(parameter(arguments.vararg, None, "*"))
    elif arguments.kwonlyargs:
        parts.append("*")
    parts += [parameter(*pair) for pair in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    if arguments.kwarg:
        parts.append(parameter(arguments.kwarg, None, "**"))
    return parts


def signature(name, parts, result=""):
    """A block of code, with lines of at most 100 characters."""
    lines, line = [], name + "("
    indent = " " * min(len(line), 8)
    for at, part in enumerate(parts):
        part += ", " if at + 1 < len(parts) else ""
        if len(line) + len(part.rstrip()) > 100 and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += part
    lines.append(line + ")" + result)
    return "\n".join(["```python", *lines, "```\n"])


def returned(node):
    text = ast.unparse(node.returns).strip("'\"") if node.returns else "None"
    return "" if text in ("None", "Any") else " → " + text


EXCEPTIONS = {name for name in dir(builtins) if name.endswith(("Error", "Interrupt", "Exit", "Exception"))}


def exceptions_of(paragraph):
    """[(names, when)] where a paragraph is a list of exceptions; else None."""
    name = r"[A-Z]\w+(?:, [A-Z]\w+)*"
    parts = re.split(rf"(?:^|(?<=[.;] ))(?=(?:{name}): )", paragraph)
    out = []
    for part in filter(None, parts):
        found = re.match(rf"({name}): (.*)", part, re.DOTALL)
        if not found or not set(found[1].split(", ")) <= EXCEPTIONS:
            if not out:
                return None
            out[-1] = (out[-1][0], out[-1][1] + part)
        else:
            out.append((found[1], found[2].strip()))
    return out


def parameters_of(block):
    """[(names, meaning)] where a paragraph is a list of parameters, each of which begins a line."""
    out = []
    for line in block.splitlines():
        found = re.match(r"([a-z_]\w*(?:, [a-z_]\w*)*): (.*)", line)
        if found:
            out.append((found[1], found[2]))
        elif not out:
            return []
        else:
            out[-1] = (out[-1][0], out[-1][1] + " " + line.strip())
    return out if len(out) > 1 else []


def plain(text):
    """Text in which Markdown finds nothing but what is in backquotes."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(piece if piece.startswith("`") else re.sub(r"([*<|]|(?<!\w)_|_(?!\w))", r"\\\1", piece) for piece in pieces)


def body(docstring, indent):
    """Paragraphs of Markdown."""
    blocks = []
    for block in re.split(r"\n\s*\n", docstring):
        if block.startswith("    ") and blocks and blocks[-1][0] == "code":
            blocks[-1] = ("code", blocks[-1][1] + "\n\n" + block)
        else:
            blocks.append(("code" if block.startswith("    ") else "text", block))
    out = []
    for kind, block in blocks:
        if kind == "code":
            lines = [line[4:] for line in block.splitlines()]
            out.append("\n".join(["```python", *lines, "```"]))
            continue
        listed = parameters_of(block)
        if listed:
            out.append("\n".join(f"- `{name}`: {plain(text)}" for name, text in listed))
            continue
        joined = " ".join(line.strip() for line in block.splitlines())
        found = exceptions_of(joined)
        if found is None:
            out.append(plain(joined))
        else:
            out.append("Raises:\n\n" + "\n".join("- " + ", ".join(f"`{one}`" for one in names.split(", ")) + ": " + plain(when)
                                 for names, when in found))
    return "\n\n".join(out).replace("\n", "\n" + indent)


class Page:
    def __init__(self):
        self.out = [HEAD]
        self.missing = []

    def docstring(self, module, node, name):
        found = ast.get_docstring(node)
        if not found:
            self.missing.append(f"{module.path.relative_to(ROOT)}:{node.lineno}: {name} has no docstring")
        return found or ""

    def entry(self, spoken, module, node):
        self.out.append(f"### {spoken}\n")
        if isinstance(node, ast.ClassDef):
            self.class_entry(spoken, module, node)
        else:
            self.out.append(signature(node.name, text_of(node, types=True), returned(node)))
            self.out.append(body(self.docstring(module, node, spoken), "") + "\n")

    def class_entry(self, spoken, module, node):
        init = next((one for one in node.body if getattr(one, "name", "") == "__init__"), None)
        if node.name in MADE:
            self.out.append(signature(node.name, text_of(init, without=True, types=True)))
        bases = [ast.unparse(base) for base in node.bases]
        bases = [base for base in bases if base.isidentifier() and base not in ("NamedTuple", "Exception", "Callback",
                                                                                "TrainerCallback", "BaseSearchCV")]
        about = "A " + " and a ".join(f"`{base}`" for base in bases) + ". " if bases else ""
        self.out.append(about + body(self.docstring(module, node, spoken), "") + "\n")
        members = self.attributes(module, node, init)
        for one in node.body:
            if not isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)) or one.name.startswith("_"):
                continue
            if one.name.startswith(("on_", "after_")):
                continue  # The library that the callback is for calls it.
            decorators = {ast.unparse(each) for each in one.decorator_list}
            if "overload" in decorators or any(each.endswith(".setter") for each in decorators):
                continue
            told = self.docstring(module, one, f"{spoken}.{one.name}")
            shown = one.name if "property" in decorators else f"{one.name}({', '.join(text_of(one, without=True))})"
            word = "await " if isinstance(one, ast.AsyncFunctionDef) and "AsyncIterator" not in returned(one) else ""
            members.append(f"- `{word}{shown}{returned(one)}`: " + body(told, "  "))
        if members:
            self.out.append("\n".join(members) + "\n")

    def attributes(self, module, node, init):
        """Attributes with a comment #: that describes them."""
        out = []
        for one in list(node.body) + (list(init.body) if init else []):
            target = one.target if isinstance(one, ast.AnnAssign) else one.targets[0] if isinstance(one, ast.Assign) else None
            name = getattr(target, "id", None) or getattr(target, "attr", "")
            comment = module.lines[one.lineno - 1].partition("#: ")[2]
            if target is None or name.startswith("_") or not comment:
                continue
            kind = f": {ast.unparse(one.annotation)}" if isinstance(one, ast.AnnAssign) else ""
            kind = "" if kind == ": Any" else kind
            out.append(f"- `{name}{kind}`: " + plain(comment))
        return out


def spoken_name(entry):
    module, _, name = entry.rpartition(":")
    if module.startswith("_") or not module:
        return "hpsearch." + name if not module else name
    return "hpsearch." + ("callbacks" if module.startswith("callbacks") else module) + "." + name


def main():
    problems = Module.of("_problems")
    EXCEPTIONS.update(name for name, node in problems.names.items() if isinstance(node, ast.ClassDef))
    EXCEPTIONS.update({"Refused", "Disconnected", "SearchError"})
    page = Page()
    listed = {name: set(WITHOUT_ENTRY.get("hpsearch" if not name else name, ())) for name in MODULES}
    for heading, names in GROUPS:
        page.out.append(f"## {heading}\n")
        for entry in names:
            module, _, name = entry.rpartition(":")
            home = module.partition(".")[0]
            if home in listed:
                listed[home].add(name)
            page.entry(spoken_name(entry), *Module.of(module).find(name))
    for name, found in listed.items():
        page.missing += [f"tests/docs/python_api.py: GROUPS has no {one} of hpsearch{'.' if name else ''}{name}"
                         for one in sorted(Module.of(name).public() - found)]
        if not ast.get_docstring(Module.of(name).tree):
            page.missing.append(f"{Module.of(name).path.relative_to(ROOT)}: the module has no docstring")
    if page.missing:
        sys.exit("\n".join(page.missing))
    wanted = "\n".join(page.out)
    found = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    if "--write" in sys.argv:
        PAGE.write_text(wanted, encoding="utf-8")
    elif found != wanted:
        print("".join(difflib.unified_diff(found.splitlines(True), wanted.splitlines(True), str(PAGE), "the docstrings", n=0)))
        sys.exit("Write it: python3 tests/docs/python_api.py --write")


if __name__ == "__main__":
    main()
