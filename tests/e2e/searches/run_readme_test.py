"""Runs what the README tells people to run: its shell blocks under a `<!-- run -->` mark, in order, in one place, beside
the files that it shows (blocks of Python and YAML whose first line is `# NAME`)."""

import re
import subprocess
import unittest

import harness

MARKED = re.compile(r"<!-- run -->\n```sh\n(.*?)```", re.DOTALL)


SHOWN = re.compile(r"```(?:yaml|python)\n(# (\S+\.(?:yaml|py))\n.*?)```", re.DOTALL)


class RunReadme(harness.Case):
    def write_shown_files(self):
        for text, name in SHOWN.findall((harness.ROOT / "README.md").read_text()):
            (self.folder / name).write_text(text)

    def test_the_files_that_people_copy_need_no_advice(self):
        self.write_shown_files()
        samples = list(self.folder.glob("*.yaml"))
        examples = sorted((harness.ROOT / "examples" / "digits").glob("*.yaml"))
        self.assertTrue(samples)
        self.assertTrue(examples)
        for file in (*samples, *examples):
            self.assertNotIn("warning:", self.run_cli("preview", file).stderr, file)

    def test_every_marked_block_runs(self):
        blocks = MARKED.findall((harness.ROOT / "README.md").read_text())
        self.assertTrue(blocks)
        self.write_shown_files()
        for block in blocks:
            done = subprocess.run(["/bin/sh", "-eu", "-c", block], cwd=self.folder, env=harness.environment(),
                                  capture_output=True, text=True, timeout=harness.PATIENCE, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 0, f"{block}\n{done.stdout}\n{done.stderr}")


if __name__ == "__main__":
    unittest.main()
