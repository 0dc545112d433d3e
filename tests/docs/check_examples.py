"""Runs the worked examples of the documentation and demands that the program says what the page says.

    python3 tests/docs/check_examples.py BIN_DIR PAGE ...            check
    python3 tests/docs/check_examples.py --write BIN_DIR PAGE ...    put the program's words in

In a page, ```yaml, ```python or ```sh whose first line is `# NAME` is a file; ```console is commands, each after `$ `,
and what they print (standard output, then standard error). A line `...` in the output stands for any lines; --write
leaves an output alone that has one and fits. What no two runs share (the time of day, durations, the directory) is
replaced before it is compared or written.
"""

import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(yaml|python|sh|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# ([\w.-]+\.(?:yaml|py|sh))\n")
SHOWN_FOLDER = "/home/ann/tune"
DIFFERS = [(re.compile(pattern), text) for pattern, text in (
    (r"\b\d\d:\d\d:\d\d\b", "12:00:00"), (r"\b\d+(\.\d+)? (ms|s|min)\b", "1 s"), (r"busy [\d.]+ %", "busy 90 %"),
    (r"engine [\d.]+ %", "engine 0.1 %"), (r"\b(process|pid) \d+", r"\1 4711"))]
# They come when somebody looks, between whichever events then happened, and again below the summary: they are shown once,
# behind the events.
WHENEVER = ("note: ", "hint: ")
# They come only if a look falls into a pause.
PERHAPS = ("no trial runs: ",)


MARKS = re.compile(r"[ |]*[ ~^]+")  # Under a line of a traceback, from Python 3.11 on.


def tidied(text, folder):
    """The lines as every real search of these programs has them."""
    text = text.replace(folder, SHOWN_FOLDER).replace(os.path.dirname(folder), os.path.dirname(SHOWN_FOLDER))
    text = text.replace(socket.gethostname(), "host")
    for pattern, always in DIFFERS:
        text = pattern.sub(always, text)
    lines = [line.rstrip() for line in text.splitlines() if not line.startswith(PERHAPS)]
    told = [line for line in lines if line.startswith(WHENEVER)]
    lines = [line for line in lines if line not in told and not (line and MARKS.fullmatch(line))]
    last = max((i for i, line in enumerate(lines) if line.startswith("12:00:00  ")), default=len(lines) - 1)
    return lines[:last + 1] + list(dict.fromkeys(told)) + lines[last + 1:]


def run(command, folder, bin_dir):
    environment = {"PATH": f"{bin_dir}:/usr/bin:/bin", "HOME": folder, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, text=True, capture_output=True,
                          timeout=240)
    said = done.stdout + done.stderr
    if "hpsearch run " in command or "hpsearch explain " in command:
        return tidied(said, folder)
    return [line.rstrip() for line in said.replace(folder, SHOWN_FOLDER).splitlines()]


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

    with tempfile.TemporaryDirectory() as top:
        folder = os.path.join(os.path.realpath(top), "tune")
        os.mkdir(folder)
        for kind, block in BLOCK.findall(text):
            name = FILE.match(block)
            if kind != "console" and name:
                (pathlib.Path(folder) / name[1]).write_text(block)
        for program in ("train.py",):  # Of pages that show no program, and start none.
            (pathlib.Path(folder) / program).touch()
        examples = 0

        def replaced(match):
            nonlocal examples
            if match[1] != "console":
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
