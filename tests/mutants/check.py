"""Plants the faults of mutants.txt one by one and demands that the tests notice every one of them.

    python3 tests/mutants/check.py BUILD [ID ...]

All mutants, or those named, in a configured and built folder.

Production code knows nothing of this. For each mutant a copy of its source is changed and compiled with the flags
of the build, together with the sources that the build compiles with it; the object is linked first into the test
programs that must notice, so that it takes the place of what the libraries hold. A mutant is caught when a test fails,
aborts or does not end; unchanged, the same tests must pass.

HPSEARCH_MUTANT_JOBS=N: how many at once (default: one per processor).
HPSEARCH_MUTANT_SHARE=I/N: of the list every Nth, from the Ith on (default 1/1: all).

    python3 tests/mutants/check.py --texts       only looks whether each fault still fits its source
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# Enough of every suite to notice, quickly; and the same cases each time.
QUICK = {
    "RC_PARAMS": "seed=1 max_success=150 noshrink=1",
    "HPSEARCH_CONTRACT_SEEDS": "6",
    "HPSEARCH_SEEDS": "40",
}
TIMEOUT_S = 300


class Mutant:
    def __init__(self, name):
        self.name = name
        self.fields = {"compile": [], "below": None}

    def __getattr__(self, field):
        return self.fields[field]


def read_list(path):
    """mutants.txt; its head says how it is written."""
    mutants = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        key, _, value = line.strip().partition(" ")
        value = value.strip()
        if key == "mutant":
            mutants.append(Mutant(value))
        elif key in ("breaks", "file", "below", "find", "with"):
            mutants[-1].fields[key] = value
        elif key in ("compile", "caught"):
            mutants[-1].fields["compile" if key == "compile" else "tests"] = value.removeprefix("by ").split()
        else:
            raise SystemExit(f"{path.name}:{number}: what is {key}?")
    for mutant in mutants:
        missing = {"breaks", "file", "find", "with", "tests"} - mutant.fields.keys()
        if missing:
            raise SystemExit(f"{path.name}: mutant {mutant.name} lacks {', '.join(sorted(missing))}")
    names = [mutant.name for mutant in mutants]
    if len(set(names)) < len(names):
        raise SystemExit(f"{path.name}: a name stands twice")
    return mutants


def loosely(code):
    """A pattern that finds `code` however it is broken into lines and spaced. White space counts only between words."""
    return re.compile(r"\s*".join(re.escape(token) for token in re.findall(r"\w+|[^\w\s]", code)))


def the_only(pattern, text, place):
    found = list(loosely(pattern).finditer(text))
    if len(found) != 1:
        raise ValueError(f"`{pattern}` stands {len(found)} times in {place}, not once")
    return found[0]


def mutated(mutant):
    """The text of the mutant's file with the fault in it."""
    text = (ROOT / mutant.file).read_text()
    start, end = 0, len(text)
    if mutant.below:
        start = the_only(mutant.below, text, mutant.file).end()
        end = text.find("\n}\n", start)  # Of the function that the line begins.
        end = end if end > 0 else len(text)
    found = the_only(mutant.find, text[start:end], mutant.file)
    replacement = getattr(mutant, "with")
    return text[:start + found.start()] + ("" if replacement == "nothing" else replacement) + text[start + found.end():]


