"""What the tests of the built packages share: where they are, environments that they are installed into, one search."""

import pathlib
import shutil
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


class Built:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.programs = self._one("hpsearch-*.whl")
        self.client = self._one("hpsearch_client-*.whl")

    def _one(self, pattern):
        found = sorted(self.directory.glob(pattern))
        if len(found) != 1:
            skip(f"{self.directory} has {len(found)} files {pattern}: run scripts/wheel")
        return found[0]


def interpreters():
    """Version to path of the Pythons of this machine, pyenv's among them."""
    found = {}
    places = sorted(pathlib.Path.home().glob(".pyenv/versions/3.*/bin/python3")) + [pathlib.Path("/usr/bin/python3")]
    for path in places:
        asked = subprocess.run([path, "-c", "import sys, venv, ensurepip; print(*sys.version_info[:2], sep='.')"],
                               capture_output=True, text=True, check=False)
        if asked.returncode == 0 and tuple(map(int, asked.stdout.strip().split("."))) >= (3, 8):
            found.setdefault(asked.stdout.strip(), path)
    return found


def environment(python, folder, built):
    """A virtual environment with both packages, installed without an index."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", built.programs,
                    built.client], check=True)
    return folder / "bin"


# What a program sees: no compiler, nothing of the build, a home of its own.
def plain_environment(home, scripts):
    path = [str(scripts)]
    tools = pathlib.Path(home) / "tools"
    tools.mkdir(parents=True, exist_ok=True)
    for name in ("sh", "env", "uname", "cat", "ls", "mkdir", "rm", "sleep", "id", "bash"):
        if not (tools / name).exists():
            (tools / name).symlink_to(shutil.which(name))
    return {"PATH": ":".join([*path, str(tools)]), "HOME": str(home), "LANG": "C.UTF-8"}


PROGRAM = textwrap.dedent("""\
    import hpsearch

    params = hpsearch.params({"x": 1.0})
    for step in range(1, hpsearch.length(9) + 1):
        if hpsearch.report(step, loss=(params["x"] - 2) ** 2 + 1 / step) is not hpsearch.CONTINUE:
            break
    """)
FILE = textwrap.dedent("""\
    name: wheel
    hyperparameters:
      x: {type: double, minval: -4, maxval: 4}
    searcher: {name: adaptive_asha, metric: loss, max_length: 9, max_trials: 8}
    entrypoint: [python3, program.py]
    """)


def write_search(folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    (folder / "search.yaml").write_text(FILE, encoding="utf-8")
    return folder
