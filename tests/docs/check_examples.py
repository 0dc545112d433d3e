"""Runs the worked examples of the documentation and demands that the program says what the page says.

    python3 tests/docs/check_examples.py BIN_DIR PAGE ...            check
    python3 tests/docs/check_examples.py --write BIN_DIR PAGE ...    put the program's words in

In a page, ```yaml whose first line is `# NAME.yaml` is a file; ```console is commands, each after `$ `, and what they
print (standard output, then standard error). A line `...` in the output stands for any lines; --write leaves an output
alone that has one and fits.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(yaml|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(command, folder, bin_dir):
    environment = {"PATH": f"{bin_dir}:{os.environ['PATH']}", "HOME": folder, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, text=True, capture_output=True, timeout=60)
    return [line.rstrip() for line in (done.stdout + done.stderr).splitlines()]


def fits(lines, expected):
    """Whether the lines are the expected ones, `...` standing for any number."""
    if not expected:
        return not lines
    if expected[0] == "...":
        return any(fits(lines[skipped:], expected[1:]) for skipped in range(len(lines) + 1))
    return bool(lines) and lines[0] == expected[0] and fits(lines[1:], expected[1:])


def answered(console, folder, bin_dir, complain):
    """The block with what its commands print now."""
    written = []
    for part in re.split(r"^(?=\$ )", console, flags=re.MULTILINE):
        if not part.strip():
            continue
        command, *expected = part.rstrip("\n").split("\n")
        lines = run(command.removeprefix("$ "), folder, bin_dir)
        blank_ends = [""] if expected and not expected[-1] else []
        expected = expected[:len(expected) - len(blank_ends)]
        if not fits(lines, expected):
            complain(command, lines, expected)
            expected = lines
        written += [command, *expected, *blank_ends]
    return "\n".join(written) + "\n"


def check(page, bin_dir, write):
    text = page.read_text()
    wrong = []

    def complain(command, lines, expected):
        place = next((i for i, (a, b) in enumerate(zip(lines, expected)) if a != b), min(len(lines), len(expected)))
        says = "\n    ".join(lines[place:place + 4]) or "(nothing more)"
        page_says = "\n    ".join(expected[place:place + 4]) or "(nothing more)"
        wrong.append(f"{page}: {command}\n  the program says\n    {says}\n  the page says\n    {page_says}")

    with tempfile.TemporaryDirectory() as folder:
        for kind, block in BLOCK.findall(text):
            name = re.match(r"# (\S+\.yaml)\n", block)
            if kind == "yaml" and name:
                (pathlib.Path(folder) / name[1]).write_text(block)
        examples = 0

        def replaced(match):
            nonlocal examples
            if match[1] == "yaml":
                return match[0]
            examples += match[2].count("$ ")
            return f"```console\n{answered(match[2], folder, bin_dir, complain)}```"

        new = BLOCK.sub(replaced, text)
    if write:
        page.write_text(new)
        wrong = []
    elif examples == 0:
        wrong.append(f"{page}: no example in it")
    return examples, wrong


def main():
    arguments = sys.argv[1:]
    write = arguments[:1] == ["--write"]
    arguments = arguments[1 if write else 0:]
    if len(arguments) < 2:
        raise SystemExit(__doc__)
    bin_dir, *pages = arguments
    total, wrong = 0, []
    for page in pages:
        examples, complaints = check(pathlib.Path(page), os.path.abspath(bin_dir), write)
        total += examples
        wrong += complaints
    if wrong:
        raise SystemExit("\n".join(wrong) + "\n(--write puts the program's words in; review them)")
    print(f"{total} commands say what their pages say")


main()
