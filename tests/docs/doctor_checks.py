"""docs/operating/doctor.md has the tables of checks that the program lists.

  doctor_checks.py HPSEARCH           fails when they differ
  doctor_checks.py --write HPSEARCH   writes them"""

import difflib
import json
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "operating" / "doctor.md"
TABLE = re.compile(r"^\| check \| what must be true \|\n(\|.*\n)*", re.MULTILINE)
PARTS = ("machine", "state directory", "daemon", "worker")  # In the order of the tables.


def table_of(checks, part):
    rows = [f"| `{one['check']}` | {one['about']} |\n" for one in checks if one["needs"] == part]
    return "| check | what must be true |\n|---|---|\n" + "".join(rows)


def main():
    listed = subprocess.run([sys.argv[-1], "doctor", "--list", "--output", "json"], check=True, capture_output=True, text=True).stdout
    checks = json.loads(listed)["checks"]
    tables = iter([table_of(checks, part) for part in PARTS])
    found = PAGE.read_text()
    wanted, count = TABLE.subn(lambda _: next(tables), found)
    assert count == len(PARTS), f"{PAGE} has {count} tables of checks, not one for each of {PARTS}"
    if "--write" in sys.argv:
        PAGE.write_text(wanted)
    elif found != wanted:
        print("".join(difflib.unified_diff(found.splitlines(True), wanted.splitlines(True), str(PAGE), "the program", n=0)))
        sys.exit("Write it: python3 tests/docs/doctor_checks.py --write build/dev/bin/hpsearch")


if __name__ == "__main__":
    main()
