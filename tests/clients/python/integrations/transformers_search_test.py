"""trainer.hyperparameter_search(backend="hpsearch") with the genuine transformers of the interpreter that runs this, and a BERT of one
layer that the test makes. Skipped, and said so, without."""

import contextlib
import io
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "clients" / "python"))
LIBRARY = pathlib.Path(os.environ["E2E_BIN_DIR"]).parent / "lib" / "libhpsearch.so.0"
os.environ["HPSEARCH_LIBRARY"] = str(LIBRARY)

try:
    import torch
    import transformers
except ImportError as missing:
    print(f"skipped: {missing} (scripts/setup torch)")
    print("OK (skipped=1)")
    sys.exit(0)
if not LIBRARY.exists():
    print(f"skipped: there is no {LIBRARY}; the programs are not built")
    print("OK (skipped=1)")
    sys.exit(0)

import hpsearch as hp
import hpsearch.transformers

SEED = 3
transformers.logging.set_verbosity_error()
TOKENS = torch.randint(5, 30, (16, 6), generator=torch.Generator().manual_seed(SEED))
DATA = [{"input_ids": row, "labels": int(row[0] > 17)} for row in TOKENS]
SPACE = {"learning_rate": hp.loguniform(1e-4, 1e-1)}


class HyperparameterSearch(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hpsearch-transformers-"))
        self.addCleanup(shutil.rmtree, str(self.folder), ignore_errors=True)
        self.made = []

    def trainer(self, **how):
        def model_init(trial=None):
            self.made.append(None if trial is None else dict(trial))
            torch.manual_seed(SEED)
            return transformers.BertForSequenceClassification(transformers.BertConfig(
                vocab_size=30, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8,
                max_position_embeddings=8))
        arguments = transformers.TrainingArguments(
            output_dir=str(self.folder), use_cpu=True, report_to=[], save_strategy="no", disable_tqdm=True, logging_strategy="no",
            **{"per_device_train_batch_size": 8, "seed": SEED, "num_train_epochs": 4, "eval_strategy": "epoch", **how})
        trainer = transformers.Trainer(model_init=model_init, args=arguments, train_dataset=DATA, eval_dataset=DATA)
        trainer.remove_callback(transformers.PrinterCallback)
        return trainer

    def test_trials_that_compare_badly_end_early(self):
        epochs = []

        class Count(transformers.TrainerCallback):
            def on_train_end(self, args, state, control, **more):
                epochs.append(round(state.epoch))
        trainer = self.trainer(num_train_epochs=9)
        trainer.add_callback(Count())
        best = trainer.hyperparameter_search(hp_space=SPACE, backend="hpsearch", n_trials=6, direction="minimize", sampler="random", seed=SEED)
        self.assertIsInstance(best, transformers.trainer_utils.BestRun)
        trials = best.run_summary
        self.assertEqual([one["number"] for one in trials], list(range(6)))
        self.assertEqual(best.objective, min(one["objective"] for one in trials))
        self.assertEqual(best.hyperparameters, trials[int(best.run_id)]["hyperparameters"])
        self.assertEqual(len({one["hyperparameters"]["learning_rate"] for one in trials}), 6)
        self.assertTrue(all(1e-4 <= one["hyperparameters"]["learning_rate"] <= 1e-1 for one in trials))
        self.assertEqual(len(epochs), 6)
        self.assertLess(sum(epochs), 6 * 9)
        # Each had a model of its own, and the Trainer's arguments are what they were.
        self.assertEqual(self.made[-6:], [one["hyperparameters"] for one in trials])
        self.assertEqual((trainer.args.output_dir, trainer.args.learning_rate), (str(self.folder), 5e-5))
        self.assertIsNone(trainer.hp_search_backend)
        # The best one, trained by hand with what was found, gives the same.
        alone = self.trainer(num_train_epochs=9, learning_rate=best.hyperparameters["learning_rate"])
        alone.train()
        self.assertIn(round(best.objective, 4), [round(entry["eval_loss"], 4) for entry in alone.state.log_history if "eval_loss" in entry])

    def test_a_function_in_the_words_of_optuna_is_a_space_and_sets_the_epochs(self):
        def hp_space(trial):
            return {"learning_rate": trial.suggest_float("lr", 1e-4, 1e-1, log=True), "num_train_epochs": trial.suggest_int("epochs", 1, 2)}
        trainer = self.trainer()
        best = trainer.hyperparameter_search(
            hp_space=hp_space, backend="hpsearch", n_trials=3, direction="maximize", seed=SEED, hp_name=lambda trial: f"try-{trial.number}",
            compute_objective=lambda metrics: -metrics["eval_loss"])
        self.assertEqual(best.objective, max(one["objective"] for one in best.run_summary))
        self.assertEqual(set(best.hyperparameters), {"learning_rate", "num_train_epochs"})
        self.assertEqual({name for made in self.made[-3:] for name in made}, {"lr", "epochs"})
        self.assertEqual(trainer.args.num_train_epochs, 4)

    def test_a_trial_that_fails_leaves_the_search_going(self):
        trainer = self.trainer(eval_strategy="no", num_train_epochs=1)

        def objective(metrics):
            if trainer.args.learning_rate > 1e-2:
                raise MemoryError("CUDA out of memory")
            return metrics["eval_loss"]
        with contextlib.redirect_stderr(io.StringIO()) as said:
            best = trainer.hyperparameter_search(hp_space=SPACE, backend="hpsearch", n_trials=6, direction="minimize", sampler="random",
                                                 seed=SEED, compute_objective=objective)
        failed = [one for one in best.run_summary if one["objective"] is None]
        self.assertTrue(0 < len(failed) < 6, best.run_summary)
        self.assertTrue(all(one["hyperparameters"]["learning_rate"] > 1e-2 for one in failed))
        self.assertIn("failed: MemoryError: CUDA out of memory", said.getvalue())

    def test_wrong_calls_are_refused_in_a_sentence(self):
        trainer = self.trainer()
        for how, words in (({"direction": ["minimize", "maximize"]}, "it must be \"minimize\" or \"maximize\""),
                           ({"hp_space": {"learning_rate": [1, 2]}}, r"learning_rate is \[1, 2\]; write hpsearch.choice"),
                           ({"hp_space": lambda trial: {"speed": trial.suggest_float("speed", 0, 1)}}, "hp_space sets 'speed', which is no field")):
            with self.assertRaisesRegex((ValueError, TypeError), words), contextlib.redirect_stderr(io.StringIO()):
                trainer.hyperparameter_search(**{"backend": "hpsearch", "n_trials": 2, "direction": "minimize", "hp_space": SPACE, **how})
        with self.assertRaisesRegex(ValueError, "nothing is not a valid HPSearchBackend.*hpsearch"):
            trainer.hyperparameter_search(backend="nothing")


if __name__ == "__main__":
    unittest.main()
