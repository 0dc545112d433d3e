"""Every test that a page names must exist.

    python3 tests/docs/check_promises.py TESTS_DIR PAGE ...

A name is `Suite.Name` of a C++ test or `file_test.test_name` of a Python one, in backticks, or a fault of the simulation as
`hpsearch-sim` (fault, fault). A page without names fails,
too: then it is this check that does not work.
"""

import pathlib
import re
import sys

NAMED = re.compile(r"`([A-Z]\w*\.[A-Z]\w*|\w+_test\.test_\w+)`")
FAULTS = re.compile(r"`hpsearch-sim` \(([a-z_, ]+)\)")
FAULT = re.compile(r'\{Fault::(\w+), "\1"')
CPP = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)
PYTHON = re.compile(r"^ +def (test_\w+)\(", re.MULTILINE)
SHARED = re.compile(r"^from (\w+) import", re.MULTILINE)


def existing(tests):
    names = set()
    for source in tests.rglob("*.[ch]pp"):
        names |= {f"{suite}.{name}" for suite, name in CPP.findall(source.read_text())}
    for source in tests.rglob("*_test.py"):
        text = source.read_text()
        shared = [source.parent / f"{module}.py" for module in SHARED.findall(text) if not module.endswith("_test")]
        texts = [text, *(module.read_text() for module in shared if module.exists())]
        names |= {f"{source.stem}.{name}" for each in texts for name in PYTHON.findall(each)}
    return names | set(FAULT.findall((tests / "simulation" / "cluster" / "faults.cpp").read_text()))


def main():
    tests, *pages = map(pathlib.Path, sys.argv[1:])
    known = existing(tests)
    wrong = 0
    for page in pages:
        named = NAMED.findall(page.read_text())
        named += [fault for faults in FAULTS.findall(page.read_text()) for fault in faults.split(", ")]
        missing = [name for name in dict.fromkeys(named) if name not in known]
        for name in missing:
            print(f"{page}: there is no test {name}")
        if not named:
            print(f"{page}: names no test at all")
        wrong += len(missing) + (not named)
        print(f"{page}: {len(set(named))} tests named, {len(missing)} missing")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
