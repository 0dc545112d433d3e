import hpsearch as hp
from training import Training


def train(trial):
    training = Training(trial["lr"], trial["width"])
    start = trial.load(training.__dict__.update)
    for epoch in trial.epochs(start):
        trial.report(epoch, error=training.epoch(), save=lambda: training.__dict__)


if __name__ == "__main__":
    result = hp.tune(train, {"lr": hp.loguniform(1e-4, 1.0), "width": hp.int(8, 128)}, metric="error", max_length=9, max_trials=40)
    print(result.best.params, result.best.metric)
