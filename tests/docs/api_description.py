"""docs/openapi.json is what the daemon says about its HTTP API.

  api_description.py HPSEARCHD           fails when they differ
  api_description.py --write HPSEARCHD   writes the file"""

import difflib
import json
import pathlib
import subprocess
import sys

from experiment_fields import formatted

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "openapi.json"


def main():
    described = json.loads(subprocess.run([sys.argv[-1], "--describe-api"], check=True, capture_output=True, text=True).stdout)
    wanted = formatted(described) + "\n"
    if "--write" in sys.argv:
        PAGE.write_text(wanted)
        return
    found = PAGE.read_text()
    if found != wanted:
        print("".join(difflib.unified_diff(found.splitlines(True), wanted.splitlines(True), str(PAGE), "the daemon", n=0)))
        sys.exit("Write it: python3 tests/docs/api_description.py --write build/dev/bin/hpsearchd")


if __name__ == "__main__":
    main()
