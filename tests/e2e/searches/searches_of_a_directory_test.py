"""Several searches in one directory: told apart, found again, compared, and read without a daemon."""

import contextlib
import csv
import http.server
import io
import json
import os
import threading
import unittest
import unittest.mock

import harness

PROGRAM = """import sys
lr = float(sys.argv[1])
print("training with", lr)
for epoch in range(1, 4):
    print(f"epoch {epoch} loss: {BASE + lr / epoch:.4f}")
"""

EXPERIMENT = """entrypoint: python3 train.py {lr}
hyperparameters:
  lr: {type: categorical, vals: [0.001, 0.01, 0.1, 1.0]}
  momentum: 0.9
searcher: {name: grid, metric: loss, max_length: {epochs: 3}}
metrics: {loss: 'loss: {number}'}
"""


class Refusals(http.server.BaseHTTPRequestHandler):
    """A daemon that answers, but shows its experiments only to clients with a token."""

    def do_GET(self):
        body = b"{}"
        self.send_response(200 if self.path == "/api/v1/status" else 401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def daemon_without_a_list():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusals) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


class SearchesOfADirectory(harness.Case):
    def write(self, directory, base, experiment=EXPERIMENT):
        (self.folder / directory).mkdir(exist_ok=True)
        (self.folder / directory / "train.py").write_text(PROGRAM.replace("BASE", str(base)))
        (self.folder / directory / "experiment.yaml").write_text(experiment)
        return f"{directory}/experiment.yaml"

    def run_both(self):
        first = self.run_cli("run", self.write("a", 1), "--slots", 2).stdout
        second = self.run_cli("run", self.write("b", 2, EXPERIMENT.replace("0.9", "0.8")), "--slots", 2).stdout
        return first, second

    def test_the_same_stem_in_another_directory_is_another_search(self):
        first, second = self.run_both()
        self.assertRegex(first, r"best.*1\.0003")
        self.assertRegex(second, r"best.*2\.0003")
        listed = self.run_cli("list").stdout
        self.assertRegex(listed, r"(?m)^experiment +COMPLETED +100\.0 % +1\.0003 +3 epochs")
        self.assertRegex(listed, r"(?m)^b-experiment +COMPLETED +100\.0 % +2\.0003")
        searches = self.run_cli("list", "-o", "json", expect=None)
        self.assertEqual([search["search"] for search in json.loads(searches.stdout)["searches"]],
                         ["b-experiment", "experiment"])
        # Each goes on as itself, and is then the one that is meant.
        again = self.run_cli("run", "a/experiment.yaml", "--slots", 2)
        self.assertIn("already ended", again.stderr)
        self.assertRegex(again.stdout, r"best.*1\.0003")
        self.assertIn("1.0003", self.run_cli("best").stdout)

    @unittest.mock.patch.dict(os.environ, {"HOME": "/nonexistent"})  # Whoever runs this may have searches of Python.
    def test_where_no_search_is_verbs_that_read_say_so(self):
        for verb in ("list", "show", "trials", "best", "logs", "explain", "files"):
            told = self.run_cli(verb, *([0] if verb in ("logs", "explain") else []), expect=None)
            self.assertNotEqual(told.returncode, 0, verb)
            self.assertIn("there is no search in this directory: hpsearch run FILE starts one", told.stderr, verb)

    def test_list_says_that_the_usual_daemon_cannot_be_read_and_shows_the_searches(self):
        self.run_cli("run", self.write("a", 1), "--slots", 2)
        contexts = self.folder / "settings" / "hpsearch" / "contexts.json"

        def listed_with(address):
            contexts.parent.mkdir(parents=True, exist_ok=True)
            contexts.write_text(json.dumps({"contexts": [{"name": "lab", "server": address}], "current": "lab"})
                                if address else "no JSON")
            with unittest.mock.patch.dict(os.environ, {"XDG_CONFIG_HOME": str(self.folder / "settings")}):
                listed = self.run_cli("list")
                answer = self.run_cli("list", "--output", "json")
            self.assertRegex(listed.stdout, r"(?m)^experiment +COMPLETED", "the searches of the directory")
            self.assertEqual(answer["experiments"], [])
            self.assertEqual([search["problem"] for search in answer["searches"]], [None])
            self.assertEqual(listed.stderr, f"hpsearch: {answer['problem']}\n")
            return listed.stderr

        self.assertEqual(listed_with("127.0.0.1:1"),
                         "hpsearch: the experiments at 127.0.0.1:1 are not listed: no answer from 127.0.0.1:1: Connection "
                         "refused; start hpsearchd there, or name another daemon with --server or --state-dir\n")
        with daemon_without_a_list() as address:
            self.assertEqual(listed_with(address),
                             f"hpsearch: the experiments at {address} are not listed: a token is needed here; give the "
                             "token with --token-file FILE, HPSEARCH_TOKEN_FILE or hpsearch context add\n")
        self.assertRegex(listed_with(None),
                         "^hpsearch: the experiments of the usual daemon are not listed: .*contexts.json: .*; remove the "
                         "file and add the daemons again with hpsearch context add\n$")
        listed = self.run_cli("list")
        self.assertEqual(listed.stderr, "", "no daemon at the default address is no problem")
        self.assertIsNone(self.run_cli("list", "--output", "json")["problem"])

    def test_every_verb_names_experiment_and_trial_alike_without_a_daemon(self):
        self.run_both()
        for words in (["experiment", 0], ["experiment/0"], ["a/experiment.yaml", 0]):
            self.assertIn("training with 0.001", self.run_cli("logs", *words).stdout)
            self.assertIn("trial 0 of experiment 1 is COMPLETED", self.run_cli("explain", *words).stdout)
            self.assertRegex(self.run_cli("show", *words).stdout, r"(?m)^trial +0 of experiment 1")
        self.assertIn("2.0003", self.run_cli("logs", 0).stdout, "the one that was run last")
        for verb in ("show", "trials", "best", "config", "curves", "export"):
            self.assertTrue(self.run_cli(verb, "experiment").stdout, verb)
        self.assertIn("no checkpoints", self.run_cli("checkpoints", "list", "experiment", 0).stdout)
        self.assertIn("no checkpoints", self.run_cli("checkpoints", "list", 1).stdout)
        unknown = self.run_cli("trials", "experimnet", expect=3)
        self.assertIn('did you mean "experiment"?', unknown.stderr)

    def test_an_edited_program_is_noticed(self):
        file = self.write("a", 1)
        self.run_cli("run", file, "--slots", 2)
        self.assertNotIn("changed since", self.run_cli("run", file, "--slots", 2).stderr)
        (self.folder / "a" / "notes.txt").write_text("written by hand")
        self.assertNotIn("changed since", self.run_cli("run", file, "--slots", 2).stderr)
        self.write("a", 0.5)
        self.assertRegex(self.run_cli("run", file, "--slots", 2).stderr, r"train\.py changed since \d\d:\d\d")
        fresh = self.run_cli("run", file, "--slots", 2, "--fresh")
        self.assertRegex(fresh.stdout, r"best.*0\.5003")
        self.assertNotIn("changed since", fresh.stderr)

    def test_trials_to_come_run_an_edited_program_if_the_command_says_so(self):
        experiment = EXPERIMENT.replace("name: grid", "name: random, max_trials: TRIALS, max_concurrent_trials: 1")
        write = lambda base, trials: self.write("a", base, experiment.replace("TRIALS", str(trials)))
        losses = lambda: {trial["trial"]: int(trial["best_metric"])
                          for trial in self.run_cli("trials", "experiment", "-o", "json")["trials"]}
        file = write(1, 2)
        self.run_cli("run", file, "--slots", 1)
        self.assertEqual(losses(), {0: 1, 1: 1})
        write(5, 4)
        refused = self.run_cli("run", file, "--slots", 1, expect=4).stderr
        self.assertRegex(refused, r"train\.py changed since \d\d:\d\d, and nothing was started")
        self.assertIn("--with-new-program", refused)
        self.assertIn("--fresh", refused)
        self.assertEqual(losses(), {0: 1, 1: 1})
        told = self.run_cli("run", file, "--slots", 1, "--with-new-program")
        self.assertIn("run the new program", told.stdout + told.stderr)
        self.assertEqual(losses(), {0: 1, 1: 1, 2: 5, 3: 5})
        self.assertIn("keeps the program that the experiment was submitted with",
                      self.run_cli("explain", "experiment", 1).stdout)
        self.assertRegex(self.run_cli("explain", "experiment", 2).stdout,
                         r"it runs the program of \d\d:\d\d: train\.py changed")
        self.assertNotIn("changed since", self.run_cli("run", file, "--slots", 1).stderr)
        self.run_cli("run", file, "--fresh", "--with-new-program", expect=2)

    def test_trials_are_sorted_chosen_and_fit_a_terminal(self):
        self.run_cli("run", self.write("a", 1), "--slots", 2)
        rows = lambda *more: [line.split() for line in self.run_cli("trials", "experiment", *more).stdout.splitlines()]
        usual = self.run_cli("trials", "experiment").stdout
        self.assertLessEqual(max(map(len, usual.splitlines())), 80)
        self.assertIn("lr", usual.splitlines()[0])
        self.assertNotIn("momentum", usual, "a constant")
        self.assertEqual([row[0] for row in rows("--sort", "metric", "--columns", "lr")[1:]],
                         ["0.001", "0.01", "0.1", "1.0"])
        self.assertEqual([row[0] for row in rows("--sort", "-lr", "--top", 2, "--columns", "lr,trial")[1:]],
                         ["1.0", "0.1"])
        self.assertEqual({row[0] for row in rows("--where", "lr<0.1 and state=completed", "--columns", "lr")[1:]},
                         {"0.001", "0.01"})
        for arguments, said in ((["--where", "lrr<1"], 'did you mean "lr"?'), (["--sort", "losss"], "--sort: there is no"),
                                (["--where", "lr<"], "column 4: the expression ends"),
                                (["--columns", "lr,depth"], '--columns: there is no "depth"')):
            self.assertIn(said, self.run_cli("trials", "experiment", *arguments, expect=2).stderr)

    def test_searches_are_compared_drawn_and_exported(self):
        self.run_both()
        text = self.run_cli("compare", "a/experiment.yaml", "b-experiment").stdout
        self.assertRegex(text, r"best +loss 1\.0003 +loss 2\.0003")
        self.assertRegex(text, r"(?m)^of trial +\d at 3 epochs +\d at 3 epochs")
        self.assertRegex(text, r"(?m)^saved +0\.0 % +0\.0 %")
        self.assertRegex(text, r"(?m)^4 trials +1\.0003 +2\.0003")
        self.assertRegex(text, r"hyperparameters\.momentum\S* +0\.9 +0\.8")
        self.assertNotIn("max_length", text, "the same in both")
        plot = self.run_cli("curves", "experiment", "--top", 2).stdout
        self.assertIn("loss by epochs", plot)
        self.assertIn("* trial ", plot)
        drawn = list(csv.reader(io.StringIO(self.run_cli("curves", "experiment", 0, "--format", "csv").stdout)))
        self.assertEqual(drawn[0], ["trial", "step", "loss"])
        self.assertEqual([row[1] for row in drawn[1:]], ["1", "2", "3"])
        trials = list(csv.DictReader(io.StringIO(self.run_cli("export", "experiment").stdout)))
        self.assertEqual({float(row["hparams.lr"]) for row in trials}, {0.001, 0.01, 0.1, 1.0})
        metrics = list(csv.DictReader(io.StringIO(self.run_cli("export", "experiment", "--what", "metrics").stdout)))
        self.assertEqual(len(metrics), 12)
        lines = self.run_cli("export", "experiment", "--format", "jsonl").stdout.splitlines()
        self.assertEqual([json.loads(line)["trial"] for line in lines], [0, 1, 2, 3])

    def test_what_goes_is_told_before_it_goes(self):
        self.run_both()
        told = self.run_cli("delete", "b-experiment")
        self.assertRegex(told.stdout, r"would delete \S*\.hpsearch/b-experiment:\n(.|\n)*daemon ")
        self.assertIn("--yes", told.stderr)
        self.assertTrue((self.folder / ".hpsearch" / "b-experiment").exists())
        self.run_cli("delete", "b-experiment", "--yes")
        self.assertFalse((self.folder / ".hpsearch" / "b-experiment").exists())
        self.run_cli("archive", "experiment", "--yes")
        self.run_cli("trials", "experiment", expect=None)
        self.assertIn("1.0003", self.run_cli("best", "--state-dir", ".hpsearch/archived/experiment").stdout)


if __name__ == "__main__":
    unittest.main()
