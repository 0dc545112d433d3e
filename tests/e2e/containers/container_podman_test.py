"""Trainings in real containers, by a real Podman (real_containers.py). Skipped where none can run a container."""

import shutil
import unittest

import harness
from real_containers import RealContainers, Runtime


class Podman(Runtime):
    program = "podman"

    def __init__(self, folder):
        super().__init__(folder)
        if not shutil.which("podman"):
            self.why_not = "Podman is not installed (scripts/setup test)"
            return
        self.variables = {"CONTAINERS_CONF": str(folder / "containers.conf"),
                          "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf")}
        (folder / "storage.conf").write_text(
            f'[storage]\ndriver = "vfs"\ngraphroot = "{folder}/graph"\nrunroot = "{folder}/run"\n')
        archive = self.make_archive()
        # More files and processes than it may have itself, Podman may not promise; older cgroups need another runtime.
        limits = 'default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n'
        for runtime in ("", '[engine]\nruntime = "runc"\n', '[engine]\nruntime = "crun"\n'):
            (folder / "containers.conf").write_text(f"[containers]\n{limits}{runtime}")
            self.why_not = self.try_out(archive)
            if self.why_not is None:
                return


class WithPodman(RealContainers, harness.Case):
    def make_runtime(self, folder):
        return Podman(folder)


if __name__ == "__main__":
    unittest.main(verbosity=2)
