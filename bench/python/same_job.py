#!/usr/bin/env python3
"""The same search written for Optuna, Ray Tune, Syne Tune and hpsearch (bench/python/same_job), as the table of docs/python/python.md.

    bench/python/same_job.py                    compares the lines and names of docs/python/python.md with the programs
    bench/python/same_job.py --write            writes them there
    bench/python/same_job.py --run LIBRARY ...  runs these programs with this Python, and prints their results and defaults; with
                                                --write also writes them there

Each program tries 40 configurations of a network for at most 9 epochs, and stops bad ones early. Lines are those with code; names
are the words of the library that a user has to know: what is imported, called, or given as an argument.
"""

import argparse
import ast
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "bench" / "python" / "same_job"
PAGE = ROOT / "docs" / "python" / "python.md"
BEGIN, END = "<!-- the same job: made by bench/python/same_job.py -->\n", "<!-- end of the same job -->\n"

# How each library is imported, and a program that prints as JSON what it does if nothing is said: version, sampler, stopping.
LIBRARIES = {
    "hpsearch": ("hpsearch", """
import hpsearch
from hpsearch._functions.searcher_section import searcher_section
section = searcher_section(None, None, "error", 9, 40, True)
print(json.dumps([hpsearch.__version__, section.get("sampler", "random"), section["name"]]))"""),
    "Optuna": ("optuna", """
import optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
study = optuna.create_study()
print(json.dumps([optuna.__version__, type(study.sampler).__name__, type(study.pruner).__name__]))"""),
    "Ray Tune": ("ray", """
import ray
from ray import tune
config = tune.TuneConfig()
name = lambda one, otherwise: type(one).__name__ if one else otherwise
print(json.dumps([ray.__version__, name(config.search_alg, "random"), name(config.scheduler, "none")]))"""),
    "Syne Tune": ("syne_tune", """
import inspect, syne_tune
default = inspect.signature(syne_tune.Tuner).parameters["scheduler"].default
chosen = "must be named" if default is inspect.Parameter.empty else repr(default)
print(json.dumps([syne_tune.__version__, chosen, chosen]))"""),
}

OF_THE_PROGRAM = ("error", "epoch")  # Names of its metrics.


def program_of(library):
    return PROGRAMS / (library.lower().replace(" ", "_") + "_job.py")


def lines_of(source):
    """The number of lines with code."""
    return sum(1 for line in source.splitlines() if line.strip() and not line.strip().startswith("#"))


def names_of(source, package):
    """The words of the library: modules and names that are imported from it, attributes of them and of what their calls return,
    arguments of such calls, and those of `trial`, which the library gives to the function."""
    nodes = list(ast.walk(ast.parse(source)))
    names, roots = set(), {"trial"}
    for node in nodes:
        if isinstance(node, ast.Import):
            roots.update(one.asname or one.name for one in node.names if one.name.split(".")[0] == package)
        elif isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == package:
            names.update(node.module.split(".")[1:])
            names.update(one.name for one in node.names)
            roots.update(one.asname or one.name for one in node.names)
    known = 0
    while known != len(roots):
        known = len(roots)
        for node in nodes:
            if isinstance(node, ast.Assign) and is_of(node.value, roots):
                targets = node.targets[0].elts if isinstance(node.targets[0], ast.Tuple) else node.targets
                roots.update(target.id for target in targets if isinstance(target, ast.Name))
    for node in nodes:
        if isinstance(node, ast.Attribute) and is_of(node, roots):
            names.add(node.attr)
        elif isinstance(node, ast.Call) and is_of(node.func, roots):
            names.update(keyword.arg for keyword in node.keywords if keyword.arg not in OF_THE_PROGRAM)
    return names


def is_of(node, roots):
    """Whether an expression begins at one of these names."""
    while isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return isinstance(node, ast.Name) and node.id in roots


def run(library, python):
    """Runs the program; its last line, and the library's version and defaults."""
    variables = dict(os.environ, PYTHONPATH=os.pathsep.join([str(PROGRAMS), str(ROOT / "clients" / "python")]))
    done = subprocess.run([python, str(program_of(library))], env=variables, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{program_of(library)}: {done.stderr[-3000:]}")
    probe = subprocess.run([python, "-c", "import json" + LIBRARIES[library][1]], env=variables, capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()[-1], json.loads(probe.stdout.strip().splitlines()[-1])


def measured():
    """Lines and names by library."""
    out = {}
    for library, (package, _) in LIBRARIES.items():
        source = program_of(library).read_text()
        out[library] = (lines_of(source), len(names_of(source, package)))
    return out


def row_of(library, lines, names, defaults):
    version, sampler, stopping = defaults
    program = program_of(library)
    return (f"| {library} {version} | [{program.name}](../../{program.relative_to(ROOT)}) | {lines} | {names} | {sampler} | {stopping} |\n")


def defaults_of(page):
    """What the page says by library: version, sampler, stopping."""
    out = {}
    for line in page[page.index(BEGIN):page.index(END)].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        library = cells[0].rsplit(" ", 1)[0]
        if library in LIBRARIES and len(cells) == 6:
            out[library] = (cells[0].rsplit(" ", 1)[1], cells[4], cells[5])
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", nargs="+", default=[], choices=LIBRARIES, metavar="LIBRARY")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    page = PAGE.read_text()
    defaults = defaults_of(page)
    for library in given.run:
        result, defaults[library] = run(library, sys.executable)
        print(f"{library}: {result}; {defaults[library]}")
    rows = [row_of(library, *numbers, defaults[library]) for library, numbers in measured().items() if library in defaults]
    table = "| library | program | lines | names | draws by default | stops early by default |\n|---|---|---|---|---|---|\n" + "".join(rows)
    written = page[:page.index(BEGIN)] + BEGIN + table + page[page.index(END):]
    if given.write:
        PAGE.write_text(written)
    elif not given.run and (written != page or len(rows) < len(LIBRARIES)):
        sys.exit(f"{PAGE} differs from the programs: bench/python/same_job.py --write")


if __name__ == "__main__":
    main()
