"""docs/metrics.md has the tables of metrics that the daemon and the worker describe.

  metrics_description.py HPSEARCHD HPSEARCH_WORKER           fails when they differ
  metrics_description.py --write HPSEARCHD HPSEARCH_WORKER   writes the tables"""

import difflib
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "metrics.md"
TABLE = re.compile(r"^\| metric \| type \| labels \| meaning \|\n(\|.*\n)*", re.MULTILINE)


def main():
    describe = lambda program: subprocess.run([program, "--describe-metrics"], check=True, capture_output=True, text=True).stdout
    tables = iter([describe(program) for program in sys.argv[-2:]])
    found = PAGE.read_text()
    wanted, count = TABLE.subn(lambda _: next(tables), found)
    assert count == 2, f"{PAGE} has {count} tables of metrics, not one for the daemon and one for the worker"
    if "--write" in sys.argv:
        PAGE.write_text(wanted)
    elif found != wanted:
        print("".join(difflib.unified_diff(found.splitlines(True), wanted.splitlines(True), str(PAGE), "the programs", n=0)))
        sys.exit("Write it: python3 tests/docs/metrics_description.py --write build/dev/bin/hpsearchd build/dev/bin/hpsearch-worker")


if __name__ == "__main__":
    main()
