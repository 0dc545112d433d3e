"""docs/metrics.md ends with the table of metrics that the daemon describes.

  metrics_description.py HPSEARCHD           fails when they differ
  metrics_description.py --write HPSEARCHD   writes the table"""

import difflib
import pathlib
import subprocess
import sys

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "metrics.md"
FIRST_LINE = "| metric | type | labels | meaning |"


def main():
    table = subprocess.run([sys.argv[-1], "--describe-metrics"], check=True, capture_output=True, text=True).stdout
    found = PAGE.read_text()
    wanted = found.split(FIRST_LINE)[0] + table
    if "--write" in sys.argv:
        PAGE.write_text(wanted)
    elif found != wanted:
        print("".join(difflib.unified_diff(found.splitlines(True), wanted.splitlines(True), str(PAGE), "the daemon", n=0)))
        sys.exit("Write it: python3 tests/docs/metrics_description.py --write build/dev/bin/hpsearchd")


if __name__ == "__main__":
    main()
