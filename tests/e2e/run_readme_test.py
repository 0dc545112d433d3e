"""Runs what the README tells people to run: its shell blocks under a `<!-- run -->` mark, in order, in one place."""

import os
import re
import subprocess
import unittest

import harness

MARKED = re.compile(r"<!-- run -->\n```sh\n(.*?)```", re.DOTALL)


SAMPLE = re.compile(r"```yaml\n(entrypoint:.*?)```", re.DOTALL)


class RunReadme(harness.Case):
    def test_the_files_that_people_copy_need_no_advice(self):
        sample = self.folder / "sample.yaml"
        sample.write_text(SAMPLE.search((harness.ROOT / "README.md").read_text())[1])
        examples = sorted((harness.ROOT / "examples" / "digits").glob("*.yaml"))
        self.assertTrue(examples)
        for file in (sample, *examples):
            self.assertNotIn("warning:", self.run_cli("preview", file).stderr, file)

    def test_every_marked_block_runs(self):
        blocks = MARKED.findall((harness.ROOT / "README.md").read_text())
        self.assertTrue(blocks)
        os.symlink(harness.ROOT / "examples", self.folder / "examples")
        for block in blocks:
            done = subprocess.run(["/bin/sh", "-eu", "-c", block], cwd=self.folder, env=harness.environment(),
                                  capture_output=True, text=True, timeout=harness.PATIENCE, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 0, f"{block}\n{done.stdout}\n{done.stderr}")


if __name__ == "__main__":
    unittest.main()
