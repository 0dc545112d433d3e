#!/usr/bin/env python3
"""Runs one test of real processes, wherever its file is.

    python3 tests/e2e/run.py NAME [ARGUMENT ...]    NAME_test.py, in a folder beside this file; arguments as unittest's

E2E_BIN_DIR: the folder of the programs; else build/dev/bin.
"""

import pathlib
import runpy
import sys

HERE = pathlib.Path(__file__).resolve().parent


def main():
    names = {path.name[: -len("_test.py")]: path for path in HERE.glob("*/*_test.py")}
    if len(sys.argv) < 2 or sys.argv[1] not in names:
        given = f"named {sys.argv[1]!r}" if len(sys.argv) > 1 else "not named"
        print(f"run.py: the test is {given}; it must be one of: {', '.join(sorted(names))}", file=sys.stderr)
        return 2
    path = names[sys.argv[1]]
    sys.argv[:2] = [str(path)]
    # What the tests share: harness.py and its neighbours, and what one test takes from another.
    sys.path[:1] = [str(HERE), *sorted({str(one.parent) for one in names.values()})]
    runpy.run_path(str(path), run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
