"""Completion in real shells on a terminal (a pty): commands, options, their values, files, and the ids and names of a daemon."""

import os
import pathlib
import shutil
import socket
import subprocess
import time
import unittest

import harness
from terminal import Terminal

# Starts each shell without the user's files, and loads the script as its users are advised to.
SHELLS = {
    "bash": (["--norc", "--noprofile", "-i"], "source <(hpsearch completion bash)"),
    "zsh": (["-f", "-i"], "autoload -Uz compinit && compinit -u -D && source <(hpsearch completion zsh)"),
    "fish": (["--private", "-i"], "hpsearch completion fish | source"),
}


class CompletionTest(harness.Case):
    def setUp(self):
        super().setUp()
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        searcher = {"name": "random", "max_trials": 3, "max_length": {"batches": 1}}
        experiment = harness.experiment(self.ledger_path, searcher) | {"name": "tidal-wave"}
        self.cluster.submit(experiment)
        self.run_cli("workspace", "create", "oceanography", "--server", self.cluster.server)
        (self.folder / "plankton.yaml").write_text("{}")
        (self.folder / "reef").mkdir()
        # The command that a shell runs in the end is written down instead, an argument a line.
        self.record = self.folder / "record"
        self.record.touch()
        bin_directory = self.folder / "bin"
        bin_directory.mkdir()
        program = bin_directory / "hpsearch"
        program.write_text(f"""#!/bin/sh
case $1 in __complete | completion) exec {harness.BIN}/hpsearch "$@" ;; esac
{{ printf '%s\\n' "$@"; echo END; }} >> {self.record}
""")
        program.chmod(0o755)
        self.environment = {"PATH": f"{bin_directory}:{os.environ['PATH']}", "HPSEARCH_SERVER": self.cluster.server,
                            "HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder), "PS1": "$ "}

    def complete_in(self, shell):
        program = shutil.which(shell)
        if program is None:
            self.skipTest(f"{shell} is not installed; scripts/setup test installs it")
        arguments, load = SHELLS[shell]
        terminal = Terminal(self, *arguments, program=program, environment=self.environment)
        terminal.press(load.encode() + b"; touch loaded\r")
        harness.wait_for((self.folder / "loaded").exists, f"{shell} to load the script", terminal.text)

        def what_runs(typed):
            self.record.write_text("")
            terminal.press(typed.encode() + b"\t\r")
            def has_run():
                terminal.read()
                return self.record.read_text().endswith("END\n")
            harness.wait_for(has_run, f"{shell} to run {typed!r}", lambda: terminal.text()[-2000:])
            # zsh removes the slash behind a directory again.
            return [line.rstrip("/") for line in self.record.read_text().splitlines()[:-1]]

        def becomes(typed, *expected):
            # On a busy machine no answer may come in time; then the words stay as they were typed.
            harness.wait_for(lambda: what_runs(typed) == list(expected), f"{shell} to complete {typed!r} to {expected}",
                             lambda: self.record.read_text() + terminal.text()[-2000:])

        becomes("hpsearch simul", "simulate")
        becomes("hpsearch workspace quo", "workspace", "quota")
        becomes("hpsearch trials --whe", "trials", "--where")
        becomes("hpsearch usage --by wor", "usage", "--by", "workspace")
        becomes("hpsearch usage --by=wor", "usage", "--by=workspace")
        becomes("hpsearch validate plank", "validate", "plankton.yaml")
        becomes("hpsearch trials --state-dir ree", "trials", "--state-dir", "reef")
        becomes("hpsearch trials --state-dir=ree", "trials", "--state-dir=reef")
        becomes("hpsearch trials tid", "trials", "tidal-wave")
        becomes("hpsearch workspace quota ocea", "workspace", "quota", "oceanography")

    def test_in_bash(self):
        self.complete_in("bash")

    def test_in_zsh(self):
        self.complete_in("zsh")

    def test_in_fish(self):
        self.complete_in("fish")

    def completed(self, *words):
        """What hpsearch __complete answers to the scripts, without descriptions."""
        done = subprocess.run([harness.BIN / "hpsearch", "__complete", *words], capture_output=True, text=True, check=True,
                              env=harness.environment() | self.environment)
        self.assertEqual(done.stderr, "")
        return [line.partition("\t")[0] for line in done.stdout.splitlines()]

    def test_an_answer_is_used_again_for_two_seconds(self):
        harness.wait_for(lambda: "tidal-wave" in self.completed("trials", ""), "an answer in time")
        self.cluster.kill_daemon()
        kept, = (path for path in pathlib.Path(self.environment["XDG_RUNTIME_DIR"]).glob("hpsearch/completion-*") if path.suffix != ".new")
        self.assertEqual(kept.stat().st_mode & 0o777, 0o600)

        def completed_after(seconds):
            then = time.time() - seconds
            os.utime(kept, (then, then))
            return self.completed("trials", "")

        harness.wait_for(lambda: "tidal-wave" in completed_after(0), "an answer of before")
        self.assertEqual(completed_after(10), [])

    def test_a_daemon_that_does_not_answer_is_no_error(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()  # It accepts nothing, so no answer comes.
            self.environment["HPSEARCH_SERVER"] = "127.0.0.1:{}".format(silent.getsockname()[1])
            self.assertEqual(self.completed("show", ""), [])
            self.assertEqual(self.completed("workspace", "qu"), ["quota"])
            self.assertEqual(self.completed("quarantine", "--server", "127.0.0.1:1", "wor"), [])


if __name__ == "__main__":
    unittest.main()
