"""Tensors of the genuine PyTorch in spaces, reports and checkpoints. Skipped, and said so, where there is none."""

import dataclasses
import os
import pathlib
import random
import shutil
import sys
import tempfile
import unittest
import unittest.mock
import warnings

try:
    import torch
except ImportError:
    torch = None

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "clients" / "python"))

import hpsearch as hp
from fake_worker import TrialTest
from hpsearch._functions.function_trial import _read_state, _write_state


@dataclasses.dataclass
class Progress:
    epoch: int
    best: object = None


@unittest.skipIf(torch is None, "no PyTorch here")
class Tensors(TrialTest):
    def test_they_are_numbers_of_a_space(self):
        self.assertEqual(hp.uniform(torch.tensor(0.5), torch.tensor(2)), {"type": "double", "minval": 0.5, "maxval": 2})
        self.assertEqual(hp.choice(torch.tensor([1, 2]))["vals"], [1, 2])
        self.assertEqual(hp.const(torch.tensor(3)), {"type": "const", "val": 3})
        with self.assertRaisesRegex(TypeError, "const is a device; it must be a number"):
            hp.const(torch.device("cpu"))

    def test_they_are_metrics_and_states(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch("builtins.print"):
            trial = hp.FunctionTrial({"lr": 0.1}, length=2)
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # Newer ones warn when a tensor with a gradient becomes a number.
                trial.report(1, loss=torch.tensor(0.25, requires_grad=True))
            with self.assertRaisesRegex(TypeError, "metric 'loss' is a Tensor that is no single number"):
                trial.report(2, loss=torch.ones(2))
            model = torch.nn.Linear(2, 1)
            _write_state(pathlib.Path(folder), model.state_dict())
            self.assertEqual(os.listdir(folder), ["state.pt"])
            other = torch.nn.Linear(2, 1)
            other.load_state_dict(_read_state(pathlib.Path(folder)))
        self.assertTrue(torch.equal(model.weight, other.weight))

    def test_whatever_a_program_saves_is_read_again(self):  # Since PyTorch 2.6 load() refuses most of it.
        try:
            import numpy
        except ImportError:
            numpy = None
        model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
        optimizer = torch.optim.Adam(model.parameters())
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        states = {
            "numbers": ({"epoch": 3, "kind": "a"}, "state.pickle"), "random": (random.getstate(), "state.pickle"),
            "path": (pathlib.Path("a"), "state.pickle"), "dataclass": (Progress(3), "state.pickle"),
            "generator": ({"torch": torch.get_rng_state(), "python": random.getstate()}, "state.pt"),
            "optimizer": ({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}, "state.pt"),
            "model": (model, "state.pt"), "whole optimizer": (optimizer, "state.pt"),
            "dataclass with a tensor": (Progress(3, torch.ones(2)), "state.pt")}
        if numpy is not None:
            states["scalar"] = {"loss": numpy.float64(0.5), "rng": numpy.random.get_state()}, "state.pickle"
            states["scalar beside a tensor"] = {"loss": numpy.float64(0.5), "w": torch.ones(2)}, "state.pt"
            states["numpy generator"] = numpy.random.default_rng(1), "state.pickle"
        for name, (state, file) in states.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                _write_state(pathlib.Path(folder), state)
                self.assertEqual(os.listdir(folder), [file])
                read = _read_state(pathlib.Path(folder))
                self.assertIs(type(read), type(state))
                if file == "state.pickle":
                    self.assertEqual(repr(read).split(" at 0x")[0], repr(state).split(" at 0x")[0])
                elif name == "model":
                    self.assertTrue(torch.equal(read[2].weight, model[2].weight))


@unittest.skipIf(torch is None, "no PyTorch here")
class Promotions(TrialTest):
    def test_a_promoted_trial_goes_on_from_all_that_it_saved(self):
        def train(trial, model, optimizer):
            def take(state):
                model.load_state_dict(state["model"])
                optimizer.load_state_dict(state["optimizer"])
                torch.set_rng_state(state["rng"])
            for epoch in trial.epochs(trial.load(take)):
                optimizer.zero_grad()
                loss = model(torch.rand(4, 2)).pow(2).mean()
                loss.backward()
                optimizer.step()
                trial.report(epoch, loss=loss, save=lambda: {
                    "model": model.state_dict(), "optimizer": optimizer.state_dict(), "rng": torch.get_rng_state(),
                    "best": Progress(epoch, loss.detach()), "python": random.getstate()})

        def new():
            torch.manual_seed(1)
            model = torch.nn.Linear(2, 1)
            return model, torch.optim.Adam(model.parameters())
        self.in_trial(lambda message: {"directive": "stop" if message.get("step") == 4 else "continue", "length": 4}, LENGTH="4")
        whole, optimizer = new()
        train(hp.FunctionTrial(), whole, optimizer)
        self.setUp()
        self.in_trial(lambda message: {"directive": "pause" if message["type"] == "report" and message["step"] == 2 else
                                       "continue", "length": 2}, LENGTH="2")
        train(hp.FunctionTrial(), *new())
        kept = self.folder / "kept"
        shutil.copytree(str(hp.checkpoint_dir()), str(kept))
        self.setUp()
        self.in_trial(lambda message: {"directive": "stop" if message.get("step") == 4 else "continue", "length": 4},
                      LENGTH="4", LATEST_CHECKPOINT=kept, ATTEMPT="2")
        model, optimizer = new()
        torch.manual_seed(99)
        train(hp.FunctionTrial(), model, optimizer)
        self.assertTrue(torch.equal(model.weight, whole.weight))


if __name__ == "__main__":
    unittest.main()
