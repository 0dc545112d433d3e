"""No page, message or example advises to install hpsearch from an index: the name is not ours there, and pip would run what
anybody uploads under it. With --no-index, pip takes the wheels of scripts/wheel."""

import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LARGEST = 2_000_000  # Bytes. Larger files are data.
# One command, also where a text of the source goes on in its next line.
COMMAND = re.compile(r"\bpip3?\s+install(\s+[^\s`;|]+(?:[ \t]+[^\s`;|]+){0,10})")
NAME = re.compile(r"""^["'(\[]*hpsearch(-client)?(\[[^\]]*\])?([=<>~!]=.*)?["')\].,;:!]*$""")


def advices(text):
    """The commands of a text that install hpsearch by its name from an index."""
    joined = re.sub(r"""["'][ \t]*\n[ \t]*f?["']|\\[ \t]*\n""", " ", text)
    found = []
    for match in COMMAND.finditer(joined):
        words = match.group(1).split()
        named = [at for at, word in enumerate(words) if NAME.match(word)]
        if named and "--no-index" not in words[:named[0]]:
            found.append(" ".join(["pip", "install"] + words[:named[0] + 1]))
    return found


def own_files():
    listed = subprocess.run(["git", "-c", "safe.directory=*", "-C", str(ROOT), "ls-files", "-z"], stdout=subprocess.PIPE)
    if listed.returncode == 0:
        return [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    places = [ROOT / name for name in ("apps", "clients", "deploy", "docs", "examples", "scripts", "workers")]  # No clone, as of an archive.
    return [ROOT / "README.md"] + [file for place in places for file in place.rglob("*") if "node_modules" not in file.parts]


class InstallAdvice(unittest.TestCase):
    def test_commands_that_ask_an_index_are_found(self):
        for text in ("run `pip install hpsearch`", "pip install -U 'hpsearch[hydra]==0.1.0'", 'fails; pip "\n    "install hpsearch=={}"',
                     "python3 -m pip install hpsearch-client.", "pip install\nhpsearch", "pip install numpy \\\n  hpsearch"):
            with self.subTest(text):
                self.assertTrue(advices(text))
        for text in ("pip install --no-index --find-links DIRECTORY hpsearch", "pip install build/wheel/dist/*.whl",
                     "`pip install` of hpsearch", "pip install hpsearch-like", "pip install -e clients/python"):
            with self.subTest(text):
                self.assertEqual(advices(text), [])

    def test_no_file_has_one(self):
        files = [file for file in own_files() if file.is_file() and file.stat().st_size < LARGEST and file != pathlib.Path(__file__)]
        self.assertGreater(len(files), 100)
        found = {str(file.relative_to(ROOT)): advices(file.read_text(encoding="utf-8", errors="replace")) for file in files}
        self.assertEqual({file: commands for file, commands in found.items() if commands}, {})


if __name__ == "__main__":
    sys.exit(unittest.main())
