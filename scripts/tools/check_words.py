#!/usr/bin/python3
"""Checks comments, names and test names against the word list of docs/style.md, in the folders that are clean.

    check_words.py [ROOT]       prints `file:line: what is wrong` for each breach; exit 1 if there is one
    check_words.py --self-test  checks that planted breaches are found
"""

import pathlib
import re
import sys

CLEAN = ["engine", "searchers", "bench", "io/net", "io/http", "io/zmq", "apps", "clients/python", "tests/daemon",
         "tests/cli", "tests/engine", "tests/searchers", "tests/conformance", "tests/contract", "tests/clients/python",
         "jobs", "proto", "workers", "io/files", "io/archive", "io/checkpoints", "io/include/hpsearch/io/files",
         "io/include/hpsearch/io/archive", "io/include/hpsearch/io/checkpoints", "io/configuration",
         "io/include/hpsearch/io/configuration", "tests/jobs", "tests/proto", "tests/io",
         "tests/workers"]
# Names of formats, and of public headers in which a new name costs a build of everything.
ALLOWED = {"checkpoint_gone", "checkpoint_may_be_gone", "gone", "all_gone"}

COMMENT = {".cpp": r"//+<?", ".hpp": r"//+<?", ".py": r"#:?"}
BEGINNING = r"\s*Of\s"


def words_of(style):
    """The words in the first column of the word list."""
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", style.split("## Word list")[1], re.MULTILINE)
    return {word.strip() for row in rows[1:] for word in row.split(",")}


def parts_of(name):
    return {part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def breaches(path, text, words):
    """(line number, what is wrong) for each breach."""
    mark = COMMENT[path.suffix]
    for number, line in enumerate(text.splitlines(), 1):
        code = re.sub(r'"(?:[^"\\]|\\.)*"', '""', line)
        found = re.search(rf"(?:^|\s){mark}(.*)", code)
        comment = found.group(1) if found else ""
        code = code[:found.start()] if found else code
        if re.match(BEGINNING, comment):
            yield number, "the comment begins with \"" + comment.split()[0] + "\""
        for word in sorted(words & set(re.findall(r"[a-z]+", re.sub(r"\w*_\w*|`[^`]*`", "", comment.lower())))):
            yield number, f"\"{word}\" in a comment"
        for name in re.findall(r"\bTEST\w*\(\w+, ((?:Of|What|Who|Whose)[A-Z]\w*)", code):
            yield number, f"the test {name} does not state what happens"
        for name in re.findall(r"[A-Za-z_]\w*", code):
            for word in sorted(words & parts_of(name)) if name not in ALLOWED else []:
                yield number, f"\"{word}\" in the name {name}"


def check(root):
    words = words_of((root / "docs/style.md").read_text())
    count = 0
    for path in sorted(path for folder in CLEAN for path in (root / folder).rglob("*") if path.suffix in COMMENT):
        for number, what in breaches(path, path.read_text(), words):
            print(f"{path.relative_to(root)}:{number}: {what} (docs/style.md)")
            count += 1
    return count


def self_test():
    words = words_of("## Word list\n\n| not | but |\n|---|---|\n| told | answer |\n| gone | ended |\n")
    assert words == {"told", "gone"}, words
    text = '// Of the slots.\nint told_ = 0;  // fine\nTEST(A, WasTold) {}\nf("told");\n// It is gone.\n// All fine.\nTEST_F(A, OfTwoTheFirst) {}\n'
    found = [number for number, _ in breaches(pathlib.Path("a.cpp"), text, words)]
    assert found == [1, 2, 3, 5, 7], found
    print("all planted breaches were found")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    else:
        sys.exit(1 if check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")) else 0)