class Build:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        entries = json.loads((self.folder / "compile_commands.json").read_text())
        self.compile_commands = {str(pathlib.Path(entry["file"]).resolve()): entry["command"] for entry in entries}
        self.groups = {}  # The file that includes a source, where several are compiled as one.
        for unit in self.compile_commands:
            if "/Unity/" in unit:
                self.groups |= {source: unit for source in re.findall('^#include "(.*)"$', pathlib.Path(unit).read_text(), re.M)}
        self.programs = {}
        for path in self.folder.glob("tests/*/*_test"):
            self.programs[path.name] = path.relative_to(self.folder)
        self.link_commands = {}

    def program(self, test):
        if test not in self.programs:
            raise ValueError(f"there is no test program {test}; build everything first")
        return self.folder / self.programs[test]

    def unit(self, source):
        """What the compiler is given: the source, or the file that includes it and others."""
        source = str(ROOT / source)
        unit = self.groups.get(source, source)
        if unit not in self.compile_commands:
            raise ValueError(f"{source} is not compiled in {self.folder}")
        return pathlib.Path(unit)

    def compile(self, unit, changes, overlay, target):
        """The unit with `changes` (path: text) in place of its sources, and headers of `overlay` before all others."""
        copies = {}
        for source, text in changes.items():
            copies[source] = target.parent / source.replace("/", "_")
            copies[source].write_text(text)
        compiled = copies.get(str(unit.relative_to(ROOT)))
        if compiled is None:
            compiled = target.with_suffix(unit.suffix)
            text = unit.read_text()
            for source, copy in copies.items():
                text = text.replace(f'"{ROOT / source}"', f'"{copy}"')
            compiled.write_text(text)
        arguments, skip = [], False
        for word in shlex.split(self.compile_commands[str(unit)]):
            if skip:
                skip = False
            elif word in ("-o", "-MT", "-MF"):
                skip = True
            elif word not in ("-c", "-MD", "-Werror", "-g", str(unit)):
                arguments.append(word)
        compiler = next(i for i, word in enumerate(arguments) if word.startswith("-"))
        arguments[compiler:compiler] = [f"-I{overlay}"] if overlay else []
        for source in changes:
            arguments += ["-iquote", str((ROOT / source).parent)]
        self.run([*arguments, "-c", str(compiled), "-o", str(target)])

    def link_command(self, test):
        if test not in self.link_commands:
            lines = self.run(["ninja", "-t", "commands", str(self.programs[test])]).splitlines()
            self.link_commands[test] = shlex.split(lines[-1].removeprefix(": && ").removesuffix(" && :"))
        return self.link_commands[test]

    def link(self, test, objects, target):
        command = list(self.link_command(test))
        command[command.index("-o") + 1] = str(target)
        first = next(i for i, word in enumerate(command) if word.endswith(".o"))
        command[first:first] = map(str, objects)
        self.run(command)

    def run(self, command):
        done = subprocess.run(command, cwd=self.folder, text=True, capture_output=True)
        if done.returncode != 0:
            raise ValueError(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")
        return done.stdout


def passes(program, folder):
    """How the test ended: 'passed', or why it did not."""
    try:
        done = subprocess.run([str(program), "--gtest_fail_fast", "--gtest_brief=1"], cwd=folder, text=True,
                              capture_output=True, errors="replace", timeout=TIMEOUT_S,
                              env={**os.environ, **QUICK})
    except subprocess.TimeoutExpired:
        return "does not end"
    if done.returncode == 0:
        return "passed"
    if done.returncode < 0:
        return f"ended by signal {-done.returncode}"
    failed = [line for line in done.stdout.splitlines() if line.startswith("[  FAILED  ]")]
    if not failed:
        return f"exit status {done.returncode}"
    return failed[0].removeprefix("[  FAILED  ] ").split(",")[0].split(" (")[0]


def verdict_on(build, mutant):
    """(caught, sentence)"""
    folder = build.folder / "mutants" / mutant.name
    folder.mkdir(parents=True, exist_ok=True)
    text = mutated(mutant)
    overlay = None
    sources = mutant.compile or [mutant.file]
    if mutant.file.endswith(".hpp"):
        inside = mutant.file.split("/include/")
        overlay = folder / "include" if len(inside) == 2 else folder
        header = overlay / inside[-1] if len(inside) == 2 else overlay / pathlib.Path(mutant.file).name
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text(text)
    objects = []
    for unit in dict.fromkeys(map(build.unit, sources)):
        target = folder / f"{len(objects)}.o"
        build.compile(unit, {} if overlay else {mutant.file: text}, overlay, target)
        objects.append(target)
    for test in mutant.tests:
        program = folder / test
        build.link(test, objects, program)
        end = passes(program, folder)
        program.unlink()
        if end != "passed":
            return True, f"{test}: {end}"
    return False, "NOT CAUGHT by " + ", ".join(mutant.tests)


def check_text(mutant):
    try:
        mutated(mutant)
    except (ValueError, OSError) as error:
        raise SystemExit(f"mutant {mutant.name}: {error}") from error


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", nargs="?", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="ID")
    parser.add_argument("--texts", action="store_true")
    asked = parser.parse_args()
    if asked.texts:
        for mutant in read_list(HERE / "mutants.txt"):
            check_text(mutant)
        return
    if not asked.build:
        parser.error("BUILD is missing")
    if not (asked.build / "CMakeCache.txt").exists():
        raise SystemExit(f"{asked.build} is no build; to make one: cmake --preset dev && cmake --build --preset dev")
    if not (asked.build / "build.ninja").exists():
        raise SystemExit(f"{asked.build} is no Ninja build; mutants are linked as Ninja would")
    mutants = read_list(HERE / "mutants.txt")
    build = Build(asked.build)
    unknown = set(asked.names) - {mutant.name for mutant in mutants}
    if unknown:
        raise SystemExit(f"no such mutant: {', '.join(sorted(unknown))}")
    first, of = (int(number) for number in os.environ.get("HPSEARCH_MUTANT_SHARE", "1/1").split("/"))
    if not 1 <= first <= of:
        raise SystemExit(f"HPSEARCH_MUTANT_SHARE is {first}/{of}; it must be I/N with 1 <= I <= N")
    for mutant in mutants:
        check_text(mutant)
    mutants = [mutant for mutant in mutants if mutant.name in asked.names] if asked.names else mutants[first - 1::of]
    if not mutants:
        raise SystemExit("no mutant is left to be checked")

    start = time.monotonic()
    wrong = []
    jobs = int(os.environ.get("HPSEARCH_MUTANT_JOBS", os.cpu_count() or 1))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        tests = sorted({test for mutant in mutants for test in mutant.tests})
        for test, end in zip(tests, pool.map(lambda test: passes(build.program(test), build.folder), tests)):
            if end != "passed":
                raise SystemExit(f"unchanged, {test} does not pass ({end}): nothing can be said of mutants")
            build.link_command(test)

        def judged(mutant):
            try:
                return verdict_on(build, mutant)
            except ValueError as error:
                return False, str(error)

        for mutant, (caught, sentence) in zip(mutants, pool.map(judged, mutants)):
            print(f"{'caught' if caught else 'WRONG '}  {mutant.name}: {sentence}", flush=True)
            if not caught:
                wrong.append(f"{mutant.name} ({mutant.breaks})")
    print(f"{len(mutants) - len(wrong)} of {len(mutants)} mutants caught in {time.monotonic() - start:.0f} s")
    if wrong:
        raise SystemExit("not caught:\n  " + "\n  ".join(wrong))


main()
