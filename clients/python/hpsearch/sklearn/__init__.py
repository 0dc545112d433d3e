"""HpsearchCV: a search over the hyperparameters of a scikit-learn estimator, in this process.

    from hpsearch.sklearn import HpsearchCV
    from scipy.stats import loguniform

    search = HpsearchCV(SGDClassifier(), {"alpha": loguniform(1e-6, 1e-1), "penalty": ["l2", "l1"]},
                        resource="max_iter", max_resource=81, max_trials=50, n_jobs=8).fit(X, y)
    search.best_params_, search.best_score_

Needs scikit-learn (1.2 or newer) and the library libhpsearch, which the wheel `hpsearch` and the build of a clone have.
"""

from ._search_cv import HpsearchCV

__all__ = ["HpsearchCV"]
