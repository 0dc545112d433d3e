"""hpsearch-mcp with a real daemon and worker: a scripted agent follows the skill file to the letter, and budgets hold.

With the SDK of the Model Context Protocol in build/python-mcp (scripts/setup test); skipped without.
"""

import json
import pathlib
import re
import subprocess
import sys
import unittest

import harness
from harness import wait_for

PACKAGE = harness.ROOT / "clients" / "python"
SKILL = PACKAGE / "hpsearch" / "mcp" / "SKILL.md"
PYTHON = harness.ROOT / "build" / "python-mcp" / "bin" / "python3"
AGENT = pathlib.Path(__file__).with_name("skill_client.py")
FOR_TRIALS = {"PYTHONPATH": str(PACKAGE)}


class Agents(harness.Case):
    def setUp(self):
        super().setUp()
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        self.context = self.folder / "context"
        self.context.mkdir()

    def server(self, *more):
        """The command of a server for this daemon."""
        return [str(PYTHON), "-B", "-m", "hpsearch.mcp", "--server", self.cluster.server, *more]

    def follow(self, skill, *connection, expect=0):
        """The lines that the scripted agent prints."""
        done = subprocess.run([PYTHON, "-B", AGENT, skill, *connection], capture_output=True, text=True, timeout=harness.PATIENCE,
                              env=harness.environment() | FOR_TRIALS, cwd=self.folder)
        self.assertEqual(done.returncode, expect, done.stdout[-3000:] + done.stderr[-3000:])
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_the_skill_leads_to_a_result_and_its_budget_holds_over_a_restart(self):
        text = SKILL.read_text(encoding="utf-8")
        for name, program in re.findall(r"^```python (\S+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            (self.context / name).write_text(program)
        self.cluster.start_worker(2, extra=FOR_TRIALS)
        allowed = ["--allow", "submit", "--allow", "change", "--max-trials", "14", "--max-slot-hours", "1", "--context-root",
                   str(self.context)]
        tools, *calls = self.follow(SKILL, "stdio", *self.server("--max-experiments", "1", *allowed))
        self.assertEqual([call["tool"] for call in calls], re.findall(r"^```call (\w+)", text, re.MULTILINE))
        self.assertLessEqual({call["tool"] for call in calls}, set(tools["tools"]))
        answers = {call["tool"]: call["answer"] for call in calls}

        self.assertEqual(answers["preview"]["budget"], {"fits": True, "why": ""})
        number = answers["submit"]["experiment"]
        now = self.cluster.get(f"/api/v1/experiments/{number}")
        self.assertEqual((now["state"], now["trials_total"], now["labels"], now["workspace"]), ("COMPLETED", 14, ["agent"], "default"))
        self.assertEqual((answers["wait"]["over"], answers["wait"]["trials_total"]), (True, 14))
        first = next(call["answer"] for call in calls if call["tool"] == "wait")
        self.assertEqual((first["state"], first["trials_total"]), ("COMPLETED", 12))
        trials = self.cluster.trials(number)
        before = [trial["best_metric"] for trial in trials[:12] if trial["best_metric"] is not None]
        self.assertEqual(answers["best"]["best_metric"], min(before))
        self.assertEqual(answers["explain"]["trial"], answers["best"]["trial"])
        self.assertEqual(answers["logs"]["text"].splitlines()[0].split()[:2], ["epoch", "1"])
        self.assertIn(answers["best"]["trial"], [curve["trial"] for curve in answers["curves"]["trials"]])

        # Another process counts what the first one submitted, and the daemon gets nothing from it.
        _, budget, preview, submit = self.follow(SKILL, "stdio", *self.server("--max-experiments", "1", *allowed), expect=1)
        self.assertEqual((budget["answer"]["experiments"], budget["answer"]["trials"]),
                         ({"limit": 1, "used": 1, "left": 0}, {"limit": 14, "used": 14, "left": 0}))
        self.assertFalse(preview["answer"]["budget"]["fits"])
        self.assertEqual(submit["answer"], preview["answer"]["budget"]["why"])
        self.assertIn("1 of 1 experiments are used; it has 12 trials, and 0 of 14 are left", submit["answer"])
        self.assertEqual([one["id"] for one in self.cluster.experiments()], [number])

    def test_over_http_an_agent_reads_and_changes_nothing(self):
        experiment = self.cluster.submit(harness.experiment(self.ledger_path, {"name": "single", "max_length": {"epochs": 1}}))
        token = self.folder / "agents.token"
        server = self.start(*self.server("--http", "127.0.0.1:0", "--http-token-file", str(token)), log="mcp.log", extra=FOR_TRIALS)
        wait_for(lambda: "listens at" in server.said(), "the server to listen", server.said)
        url = re.search(r"listens at (\S+)", server.said())[1]
        skill = self.folder / "skill.md"
        skill.write_text(f'```call show\n{{"experiment": {experiment}}}\n```\n```call cancel\n{{"experiment": {experiment}}}\n```\n')
        tools, show, cancel = self.follow(skill, "http", url, token.read_text().strip(), expect=1)
        self.assertNotIn("submit", tools["tools"])
        self.assertEqual((show["answer"]["id"], show["answer"]["state"]), (experiment, "ACTIVE"))
        self.assertEqual(cancel["answer"], "cancel is not allowed here: hpsearch-mcp was started without --allow change")
        self.assertEqual(self.cluster.state_of(experiment), "ACTIVE")
        self.assertEqual(self.follow(skill, "http", url, "wrong", expect=1), [])


if __name__ == "__main__":
    if not PYTHON.exists() or subprocess.run([PYTHON, "-c", "import mcp"], capture_output=True).returncode != 0:
        sys.exit(harness.skipped("agents were not tested: there is no SDK of the Model Context Protocol (scripts/setup test)"))
    unittest.main()
