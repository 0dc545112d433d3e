"""docs/operating/configuration.md has the keys that the daemon and the worker describe.

  configuration_description.py HPSEARCHD HPSEARCH_WORKER           fails when they differ
  configuration_description.py --write HPSEARCHD HPSEARCH_WORKER   writes the tables"""

import difflib
import pathlib
import re
import subprocess
import sys

DOCS = pathlib.Path(__file__).parents[2] / "docs"
PAGE = DOCS / "operating" / "configuration.md"
TABLE = re.compile(r"^\| key \| flag \| default \| SIGHUP \| meaning \|\n(\|.*\n)*", re.MULTILINE)


def output_of(program, option):
    return subprocess.run([program, option], check=True, capture_output=True, text=True).stdout


def main():
    programs = sys.argv[-2:]
    tables = iter([output_of(program, "--describe-config") for program in programs])
    found = PAGE.read_text()
    wanted, count = TABLE.subn(lambda _: next(tables), found)
    assert count == 2, f"{PAGE} has {count} tables of keys, not one for the daemon and one for the worker"
    if "--write" in sys.argv:
        PAGE.write_text(wanted)
        return
    if found != wanted:
        print("".join(difflib.unified_diff(found.splitlines(True), wanted.splitlines(True), str(PAGE), "the programs", n=0)))
        sys.exit("Write the page: python3 tests/docs/configuration_description.py --write build/dev/bin/hpsearchd "
                 "build/dev/bin/hpsearch-worker")


if __name__ == "__main__":
    main()
