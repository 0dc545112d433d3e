"""How trainings are ended that do not listen: a checkpoint signal where the experiment wants one, SIGTERM, SIGKILL to all of
it, each after its grace; and a paused one goes on from the checkpoint that the signal made it write.
"""

import json
import unittest

import harness

PROGRAM = """
import json, os, signal, subprocess, sys, time
ledger = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def note(what, **more):
    os.write(ledger, (json.dumps({"what": what, "attempt": int(os.environ["HPSEARCH_ATTEMPT"]), "at": time.monotonic(),
                                  "pid": os.getpid(), **more}) + "\\n").encode())
stubborn = "stubborn" in sys.argv
step = 0
if os.environ["HPSEARCH_LATEST_CHECKPOINT"]:
    with open(os.path.join(os.environ["HPSEARCH_LATEST_CHECKPOINT"], "step")) as file:
        step = int(file.read())
def save(*_):
    note("checkpoint signal", step=step)
    if not stubborn:
        with open(os.path.join(os.environ["HPSEARCH_CHECKPOINT_DIR"], "step"), "w") as file:
            file.write(str(step))
        sys.exit(0)
signal.signal(signal.SIGUSR1, save)
signal.signal(signal.SIGTERM, lambda *_: note("SIGTERM"))
if stubborn:
    child = os.fork()
    if child == 0:
        os.setsid()
        signal.signal(signal.SIGUSR1, lambda *_: note("the child's signal"))
        note("child")
        while True:
            time.sleep(1)
note("start", step=step, signal=os.environ.get("HPSEARCH_CHECKPOINT_SIGNAL"))
while step < 1000:
    time.sleep(0.05)
    step += 1
    print(f"step {step} loss 0.5", flush=True)
    note("step", step=step)
    if step == 40 and not stubborn:
        break
"""
GRACE = 1


class KillLadder(harness.Case):
    def begin(self, *words, length):
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        self.worker = self.start("hpsearch-worker", "--daemon", self.cluster.workers, "--state-dir", self.folder / "worker",
                                 "--slots", 1, "--grace", GRACE, "--name", "worker", log="worker.log")
        program = self.folder / "program.py"
        program.write_text(PROGRAM)
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": length, "max_trials": 1}, max_restarts=0)
        tree["entrypoint"] = ["/usr/bin/python3", "-IS", str(program), str(self.ledger_path), *words]
        tree["environment"]["checkpoint_signal"] = "SIGUSR1"
        tree["metrics"] = {"loss": r"step (?P<step>\d+) loss (?P<value>[0-9.]+)"}
        self.experiment = self.cluster.submit(tree)
        harness.wait_for(lambda: len(self.ledger.of("step")) >= 3, "the training to train")

    def control(self, verb):
        self.run_cli(verb, self.experiment, "--server", self.cluster.server)

    def test_a_paused_training_goes_on_from_the_checkpoint_of_the_signal(self):
        self.begin(length=40)
        self.control("pause")
        harness.wait_for(lambda: self.cluster.trials(self.experiment)[0]["state"] == "PAUSED", "the trial to be paused",
                         lambda: json.dumps(self.cluster.trials(self.experiment)))
        (asked,) = self.ledger.of("checkpoint signal")
        self.control("resume")
        self.assertEqual(self.cluster.wait_until_over(self.experiment), "COMPLETED")
        first, second = self.ledger.of("start")
        self.assertEqual((first["step"], first["signal"], second["step"]), (0, "SIGUSR1", asked["step"]))
        self.assertEqual(self.ledger.of("SIGTERM"), [])
        (trial,) = self.cluster.trials(self.experiment)
        self.assertEqual((trial["attempts"], trial["restarts"], trial["reached"]), (2, 0, 40))

    def test_a_worker_that_ends_lets_its_training_save(self):
        self.begin(length=40)
        self.worker.end()
        (asked,) = self.ledger.of("checkpoint signal")
        self.assertEqual(self.ledger.of("SIGTERM"), [])
        self.cluster.start_worker(1, name="other")
        self.assertEqual(self.cluster.wait_until_over(self.experiment), "COMPLETED")
        self.assertEqual([line["step"] for line in self.ledger.of("start")], [0, asked["step"]])
        (trial,) = self.cluster.trials(self.experiment)
        self.assertEqual((trial["state"], trial["restarts"], trial["reached"]), ("COMPLETED", 0, 40))

    def test_who_ignores_everything_is_killed_with_all_it_started(self):
        self.begin("stubborn", length=1000)
        self.control("cancel")
        self.assertEqual(self.cluster.wait_until_over(self.experiment), "CANCELED")
        ledger = self.ledger
        (asked,) = ledger.of("checkpoint signal")
        self.assertEqual(ledger.of("the child's signal"), [], "only the first process gets it")
        told = ledger.of("SIGTERM")
        self.assertEqual({line["pid"] for line in told}, {line["pid"] for line in ledger.of("start") + ledger.of("child")})
        self.assertGreaterEqual(min(line["at"] for line in told) - asked["at"], GRACE * 0.9)
        self.assertGreaterEqual(max(line["at"] for line in ledger.of("step")) - told[0]["at"], GRACE * 0.8)
        self.assertEqual([line["pid"] for line in ledger.of("start") + ledger.of("child")
                          if harness.start_time(line["pid"]) is not None], [])
        cause = self.run_cli("show", "--trial", "0", "--server", self.cluster.server, "--output", "json")["attempts_made"][0]["cause"]
        self.assertEqual(cause, "stopped")


if __name__ == "__main__":
    unittest.main()
