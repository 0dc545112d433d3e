"""A program that only prints is ended when its searcher decides, also one whose output is buffered."""

import textwrap
import unittest

import harness

SEARCHER = {"name": "async_halving", "metric": "loss", "max_length": {"epochs": 27}, "max_trials": 6, "divisor": 3,
            "num_rungs": 3, "stop_once": True}


class Stopping(harness.Case):
    def search(self, script, entrypoint, **more):
        """What `hpsearch run` makes of an own script; the script writes a line into `epochs` for each that it trains."""
        (self.folder / "script").write_text(textwrap.dedent(script))
        tree = {"name": "own", "entrypoint": entrypoint, "source": "in_place", "searcher": SEARCHER,
                "hyperparameters": {"q": {"type": "int", "minval": 1, "maxval": 1000}},
                "metrics": {"loss": "epoch {step} loss {number}"}} | more
        said = self.run_cli("run", self.write_experiment(tree, "own.yaml"), "--slots", 2, "--seed", 1).stdout
        trials = self.run_cli("trials", "--state-dir", self.folder / ".hpsearch" / "own", "--output", "json")["trials"]
        return said, trials

    def check_stops(self, script, entrypoint, **more):
        said, trials = self.search(script, entrypoint, **more)
        stopped = [trial for trial in trials if trial["state"] == "STOPPED"]
        self.assertTrue(stopped, said)
        epochs = len((self.folder / "epochs").read_text().splitlines())
        self.assertEqual(sum(trial["trained"] for trial in trials), sum(trial["reached"] for trial in trials))
        for trial in stopped:  # At its length, or where it was when the decision had come and gone through.
            self.assertLess(trial["reached"], 27, said)
        self.assertLess(epochs, 27 * len(trials), "what was stopped trained on to its end")
        return said, epochs

    def test_a_python_script_that_prints(self):
        said, epochs = self.check_stops("""
            import sys, time
            for epoch in range(1, 28):
                time.sleep(0.1)
                open("epochs", "a").write("x\\n")
                print("epoch", epoch, "loss", int(sys.argv[1]) + 1 / epoch)
            """, ["/usr/bin/python3", "script", "{q}"])
        self.assertIn("early stopping saved", said)
        self.assertNotIn("note: ", said.replace("note: the program", ""))

    def test_a_program_that_buffers_its_output_writes_line_by_line(self):
        # cut(1) stands for programs that use the C library's output.
        self.check_stops("""
            for epoch in $(seq 27); do
              sleep 0.1; echo x >>epochs
              echo "epoch $epoch loss $1.$epoch"
            done | cut -c1-80
            """, ["/bin/sh", "script", "{q}"])

    def test_a_terminal_helps_where_nothing_else_does(self):
        # perl has buffers of its own.
        self.check_stops("""
            for my $epoch (1 .. 27) {
              select(undef, undef, undef, 0.1);
              open(my $file, ">>", "epochs"); print $file "x\\n"; close($file);
              print "epoch $epoch loss $ARGV[0].$epoch\\n";
            }
            """, ["/usr/bin/perl", "script", "{q}"], environment={"terminal": True})

    def test_output_that_comes_at_the_end_is_noted(self):
        said, _ = self.search("""
            for my $epoch (1 .. 27) {
              select(undef, undef, undef, 0.15);
              print "epoch $epoch loss $ARGV[0].$epoch\\n";
            }
            """, ["/usr/bin/perl", "script", "{q}"],
            searcher={"name": "random", "metric": "loss", "max_length": {"epochs": 27}, "max_trials": 1})
        self.assertRegex(said, r"note: trial \d+: it ran for \d+ s without a report, and then all of 27 steps came at once")
        self.assertIn("environment.terminal: true", said)


if __name__ == "__main__":
    unittest.main()
