"""The English sentences that proto/sentences/stored_sentence.cpp has in Chinese are those that the sources make.

    stored_sentences_test.py ROOT
"""

import pathlib
import re
import sys

TABLE = "proto/sentences/stored_sentence.cpp"
MAKERS = ["engine/src", "engine/include", "searchers/src", "workers/core", "workers/shell", "apps/daemon", "apps/cli/run"]
LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"')
ADJACENT = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+')
# A sum of so many literals may make a part of a sentence: '"; " : "") + "no trial was trained to'.
MOST_LITERALS = 3
END = "\0"


def joined(literals):
    """The text of literals beside each other."""
    return "".join(each[1:-1].replace('\\"', '"').replace("\\n", "\n") for each in LITERAL.findall(literals))


def texts_of(root):
    """All string literals of the sources that make sentences, with END around each."""
    texts = set()
    for folder in MAKERS:
        for path in sorted((root / folder).rglob("*.[ch]pp")):
            texts.update(joined(found) for found in ADJACENT.findall(path.read_text()))
    return END + END.join(sorted(texts)) + END


def sentences(source):
    """The English forms of the table."""
    return [joined(found) for found in re.findall(r'Phrase<\d+>\{\s*((?:"(?:[^"\\\n]|\\.)*"\s*)+),', source)]


def is_made(part, texts, begin="", literals=MOST_LITERALS):
    """Whether it is in one literal, or a few of them end and begin where it is cut."""
    if begin + part in texts:
        return True
    cuts = range(1, len(part)) if literals > 1 else ()
    return any(
        begin + part[:cut] + END in texts and is_made(part[cut:], texts, END, literals - 1) for cut in cuts
    )


def unknown(english, texts):
    return [part for part in re.split(r"\{\d\}", english) if not is_made(part, texts)]


def main():
    root = pathlib.Path(sys.argv[1])
    texts = texts_of(root)
    table = sentences((root / TABLE).read_text())
    wrong = [f"{TABLE}: no source makes \"{part}\" of \"{each}\"" for each in table for part in unknown(each, texts)]
    if len(table) < 50:
        wrong.append(f"{TABLE}: only {len(table)} sentences were found")
    for other in ("budget.max_slot_hours {0} is consumed", "every trial failed, the last: {0}", "exit state {0}"):
        if not unknown(other, texts):
            wrong.append(f"no source makes \"{other}\", but it was found")
    print("\n".join(wrong) or f"{len(table)} sentences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
