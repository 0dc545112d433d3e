"""docs/operating/configuration.md has the keys that the daemon and the worker describe, and their man pages have the flags.

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


def flags_of_man_page(name):
    """Those that the page describes."""
    items = re.findall(r"^\.It (Fl .*)$", (DOCS / "man" / name).read_text(), re.MULTILINE)
    return {"-" + flag for item in items for flag in re.findall(r"Fl (-[\w-]+)", item)}


def check_man_page(program):
    """What is wrong with the man page of a program."""
    name = pathlib.Path(program).name + ".8"
    flags = set(re.findall(r"^  (?:-h,)?(--[\w-]+)", output_of(program, "--help"), re.MULTILINE)) - {"--help", "--version"}
    if program.endswith("worker"):
        flags |= {"--no-start"}  # An option of join.
    described = flags_of_man_page(name)
    return [f"docs/man/{name} doesn't describe {flag}" for flag in sorted(flags - described)] + \
           [f"docs/man/{name} describes {flag}, which {program} doesn't have" for flag in sorted(described - flags)]


def main():
    programs = sys.argv[-2:]
    tables = iter([output_of(program, "--describe-config") for program in programs])
    found = PAGE.read_text()
    wanted, count = TABLE.subn(lambda _: next(tables), found)
    assert count == 2, f"{PAGE} has {count} tables of keys, not one for the daemon and one for the worker"
    if "--write" in sys.argv:
        PAGE.write_text(wanted)
        return
    wrong = [problem for program in programs for problem in check_man_page(program)]
    if found != wanted:
        print("".join(difflib.unified_diff(found.splitlines(True), wanted.splitlines(True), str(PAGE), "the programs", n=0)))
        wrong.append("write the page: python3 tests/docs/configuration_description.py --write build/dev/bin/hpsearchd "
                     "build/dev/bin/hpsearch-worker")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
