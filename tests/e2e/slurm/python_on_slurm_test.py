"""hpsearch.tune(on="slurm") and Hydra's sweeper on a real Slurm: both bring the search there as `hpsearch run --on slurm` does."""

import os
import signal
import subprocess
import sys
import textwrap
import unittest

import harness
import run_on_slurm_test
from python_package import PACKAGE, PYTHON

SCRIPT = """
    import sys, time
    import hpsearch as hp

    def train(x, trial):
        for epoch in trial.epochs(trial.load()):
            time.sleep(0.05)
            trial.report(epoch, loss=(x - 2) ** 2 + 1 / epoch, save=lambda: {"epoch": epoch})

    def search(sbatch):
        return hp.tune(train, {"x": hp.uniform(-10, 10)}, metric="loss", max_length=3, searcher="random", max_trials=12, seed=1, name="cubes",
                       on="slurm", slots=2, sbatch=sbatch, queue={"time_limit": "10m", "max_workers": 2})
"""
APPLICATION = """
    import hydra

    @hydra.main(config_path=None, config_name=None, version_base="1.3")
    def main(config):
        return (config.x - 2) ** 2

    main()
"""
HYDRA = next((python for python in (os.environ.get("HPSEARCH_HYDRA_PYTHON"), str(harness.ROOT / "build/python-genuine/bin/python3"), PYTHON)
              if python and os.path.exists(python) and subprocess.run([python, "-c", "import hydra"], capture_output=True).returncode == 0), None)


class PythonOnSlurm(run_on_slurm_test.RunOnSlurmCase):
    def start_python(self, text, *words, python=PYTHON, log="run.log"):
        self.work.mkdir(exist_ok=True)
        (self.work / "script.py").write_text(textwrap.dedent(text))
        with open(self.folder / log, "wb") as output:
            process = subprocess.Popen([python, "-B", "script.py", *words], cwd=self.work, stdout=output, stderr=subprocess.STDOUT,
                                       stdin=subprocess.DEVNULL, env=harness.environment() | self.slurm.environment | {
                                           "PYTHONPATH": str(PACKAGE), "HPSEARCH_STATE_HOME": str(self.state),
                                           "HPSEARCH_BIN": str(harness.BIN), "TMPDIR": str(self.folder / "node")})
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def run_python(self, *arguments, expect=0, **more):
        process = self.start_python(*arguments, **more)
        self.assertEqual(process.wait(harness.PATIENCE), expect, self.said(more.get("log", "run.log")))
        return self.said(more.get("log", "run.log"))

    def test_tune_runs_its_trials_in_jobs(self):
        said = self.run_python(SCRIPT + """
    try:
        search(["-p", "nowhere"])
    except hp.BadRequest as error:
        print("refused:", error)
    best = search(["-p", "main", "-c", "2"]).best
    print("best", best.params, best.metric)
""")
        self.assertRegex(said, "refused: (.|\\n)*invalid partition")
        self.assertIn("best {'x': ", said)
        self.judge_that_nothing_is_left("cubes/search")

    @unittest.skipUnless(HYDRA, "no Python here has hydra")
    def test_a_sweep_of_hydra_runs_its_trials_in_jobs(self):
        words = ("-m", "+x=interval(-10,10)", "hydra/sweeper=hpsearch", "hydra.sweeper.n_trials=6", "hydra.sweeper.on=slurm",
                 "hydra.sweeper.study_name=squares", "hydra.sweep.dir=out")
        said = self.run_python(APPLICATION, *words, "hydra.sweeper.sbatch=[-p,nowhere]", python=HYDRA, expect=1)
        self.assertIn("invalid partition", said)
        self.assertNotIn("Traceback", said)
        words += ("hydra.sweeper.sbatch=[-p,main]", "+hydra.sweeper.queue.time_limit=10m")
        said = self.run_python(APPLICATION, *words, python=HYDRA)
        self.assertIn("Best value: ", said)
        self.assertIn("best_value", (self.work / "out" / "optimization_results.yaml").read_text())
        self.judge_that_nothing_is_left("hydra-slurm-squares/search")


if __name__ == "__main__":
    unittest.main()
