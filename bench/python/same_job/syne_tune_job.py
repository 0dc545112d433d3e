from syne_tune import StoppingCriterion, Tuner
from syne_tune.backend import PythonBackend
from syne_tune.config_space import loguniform, randint
from syne_tune.experiments import load_experiment
from syne_tune.optimizer.baselines import ASHA


def train(lr: float, width: int, epochs: int):
    from syne_tune import Reporter
    from training import Training
    training, report = Training(lr, width), Reporter()
    for epoch in range(1, epochs + 1):
        report(epoch=epoch, error=training.epoch())


if __name__ == "__main__":
    space = {"lr": loguniform(1e-4, 1.0), "width": randint(8, 128), "epochs": 9}
    tuner = Tuner(
        trial_backend=PythonBackend(tune_function=train, config_space=space),
        scheduler=ASHA(space, metric="error", do_minimize=True, max_t=9, time_attr="epoch"),
        stop_criterion=StoppingCriterion(max_num_trials_started=40),
        n_workers=2)
    tuner.run()
    print(load_experiment(tuner.name).best_config())
