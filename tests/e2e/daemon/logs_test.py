"""What a training printed, as its user sees it: stdout and stderr apart, each attempt's own, progress bars folded, searched,
followed while it grows; and of one that failed its cause, its node and the end of its log.
"""

import subprocess
import unittest

import harness

PROGRAM = """
import os, sys, time
attempt = int(os.environ["HPSEARCH_ATTEMPT"])
print("attempt", attempt, "begins", flush=True)
print("a warning", file=sys.stderr, flush=True)
for percent in range(0, 101, 10):
    print(f"\\repoch 1 {percent}%", end="", flush=True)
print("\\x1b[32m done\\x1b[0m", flush=True)
for number in range(5):
    print("loss of batch", number, "is", number / 10, flush=True)
if attempt == 1:
    print("Traceback: something is wrong", file=sys.stderr, flush=True)
    sys.exit(3)
print("waiting", flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.02)
print('HPSEARCH {"step": 1, "loss": 1}', flush=True)
print("the last line", end="", flush=True)
"""


class Logs(harness.Case):
    def setUp(self):
        super().setUp()
        self.go_on = self.folder / "go-on"
        program = self.folder / "program.py"
        program.write_text(PROGRAM)
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        self.worker = self.cluster.start_worker(1, name="node-7")
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 1, "max_trials": 1}, max_restarts=1)
        tree["entrypoint"] = ["/usr/bin/python3", "-IS", str(program), str(self.go_on)]
        self.experiment = self.cluster.submit(tree)
        harness.wait_for(lambda: "waiting" in self.logs(expect=None), "the second attempt to wait")

    def logs(self, *options, expect=0):
        return self.run_cli("logs", "0", "--server", self.cluster.server, *options, expect=expect).stdout

    def finish(self):
        self.go_on.touch()
        self.assertEqual(self.cluster.wait_until_over(self.experiment), "COMPLETED")

    def test_streams_attempts_bars_and_search(self):
        folded = "epoch 1 100% done\n"
        batches = [f"loss of batch {number} is {number / 10}\n" for number in range(5)]
        first = "attempt 1 begins\n" + folded + "".join(batches)
        self.assertEqual(self.logs("--attempt", 1), first)
        self.assertEqual(self.logs("--attempt", 1, "--stderr"), "a warning\nTraceback: something is wrong\n")
        log = f"/api/v1/experiments/{self.experiment}/trials/0/log?attempt=1"
        found = self.cluster.get(f"{log}&q=batch%20%5B13%5D%20")
        self.assertEqual([match["line"] for match in found["matches"]], [batches[1].strip(), batches[3].strip()])
        self.assertTrue(found["complete"])
        for match in found["matches"]:
            self.assertTrue(self.cluster.get(f"{log}&offset={match['offset']}")["text"].startswith(match["line"]))
        status, problem = self.cluster.call("GET", f"{log}&q=%28")
        self.assertEqual(status, 400)
        self.assertIn("regular expression", problem["detail"])
        raw = self.logs("--attempt", 1, "--raw")
        self.assertIn("\x1b[32m done\x1b[0m\n", raw)
        self.assertIn("epoch 1 0%\repoch 1 10%", raw.replace("\n", "\r"))
        self.assertEqual(self.logs("--grep", r"batch [13] is|^Trace"), batches[1] + batches[3])
        self.assertEqual(self.logs("--grep", "nothing like it"), "")
        self.assertEqual(self.logs("--grep", "loss", "--tail", 2), batches[3] + batches[4])
        self.assertEqual(self.logs("--tail", 2), batches[4] + "waiting\n")
        refused = self.run_cli("logs", "0", "--server", self.cluster.server, "--grep", "(", expect=2)
        self.assertIn('--grep: the regular expression "(" cannot be used: missing ): (', refused.stderr)
        self.finish()
        self.assertTrue(self.logs().endswith('HPSEARCH {"step": 1, "loss": 1}\nthe last line\n'))
        document = self.run_cli("logs", "0", "--server", self.cluster.server, "--grep", "last", "--output", "json")
        self.assertEqual(document, {"attempt": 2, "rank": 0, "stream": "stdout", "text": "the last line\n"})

    def test_is_followed_while_it_grows(self):
        follower = subprocess.Popen([str(harness.BIN / "hpsearch"), "logs", "0", "-f", "--server", self.cluster.server],
                                    stdout=subprocess.PIPE, text=True, env=harness.environment())
        self.addCleanup(follower.kill)
        self.assertEqual(follower.stdout.readline(), "attempt 2 begins\n")
        while follower.stdout.readline() != "waiting\n":
            self.assertIsNone(follower.poll())
        self.assertFalse(self.go_on.exists(), "it is followed live")
        self.finish()
        rest = follower.communicate(timeout=harness.PATIENCE)[0]
        self.assertEqual(rest, 'HPSEARCH {"step": 1, "loss": 1}\nthe last line\n')
        self.assertEqual(follower.returncode, 0)

    def test_a_failed_attempt_is_shown_with_cause_node_and_log(self):
        def show():
            return self.run_cli("show", "--trial", "0", "--server", self.cluster.server).stdout

        shown = show()
        self.assertRegex(shown, r"\n +1 +node-7 .* exit code 3 +exit status 3\n +2 +node-7 .* running\n")
        self.assertIn("attempt 1 on node-7: exit code 3; the end of its stderr:\na warning\nTraceback: something is wrong\n", shown)
        self.assertIn("exit status 3", self.run_cli("trials", "--server", self.cluster.server).stdout)
        self.finish()
        self.assertRegex(show(), r"\n +2 +node-7 .* exit code 0\n")
        document = self.run_cli("show", "--trial", "0", "--server", self.cluster.server, "--output", "json")
        self.assertEqual([(attempt["worker"], attempt["cause"], attempt["failed"]) for attempt in document["attempts_made"]],
                         [("node-7", "exit code 3", True), ("node-7", "exit code 0", False)])
        self.worker.end()
        self.assertIn("; the end of its stderr:\na warning\nTraceback: something is wrong\n", show(), "the daemon has kept it")


class AfterARun(harness.Case):
    def test_notes_are_told_and_the_end_of_a_failed_log_is_shown(self):
        script = ("for line in $(seq 2000); do echo \"warning $line of many that a program writes\" >&2; done; "
                  "echo 'HPSEARCH {\"step\": 2, \"loss\": 1}'; echo 'HPSEARCH {\"step\": 1, \"loss\": 1}'; exit 3")
        file = self.write_experiment({
            "entrypoint": ["/bin/sh", "-c", script], "hyperparameters": {"x": 1}, "max_restarts": 0,
            "searcher": {"name": "single", "metric": "loss", "max_length": 9}})
        state = self.folder / "state"
        run = self.run_cli("run", file, "--state-dir", state, "--slots", 1, expect=7)
        self.assertRegex(run.stdout + run.stderr, r"note: trial 0: it reports 1 batch after 2 batches")
        shown = self.run_cli("show", "--trial", "0", "--state-dir", state).stdout
        self.assertIn("the end of its stderr:\n", shown)
        self.assertGreater(len(shown), 50_000)
        self.assertIn("warning 2000 of many", shown)


if __name__ == "__main__":
    unittest.main()
