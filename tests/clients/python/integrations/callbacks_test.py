"""The callbacks with stand-ins for their libraries: what is called, and answered, as their documentation has it."""

import contextlib
import io
import os
import pathlib
import shutil
import types
import unittest

from callback_case import CallbackTest, fresh, hpsearch


class KerasStandInTest(CallbackTest):
    """keras.callbacks.Callback as documented: set_model, on_train_begin, on_train_batch_end, on_epoch_end."""

    def setUp(self):
        super().setUp()
        keras = types.ModuleType("keras")
        keras.callbacks = types.SimpleNamespace(Callback=type("Callback", (), {
            "set_model": lambda callback, model: setattr(callback, "model", model)}))
        keras.models = types.SimpleNamespace(load_model=lambda path: pathlib.Path(path).read_text())
        self.stand_in(keras=keras)

    def fit(self, callback, epochs=10, batches=4):
        class Model:
            stop_training = False

            def save(self, path):
                pathlib.Path(path).write_text("weights")

        model = Model()
        callback.set_model(model)
        callback.on_train_begin()
        for epoch in range(callback.initial_epoch, epochs):
            for batch in range(batches):
                callback.on_train_batch_end(batch)
            callback.on_epoch_end(epoch, {"loss": 1.0, "val_acc": 0.5 + epoch / 100})
            if model.stop_training:
                break

    def test_it_reports_saves_before_decisions_and_stops(self):
        worker = self.decide("continue", "stop")
        self.fit(fresh("KerasCallback")())
        self.assertEqual(self.handed_over(worker), [("report", 1), ("checkpoint", 2), ("report", 2), ("report", 3),
                                                    ("checkpoint", 4), ("report", 4)])
        self.assertEqual(worker.said("report")[0]["group"], "training")
        self.assertEqual(worker.said("report")[0]["metrics"], {"loss": 1.0})
        self.assertEqual(worker.said("report")[1]["metrics"], {"val_acc": 0.5})

    def test_it_starts_where_the_checkpoint_was(self):
        worker = self.decide("stop")
        self.fit(fresh("KerasCallback")())
        os.environ["HPSEARCH_LATEST_CHECKPOINT"] = str(self.folder / "checkpoint")
        callback = fresh("KerasCallback")()
        self.assertEqual((callback.initial_epoch, callback.load()), (2, "weights"))

    def test_batches_are_counted_on(self):
        worker = self.decide("stop")
        os.environ.update(HPSEARCH_UNIT="batches")
        self.fit(fresh("KerasCallback")())
        self.assertEqual(self.handed_over(worker)[-1], ("report", 4))

    def test_by_hand_it_trains_to_the_length_that_it_was_given(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            callback = fresh("KerasCallback")(epochs=3)
            self.fit(callback)
        self.assertEqual(callback.epochs, 3)
        self.assertIn("step 3: val_acc = 0.52", out.getvalue())
        self.assertNotIn("step 4", out.getvalue())

    def test_by_hand_it_refuses_to_train_without_end(self):
        with self.assertRaisesRegex(LookupError, r"write KerasCallback\(epochs=27\)"):
            fresh("KerasCallback")()


class LightningStandInTest(CallbackTest):
    """lightning.pytorch.Callback as documented; the trainer's callback_metrics, current_epoch, should_stop."""

    def setUp(self):
        super().setUp()
        pytorch = types.ModuleType("lightning.pytorch")
        pytorch.Callback = type("Callback", (), {})
        lightning = types.ModuleType("lightning")
        lightning.pytorch = pytorch
        self.stand_in(lightning=lightning, lightning__pytorch=pytorch)

    def trainer(self, **more):
        def save_checkpoint(path):
            pathlib.Path(path).write_text("weights")

        return types.SimpleNamespace(**{"should_stop": False, "is_global_zero": True, "world_size": 1,
                                        "save_checkpoint": save_checkpoint, "current_epoch": 0, "global_step": 0,
                                        "callback_metrics": {"train_loss": 1.0, "val_acc": 0.5}, **more})

    def fit(self, callback, trainer, epochs=10):
        trainer.sanity_checking = True
        callback.on_validation_end(trainer, None)
        trainer.sanity_checking = False
        for epoch in range(epochs):
            trainer.current_epoch = epoch
            trainer.global_step += 5
            callback.on_validation_end(trainer, None)
            callback.on_train_epoch_end(trainer, None)
            if trainer.should_stop:
                break

    def test_it_reports_saves_before_decisions_and_stops(self):
        worker = self.decide("continue", "stop")
        self.fit(fresh("LightningCallback")(), self.trainer())
        self.assertEqual(self.handed_over(worker), [("report", 1), ("checkpoint", 2), ("report", 2), ("report", 3),
                                                    ("checkpoint", 4), ("report", 4)])
        os.environ["HPSEARCH_LATEST_CHECKPOINT"] = str(self.folder / "checkpoint")
        self.assertEqual(pathlib.Path(fresh("LightningCallback")().ckpt_path).read_text(), "weights")

    def test_steps_are_optimizer_steps_where_batches_count(self):
        worker = self.decide("stop")
        os.environ.update(HPSEARCH_UNIT="batches")
        self.fit(fresh("LightningCallback")(), self.trainer())
        self.assertEqual(self.handed_over(worker), [("checkpoint", 5), ("report", 5)])

    def test_only_the_first_process_reports_and_all_follow(self):
        worker = self.decide()
        strategy = types.SimpleNamespace(broadcast=lambda value: "stop" if isinstance(value, str) else value)
        trainer = self.trainer(is_global_zero=False, world_size=2, strategy=strategy)
        self.fit(fresh("LightningCallback")(), trainer)
        self.assertEqual((worker.heard, trainer.should_stop), ([], True))

    def test_by_hand_it_stops_at_the_length_that_it_was_given(self):
        with self.assertRaisesRegex(LookupError, r"write LightningCallback\(epochs=27\)"):
            fresh("LightningCallback")()
        trainer = self.trainer()
        with contextlib.redirect_stdout(io.StringIO()):
            self.fit(fresh("LightningCallback")(epochs=3), trainer)
        self.assertEqual((trainer.current_epoch, trainer.should_stop), (2, True))

    def test_all_processes_save_when_the_first_one_does(self):
        self.decide()
        del os.environ["HPSEARCH_SOCKET"]  # As the worker's own processes but the first have none.
        self.forget_trial()
        strategy = types.SimpleNamespace(broadcast=lambda value: "stop" if isinstance(value, str) else True)
        self.fit(fresh("LightningCallback")(), self.trainer(is_global_zero=False, world_size=2, strategy=strategy))
        self.assertTrue((self.folder / "checkpoint" / "lightning.ckpt").exists())


class TransformersStandInTest(CallbackTest):
    """transformers.TrainerCallback as documented, in the order in which the Trainer calls it: after a step, and at an
    epoch's end, on_log, on_evaluate, and on_save where the control wishes it; then it looks whether to stop.
    """

    def setUp(self):
        super().setUp()
        transformers = types.ModuleType("transformers")
        transformers.TrainerCallback = type("TrainerCallback", (), {
            name: lambda callback, args, state, control, **more: None
            for name in ("on_train_begin", "on_train_end", "on_epoch_begin", "on_epoch_end", "on_step_begin", "on_log",
                         "on_evaluate", "on_save")})
        self.stand_in(transformers=transformers)

    def train(self, callback, epochs=10, steps=10, first=True, evaluate_every=None, saves=True, max_steps=-1, rest=0):
        """`evaluate_every`: steps, instead of epochs. `rest`: batches that gradient accumulation leaves of an epoch."""
        args = types.SimpleNamespace(output_dir=str(self.folder / "out"), train_batch_size=8, world_size=1,
                                     gradient_accumulation_steps=1, max_steps=max_steps)
        state = types.SimpleNamespace(epoch=0.0, global_step=0, is_world_process_zero=first)
        control = types.SimpleNamespace(should_training_stop=False, should_save=False)

        def look_around():
            callback.on_log(args, state, control, logs={"loss": 1.0, "epoch": state.epoch})
            callback.on_evaluate(args, state, control, metrics={"eval_acc": 0.5, "epoch": state.epoch})
            if control.should_save and saves:
                folder = self.folder / "out" / "checkpoint-{}".format(state.global_step)
                folder.mkdir(parents=True)
                (folder / "model").write_text("weights")
                callback.on_save(args, state, control)
            control.should_save = False

        callback.on_train_begin(args, state, control)
        for epoch in range(epochs):
            callback.on_epoch_begin(args, state, control)
            for step in range(steps):
                callback.on_step_begin(args, state, control)
                state.global_step += 1
                state.epoch = epoch + (step + 1) / (steps + rest)
                control.should_training_stop = control.should_training_stop or state.global_step == max_steps
                if evaluate_every and state.global_step % evaluate_every == 0:
                    look_around()
                if control.should_training_stop:
                    break
            callback.on_epoch_end(args, state, control)
            if not evaluate_every:
                look_around()
            if control.should_training_stop:
                break
        callback.on_train_end(args, state, control)
        return state

    def test_it_reports_saves_before_decisions_and_stops(self):
        worker = self.decide("continue", "stop")
        self.assertEqual(self.train(fresh("TransformersCallback")()).epoch, 4)
        self.assertEqual(self.handed_over(worker), [("report", 1), ("checkpoint", 2), ("report", 2), ("report", 3),
                                                    ("checkpoint", 4), ("report", 4)])
        self.assertEqual(worker.said("report")[0], {"type": "report", "step": 1, "group": "training",
                                                    "metrics": {"loss": 1.0}})

    def test_a_pause_ends_it_and_the_next_attempt_finds_the_checkpoint(self):
        worker = self.decide("pause")
        self.train(fresh("TransformersCallback")())
        self.assertEqual(self.handed_over(worker), [("report", 1), ("checkpoint", 2), ("report", 2)])
        os.environ["HPSEARCH_LATEST_CHECKPOINT"] = str(self.folder / "checkpoint")
        resume = fresh("TransformersCallback")().resume_from_checkpoint
        self.assertEqual((os.path.basename(resume), pathlib.Path(resume, "model").read_text()),
                         ("checkpoint-20", "weights"))

    def test_of_several_checkpoints_the_last_is_that_of_the_most_steps(self):
        for name in ("checkpoint-900", "checkpoint-1000", "checkpoint-best"):
            (self.folder / "given" / name).mkdir(parents=True)
        os.environ["HPSEARCH_LATEST_CHECKPOINT"] = str(self.folder / "given")
        self.forget_trial()
        resume = fresh("TransformersCallback")(epochs=1).resume_from_checkpoint
        self.assertEqual(os.path.basename(resume), "checkpoint-1000")

    def test_a_pause_before_the_length_saves_after_it(self):
        worker = self.in_trial(lambda message: {"directive": "pause" if "group" not in message else "continue", "length": 5},
                               LENGTH="5")
        self.train(fresh("TransformersCallback")())
        self.assertEqual(self.handed_over(worker), [("report", 1), ("checkpoint", 1)])

    def test_without_checkpoints_it_only_reports(self):
        worker = self.decide("stop")
        self.train(fresh("TransformersCallback")(checkpoints=False))
        self.assertEqual(self.handed_over(worker), [("report", 1), ("report", 2)])

    def test_an_evaluation_that_no_save_follows_is_reported_all_the_same(self):
        worker = self.decide("stop")
        self.train(fresh("TransformersCallback")(), saves=False)
        self.assertEqual(self.handed_over(worker), [("report", 1), ("report", 2)])
        worker.heard.clear()
        worker.answer = lambda message: {"directive": "stop", "length": 2}
        state = types.SimpleNamespace(epoch=2.0, global_step=20, is_world_process_zero=True)
        fresh("TransformersCallback")().on_evaluate(None, state, types.SimpleNamespace(), metrics={"eval_acc": 0.5})
        self.assertEqual(self.handed_over(worker), [("report", 2)], "one by hand, outside train()")

    def test_an_epoch_counts_when_it_is_over(self):
        for evaluate_every, rest, max_steps, steps in ((5, 0, -1, [0, 1, 1, 2]), (None, 3, -1, [1, 2]), (None, 0, 15, [1, 1])):
            worker = self.decide("stop")
            self.train(fresh("TransformersCallback")(), epochs=2, evaluate_every=evaluate_every, rest=rest, max_steps=max_steps)
            self.assertEqual([message["step"] for message in worker.said("report") if "group" not in message], steps)
            worker.close()
            pathlib.Path(worker.address).unlink()
            shutil.rmtree(self.folder / "out", ignore_errors=True)

    def test_by_hand_it_stops_at_the_length_that_it_was_given(self):
        with self.assertRaisesRegex(LookupError, r"write TransformersCallback\(epochs=27\)"):
            fresh("TransformersCallback")()
        with contextlib.redirect_stdout(io.StringIO()):
            state = self.train(fresh("TransformersCallback")(epochs=3))
        self.assertEqual(state.epoch, 3)

    def test_other_processes_say_nothing(self):
        worker = self.decide()
        self.train(fresh("TransformersCallback")(), epochs=2, first=False)
        self.assertEqual(worker.heard, [])


class XGBoostStandInTest(CallbackTest):
    """xgboost.callback.TrainingCallback as documented: after_iteration(model, epoch, evals_log) -> stop."""

    def setUp(self):
        super().setUp()
        callback = types.ModuleType("xgboost.callback")
        callback.TrainingCallback = type("TrainingCallback", (), {})
        xgboost = types.ModuleType("xgboost")
        xgboost.callback = callback
        self.stand_in(xgboost=xgboost, xgboost__callback=callback)

    def test_it_reports_saves_before_decisions_and_stops(self):
        worker = self.decide("stop")
        model = types.SimpleNamespace(save_model=lambda path: pathlib.Path(path).write_text("trees"))
        callback = fresh("XGBoostCallback")()
        log = {"train": {"rmse": [1.0]}, "valid": {"rmse": [(2.0, 0.1)]}}
        self.assertEqual([callback.after_iteration(model, round, log) for round in (0, 1)], [False, True])
        self.assertEqual(self.handed_over(worker), [("report", 1), ("checkpoint", 2), ("report", 2)])
        self.assertEqual([report["metrics"] for report in worker.said("report")][:2],
                         [{"rmse": 1.0}, {"valid.rmse": 2.0}])


    def test_by_hand_it_stops_at_the_length_that_it_was_given(self):
        with self.assertRaisesRegex(LookupError, r"write XGBoostCallback\(rounds=27\)"):
            fresh("XGBoostCallback")()
        callback = fresh("XGBoostCallback")(rounds=3)
        with contextlib.redirect_stdout(io.StringIO()):
            said = [callback.after_iteration(types.SimpleNamespace(), round, {"valid": {"rmse": [1.0]}})
                    for round in range(callback.rounds)]
        self.assertEqual(said, [False, False, True])


class LightGBMStandInTest(CallbackTest):
    """A callable over lightgbm's CallbackEnv; a stop is lightgbm.callback.EarlyStopException."""

    def test_it_reports_saves_before_decisions_and_stops(self):
        worker = self.decide("stop")
        stop = type("EarlyStopException", (Exception,), {"__init__": lambda self, best_iteration, best_score: None})
        lightgbm = types.ModuleType("lightgbm")
        lightgbm.callback = types.SimpleNamespace(EarlyStopException=stop)
        self.stand_in(lightgbm=lightgbm)
        model = types.SimpleNamespace(save_model=lambda path, num_iteration: pathlib.Path(path).write_text("trees"))
        callback = fresh("LightGBMCallback")()

        def env(iteration):
            return types.SimpleNamespace(iteration=iteration, model=model,
                                         evaluation_result_list=[("training", "l2", 1.0, False),
                                                                 ("valid", "l2", 2.0, False)])

        callback(env(0))
        with self.assertRaises(stop):
            callback(env(1))
        self.assertEqual(self.handed_over(worker), [("report", 1), ("checkpoint", 2), ("report", 2)])

    def test_by_hand_it_needs_a_length(self):
        with self.assertRaisesRegex(LookupError, r"write LightGBMCallback\(rounds=27\)"):
            fresh("LightGBMCallback")()
        self.assertEqual(fresh("LightGBMCallback")(rounds=27).rounds, 27)


if __name__ == "__main__":
    unittest.main()
