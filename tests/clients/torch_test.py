"""Tensors of the genuine PyTorch in spaces, reports and checkpoints. Skipped, and said so, where there is none."""

import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

try:
    import torch
except ImportError:
    torch = None

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients" / "python"))

import hpsearch as hp
from hpsearch._function_trial import _read_state, _write_state


@unittest.skipIf(torch is None, "no PyTorch here")
class Tensors(unittest.TestCase):
    def test_they_are_numbers_of_a_space(self):
        self.assertEqual(hp.uniform(torch.tensor(0.5), torch.tensor(2)), {"type": "double", "minval": 0.5, "maxval": 2})
        self.assertEqual(hp.choice(torch.tensor([1, 2]))["vals"], [1, 2])
        self.assertEqual(hp.const(torch.tensor(3)), {"type": "const", "val": 3})
        with self.assertRaisesRegex(TypeError, "const is a device; it must be a number"):
            hp.const(torch.device("cpu"))

    def test_they_are_metrics_and_states(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch("builtins.print"):
            trial = hp.FunctionTrial({"lr": 0.1}, length=2)
            trial.report(1, loss=torch.tensor(0.25, requires_grad=True))
            with self.assertRaisesRegex(TypeError, "metric 'loss' is a Tensor that is no single number"):
                trial.report(2, loss=torch.ones(2))
            model = torch.nn.Linear(2, 1)
            _write_state(pathlib.Path(folder), model.state_dict())
            self.assertEqual(os.listdir(folder), ["state.pt"])
            other = torch.nn.Linear(2, 1)
            other.load_state_dict(_read_state(pathlib.Path(folder)))
        self.assertTrue(torch.equal(model.weight, other.weight))


if __name__ == "__main__":
    unittest.main()
