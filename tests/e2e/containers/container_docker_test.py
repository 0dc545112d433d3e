"""Trainings in real containers, by a real Docker with a daemon of its own (real_containers.py). Skipped where there is none, or it
cannot run a container: Docker is no part of scripts/setup.
"""

import pathlib
import shutil
import subprocess
import unittest

import harness
from real_containers import RealContainers, Runtime


class Docker(Runtime):
    program = "docker"

    def __init__(self, folder):
        super().__init__(folder)
        self.daemon = None
        if not shutil.which("docker") or not shutil.which("dockerd"):
            self.why_not = "Docker is not installed (Debian calls it docker.io)"
            return
        tools = folder / "tools"  # All that the worker finds: a Podman would come first.
        tools.mkdir()
        for name in ("sh", "timeout", "docker"):
            (tools / name).symlink_to(pathlib.Path(shutil.which(name)))
        self.variables = {"DOCKER_HOST": f"unix://{folder}/docker.sock", "PATH": str(tools)}
        with open(folder / "log", "ab") as log:
            self.daemon = subprocess.Popen(
                ["dockerd", "--data-root", folder / "data", "--exec-root", folder / "exec", "--host",
                 self.variables["DOCKER_HOST"], "--pidfile", folder / "pid", "--iptables=false", "--bridge=none",
                 "--storage-driver=vfs"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def begin(self):
        """Waits for the daemon and tries it out."""
        try:
            harness.wait_for(lambda: self.daemon.poll() is not None or self.run("version").returncode == 0,
                             "dockerd to answer", patience=60)
        except AssertionError as error:
            self.why_not = str(error)
            return
        said = (self.folder / "log").read_text(errors="replace")[-300:]
        self.why_not = f"dockerd has ended: {said}" if self.daemon.poll() is not None else self.try_out(self.make_archive())

    def end(self):
        if self.daemon is not None and self.daemon.poll() is None:
            self.daemon.terminate()
            try:
                self.daemon.wait(60)
            except subprocess.TimeoutExpired:
                self.daemon.kill()
        mounted = [line.split()[1] for line in pathlib.Path("/proc/self/mounts").read_text().splitlines()]
        for place in reversed(mounted):
            if place.startswith(f"{self.folder}/"):
                subprocess.run(["umount", "--lazy", place], check=False)


class WithDocker(RealContainers, harness.Case):
    def make_runtime(self, folder):
        runtime = Docker(folder)
        self.addCleanup(runtime.end)
        if runtime.why_not is None:
            runtime.begin()
        return runtime


if __name__ == "__main__":
    unittest.main(verbosity=2)
