"""What the program says of an experiment: whether it is valid, and which fields it knows in a section."""

import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = pathlib.Path(os.environ.get("E2E_BIN_DIR", ROOT / "build" / "dev" / "bin")).resolve()
DESCRIBE = os.environ.get("DESCRIBE_EXPERIMENT", ROOT / "build" / "dev" / "tests" / "docs" / "describe_experiment")

# Nothing in any section is called so, or nearly so: then the message lists what is.
UNKNOWN = "zzzzzzzzzz"

CHECK = subprocess.Popen([DESCRIBE, "--check"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def checked(experiment):
    """What the program's reader makes of an experiment; one process answers for all."""
    print(json.dumps(experiment), file=CHECK.stdin, flush=True)
    return json.loads(CHECK.stdout.readline())


def answer(path):
    """What `hpsearch validate` says of a file."""
    done = subprocess.run([BIN / "hpsearch", "validate", "--output", "json", path], text=True, capture_output=True, timeout=60)
    if done.returncode not in (0, 2):
        raise AssertionError(f"hpsearch validate ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout or done.stderr)


def problems(experiment):
    """All that is wrong with an experiment, each as path, what and allowed; nothing for a valid one."""
    return checked(experiment)["problems"]


def effective(experiment):
    """The experiment with every default filled in."""
    said = checked(experiment)
    if said["problems"]:
        raise AssertionError(f"not valid: {said}")
    return said["config"]


def names_in(allowed):
    """`one of a, b or c` and its like, as names."""
    return {name for name in re.split(r"[, ]+", re.sub(r"^one of ", "", allowed)) if name and name != "or"}


def allowed_at(experiment, path):
    """The names that the program lists for what is wrong at the path."""
    found = [problem["allowed"] for problem in problems(experiment) if problem["path"] == path]
    if len(found) != 1:
        raise AssertionError(f"{path}: expected one problem, not {found}")
    return names_in(found[0])
