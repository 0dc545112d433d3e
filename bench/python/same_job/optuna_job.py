import optuna
from training import Training


def train(trial):
    training = Training(trial.suggest_float("lr", 1e-4, 1.0, log=True), trial.suggest_int("width", 8, 128))
    for epoch in range(9):
        error = training.epoch()
        trial.report(error, epoch)
        if trial.should_prune():
            raise optuna.TrialPruned()
    return error


if __name__ == "__main__":
    study = optuna.create_study()
    study.optimize(train, n_trials=40, n_jobs=2)
    print(study.best_params, study.best_value)
