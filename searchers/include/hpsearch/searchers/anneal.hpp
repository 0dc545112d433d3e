#pragma once

#include <memory>

#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/searchers/sampler.hpp"

namespace hpsearch::searchers {

/// Draws near earlier trials with good results, nearer and nearer: the annealing of hyperopt (Bergstra,
/// Yamins, Cox: "Making a Science of Model Search", ICML 2013; hyperopt/anneal.py).
///
/// A trial begins from the one whose latest result is the k-th best, k geometric with mean
/// `anneal.avg_best_idx` from 1. Each number is then uniform in a window around that trial's, of width
/// 1 / (1 + n · `anneal.shrink_coef`) of the range after n trials with results; windows are pushed inside the
/// range. An integer can always reach its neighbours. A category is drawn anew with the chance that is the
/// window's width, and is otherwise that trial's. Before the first result draws are random.
///
/// A trial without a usable metric, or one that failed, ranks last; one with invalid hyperparameters is
/// forgotten. Where no configuration may start twice it draws up to 16 times.
///
/// Cost: O(parameters + log trials); memory O(parameters) per trial.
[[nodiscard]] std::unique_ptr<Sampler> make_anneal_sampler(const engine::ExperimentConfig& config);

}  // namespace hpsearch::searchers
