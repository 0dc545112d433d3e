"""The client of docs/python/ask-tell.md runs a search, and the search is what its page says."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "e2e"))
import harness

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "python" / "ask-tell.md"


def block(language):
    return re.search(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]


class AskTellPage(harness.Case):
    def test_the_client_of_the_page_runs_the_search_of_the_page(self):
        program = self.folder / "client.py"
        program.write_text(block("python"))
        self.assertLessEqual(len(block("python").splitlines()), 28)
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        connection = cluster.connection()
        connection.request("POST", "/api/v1/experiments", block("yaml"), {"Content-Type": "application/yaml"})
        created = connection.getresponse()
        self.assertEqual(created.status, 201, created.read())
        connection.close()
        ran = subprocess.run(["/usr/bin/python3", "-IS", program], capture_output=True, text=True, timeout=harness.PATIENCE,
                             env=os.environ | {"HPSEARCH_SOCKET": str(cluster.state / "api.sock"), "EXPERIMENT": "1"})
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        shown = cluster.get("/api/v1/experiments/1")
        self.assertEqual(shown["state"], "COMPLETED", json.dumps(shown))
        page = cluster.get("/api/v1/experiments/1/trials")
        self.assertEqual(len(page["trials"]), 12)
        self.assertTrue(any(trial["reached"] == 9 for trial in page["trials"]))
        self.assertTrue(all(trial["state"] in ("COMPLETED", "STOPPED") for trial in page["trials"]))
        self.assertEqual(sum(trial["restarts"] for trial in page["trials"]), 0)


if __name__ == "__main__":
    unittest.main()
