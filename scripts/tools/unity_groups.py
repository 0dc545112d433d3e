#!/usr/bin/python3
"""Which sources of one target can be compiled as one (cmake/HpsearchUnity.cmake).

    unity_groups.py SOURCE ...    prints the number of each source's group, in order, separated by semicolons

Compiling six tests as one source takes a third of the time that six sources take: headers are parsed and templates
instantiated once. The price is that names of unnamed namespaces meet. Two sources get into one group only when neither
declares for itself what the other declares for itself, calls, or names as a type.
"""

import pathlib
import re
import sys

MOST_FILES = 40
MOST_BYTES = 400_000  # A machine with several processors shall have several groups to compile.

WORD = re.compile(r"\w+")
# Calls, and names of types, where nothing says of what object or namespace.
OPEN_NAME = re.compile(r"(?<![\w.>:])(?:([a-z]\w*)(?=\()|([A-Z]\w*))")
# What several sources may say: names of other namespaces, and the macros of tests.
SHARED = re.compile(r"using [\w:]+;|using namespace |namespace |[A-Z_]+\(")
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def own_names(code):
    """What a source declares in column 0 of its unnamed namespaces, as static, or as a macro."""
    names = set(re.findall(r"^#define (\w+)", code, re.MULTILINE))
    unnamed = False
    for line in code.splitlines():
        if line.startswith("namespace {"):
            unnamed = True
        elif line.startswith("@unnamed ends"):
            unnamed = False
        elif (unnamed or line.startswith("static ")) and WORD.match(line) and not SHARED.match(line):
            kind = re.match(r"(?:enum )?(?:class|struct|enum|union) (\w+)", line)
            words = WORD.findall(re.split(r"[({=;\[]|(?<!:):(?!:)", line, maxsplit=1)[0])
            names.add(kind.group(1) if kind else words[-1])
    return names


class Source:
    def __init__(self, path):
        text = re.sub(r"^} +// namespace$", "@unnamed ends", pathlib.Path(path).read_text(), flags=re.MULTILINE)
        code = NOT_CODE.sub("", text)
        self.own = own_names(code)
        self.open = {call or kind for call, kind in OPEN_NAME.findall(code)}
        self.size = len(code)

    def meets(self, other):
        return bool(self.own & (other.own | other.open) or other.own & self.open)


def grouped(sources):
    groups, numbers = [], []
    for source in sources:
        for number, group in enumerate(groups):
            if (len(group) < MOST_FILES and sum(one.size for one in group) + source.size <= MOST_BYTES
                    and not any(source.meets(one) for one in group)):
                break
        else:
            number = len(groups)
            groups.append([])
        groups[number].append(source)
        numbers.append(number)
    return numbers


if __name__ == "__main__":
    print(";".join(map(str, grouped([Source(path) for path in sys.argv[1:]]))))
