from ray import tune
from ray.tune.schedulers import ASHAScheduler
from training import Training


def train(config):
    training = Training(config["lr"], config["width"])
    for _ in range(9):
        tune.report({"error": training.epoch()})


if __name__ == "__main__":
    tuner = tune.Tuner(
        train,
        param_space={"lr": tune.loguniform(1e-4, 1.0), "width": tune.randint(8, 129)},
        tune_config=tune.TuneConfig(metric="error", mode="min", num_samples=40, scheduler=ASHAScheduler(max_t=9)))
    best = tuner.fit().get_best_result()
    print(best.config, best.metrics["error"])
