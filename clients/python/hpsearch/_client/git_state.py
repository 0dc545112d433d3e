"""The commit that a directory has checked out, and whether the directory differs from it."""

from __future__ import annotations

import os
import pathlib
import subprocess
from typing import Any, Dict, List, Optional

_LONGEST_WAIT = 3.0  # Seconds.
_OF_ANOTHER_CHECKOUT = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX")


def git_state(directory: pathlib.Path) -> Optional[Dict[str, Any]]:
    """The state as a submission has it. None if git is missing, refuses or is slow, or if there is no commit.

    git writes nothing, starts no monitor of files, and refuses checkouts of other users (its safe.directory).
    """
    try:
        commit = _ask(directory, ["rev-parse", "--verify", "HEAD"])
        branch = _ask(directory, ["symbolic-ref", "--short", "-q", "HEAD"])
        changes = _ask(directory, ["status", "--porcelain", "--untracked-files=normal", "--", "."])
    except (OSError, subprocess.SubprocessError):
        return None
    if not commit or changes is None:
        return None
    return {"commit": commit, "branch": branch or "", "dirty": changes != ""}


def _ask(directory: pathlib.Path, question: List[str]) -> Optional[str]:
    """What git answers; None if it refuses."""
    variables = {name: value for name, value in os.environ.items() if name not in _OF_ANOTHER_CHECKOUT}
    words = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-C", str(directory)]
    answer = subprocess.run(words + question, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            timeout=_LONGEST_WAIT, env=dict(variables, LC_ALL="C"))
    return answer.stdout.decode("utf-8", "replace").strip() if answer.returncode == 0 else None
