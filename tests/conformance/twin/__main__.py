"""A dumb second opinion on the searchers. It shares nothing with the program it judges.

    python3 tests/conformance/twin check    every answer in every table is the twin's, and random tables are the
                                            ones it makes
    python3 tests/conformance/twin write    writes them so; people review the difference
"""

import pathlib
import sys

import courses
import tables

HERE = pathlib.Path(__file__).resolve().parent.parent


def main():
    if sys.argv[1:] not in (["check"], ["write"]):
        raise SystemExit(__doc__)
    wrong = []
    for name, text in courses.files():
        if sys.argv[1] == "write":
            (HERE / name).write_text(text)
        elif not (HERE / name).exists() or (HERE / name).read_text() != text:
            wrong.append(f"{name} is not what the twin makes of its seed")
    for table in sorted(HERE.glob("*/*.txt")):
        before = table.read_text()
        try:
            after = tables.answered(before)
        except SystemExit as error:
            raise SystemExit(f"{table.name}, {error}")
        if sys.argv[1] == "write":
            table.write_text(after)
        for number, (is_line, should_be) in enumerate(zip(before.splitlines(), after.splitlines()), 1):
            if is_line != should_be:
                wrong.append(f"{table.relative_to(HERE)}:{number}\n  is        {is_line}\n  should be {should_be}")
    print("\n".join(wrong) or "the twin agrees")
    if wrong and sys.argv[1] == "check":
        raise SystemExit(1)


main()
