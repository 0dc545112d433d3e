"""The recipes of examples/distributed, each run as it is: a search whose trials are two ranks, with the genuine PyTorch, Accelerate and
DeepSpeed of the interpreter that runs this. Skipped, and said so, without."""

import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[4]
RECIPES = ROOT / "examples" / "distributed"
BIN = pathlib.Path(os.environ["E2E_BIN_DIR"])
PATIENCE = 400  # Seconds. Each rank imports PyTorch, which takes a while on a busy machine.

if importlib.util.find_spec("torch") is None:
    print("skipped: there is no PyTorch (scripts/setup torch)")
    print("OK (skipped=1)")
    sys.exit(0)

sys.path.insert(0, str(RECIPES))


def variables_of(pid):
    try:
        return dict(line.split("=", 1) for line in pathlib.Path("/proc", str(pid), "environ").read_text("utf-8", "replace").split("\0") if "=" in line)
    except OSError:
        return {}


def is_alive(pid):
    try:
        return pathlib.Path("/proc", str(pid), "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Recipes(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hpsearch-distributed-"))
        self.addCleanup(shutil.rmtree, str(self.folder), ignore_errors=True)
        self.state = self.folder / "state"
        self.mark = str(uuid.uuid4())
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("HPSEARCH_")}
        self.environment.update(
            PATH=os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]]), PYTHONPATH=str(ROOT / "clients" / "python"),
            HPSEARCH_SLOT_TABLE=str(self.folder / "slots"), MARK_OF_TEST=self.mark)
        self.addCleanup(self.kill_all)

    def kill_all(self):
        for pid in self.ours():
            os.kill(pid, signal.SIGKILL)

    def ours(self, **variables):
        """Processes of this test's searches, those with these variables."""
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdigit() and int(entry) != os.getpid():
                has = variables_of(entry)
                if has.get("MARK_OF_TEST") == self.mark and all(has.get(name) == value for name, value in variables.items()) and is_alive(entry):
                    found.append(int(entry))
        return found

    def command(self, file, *more):
        return [str(BIN / "hpsearch"), "run", str(file), "--slots", "4", "--state-dir", str(self.state), *more]

    def cli(self, *words):
        done = subprocess.run([str(BIN / "hpsearch"), *words, "--state-dir", str(self.state)], env=self.environment, capture_output=True, text=True)
        return done.stdout if done.returncode == 0 else ""

    def trial(self, number):
        return json.loads(self.cli("show", "1", "--trial", str(number), "-o", "json") or "{}")

    def wait_for(self, condition, what):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = condition()
            if found:
                return found
            time.sleep(0.2)
        self.fail("waited in vain for " + what)

    def losses_of_one_process(self, params, seed):
        """What the same training gives in one process that never stops."""
        import spirals
        import torch
        torch.manual_seed(seed)
        model = spirals.network(params["width"])
        optimizer = torch.optim.AdamW(model.parameters(), lr=params["learning_rate"])
        losses = []
        for step in range(1, 10):
            for x, y in spirals.batches(params["batch_size"], seed + step, 0, 1):
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(x), y).backward()
                optimizer.step()
            with torch.no_grad():
                x, y = spirals.VALIDATION
                losses.append(float(torch.nn.functional.cross_entropy(model(x), y)))
        return losses

    def check_search(self, recipe):
        done = subprocess.run(self.command(RECIPES / (recipe + ".yaml")), env=self.environment, capture_output=True, text=True, timeout=2 * PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.ours(), [], "processes are left")
        trials = json.loads(self.cli("trials", "-o", "json"))["trials"]
        self.assertEqual([(one["trial"], one["state"], one["reached"], one["restarts"]) for one in trials],
                         [(0, "COMPLETED", 9, 0), (1, "STOPPED", 3, 0), (2, "STOPPED", 3, 0), (3, "STOPPED", 3, 0)], done.stdout)
        best = self.trial(0)
        self.assertEqual([one["cause"] for one in best["attempts_made"]], ["exit code 0"] * 2, "it was not promoted from a checkpoint")
        log = self.cli("logs", "1", "0") + (self.cli("logs", "1", "0", "--rank", "1") if recipe != "accelerate" else "")
        begun = sorted(line for line in log.splitlines() if "begins" in line)
        seed = begun[0].rsplit(" ", 1)[1]
        self.assertEqual(begun, ["rank {} of 2 begins after epoch 3, seed {}".format(rank, seed) for rank in (0, 1)])
        # Each step was reported once, and it is the loss of a training in one process: the batches are of both ranks together, the
        # metric is of both, and what the promoted attempt restored is complete.
        rows = [line.split(",") for line in self.cli("export", "1", "--what", "metrics").splitlines()]
        rows = [row for row in rows if row[0] == "0"]
        self.assertEqual([(row[1], row[2], row[3]) for row in rows], [("1" if step < 4 else "2", str(step), "val_loss") for step in range(1, 10)])
        for row, loss in zip(rows, self.losses_of_one_process(best["hparams"], int(seed))):
            self.assertAlmostEqual(float(row[4]), loss, delta=0.01)
        # Two of them had their ports at the same time.
        first, second = (self.trial(number)["attempts_made"][0] for number in (0, 1))
        self.assertLess(max(first["granted_at"], second["granted_at"]), min(first["ended_at"], second["ended_at"]))

    def check_a_killed_rank(self, recipe):
        shutil.copytree(str(RECIPES), str(self.folder / "recipe"))
        file = self.folder / "recipe" / (recipe + ".yaml")
        text = file.read_text()
        begin, end = text.index("searcher:"), text.index("reproducibility:")
        file.write_text(text[:begin] + "searcher: {name: single, metric: val_loss, max_length: {epochs: 100000}}\n" + text[end:])
        with open(str(self.folder / "out"), "w") as out:
            search = subprocess.Popen(self.command(file), env=self.environment, stdout=out, stderr=out)
        self.addCleanup(search.wait)
        self.addCleanup(search.kill)
        self.wait_for(lambda: (self.trial(0).get("heard_step") or 0) > 1, "reports of the first attempt")
        first = self.ours(HPSEARCH_ATTEMPT="1")
        rank_1 = self.ours(HPSEARCH_ATTEMPT="1", RANK="1")
        self.assertEqual(len(rank_1), 1, first)
        os.kill(rank_1[0], signal.SIGKILL)
        self.wait_for(lambda: self.trial(0).get("attempts") == 2, "the second attempt")
        self.assertEqual([pid for pid in first if is_alive(pid)], [], "processes of the first attempt are left")
        ended = self.trial(0)["attempts_made"][0]
        self.assertTrue(ended["failed"], ended)
        self.wait_for(lambda: len(self.ours(HPSEARCH_ATTEMPT="2", RANK="1")) == 1, "the second attempt's rank 1")
        before = self.trial(0).get("heard_step") or 0
        self.wait_for(lambda: (self.trial(0).get("heard_step") or 0) > before + 1, "reports of the second attempt")
        search.send_signal(signal.SIGINT)  # Pauses it.
        search.wait(PATIENCE)
        self.assertEqual(self.ours(), [], "processes are left")
        paused = self.trial(0)
        self.assertEqual(paused["attempts"], 2)
        self.assertEqual(paused["restarts"], 1)
        self.assertGreater(paused["checkpoint_step"], before, "no checkpoint was saved before the pause")

    def test_fsdp(self):
        self.check_search("fsdp")

    def test_fsdp_with_a_killed_rank(self):
        self.check_a_killed_rank("fsdp")

    @unittest.skipUnless(importlib.util.find_spec("accelerate"), "there is no Accelerate (scripts/setup torch)")
    def test_accelerate(self):
        self.check_search("accelerate")

    @unittest.skipUnless(importlib.util.find_spec("accelerate"), "there is no Accelerate (scripts/setup torch)")
    def test_accelerate_with_a_killed_rank(self):
        self.check_a_killed_rank("accelerate")

    @unittest.skipUnless(importlib.util.find_spec("deepspeed"), "there is no DeepSpeed (scripts/setup torch)")
    def test_deepspeed(self):
        self.check_search("deepspeed")


if __name__ == "__main__":
    unittest.main()
