"""A gang whose processes find each other by torch.distributed (gloo), lose a node and finish.

Needs a Python that can import PyTorch: HPSEARCH_TORCH_PYTHON, or the system's. Skipped without.
"""

import os
import subprocess
import sys
import unittest

import gang_test
import harness


def torch_python():
    """A Python that has PyTorch with gloo, or None."""
    for python in (os.environ.get("HPSEARCH_TORCH_PYTHON"), "/usr/bin/python3", sys.executable):
        if python and subprocess.run([python, "-c", "import torch.distributed as d; assert d.is_gloo_available()"],
                                     capture_output=True).returncode == 0:
            return python
    return None


class GangWithTorch(gang_test.GangCase):
    def test_four_processes_lose_a_node_and_finish_from_their_checkpoint(self):
        self.lose_a_node_and_finish("torch", torch_python())


if __name__ == "__main__":
    if torch_python() is None:
        sys.exit(harness.skipped("no Python here can import torch with gloo: gangs were not tested with PyTorch"))
    unittest.main(verbosity=2)
