#pragma once

#include <memory>

#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/searchers/sampler.hpp"

namespace hpsearch::searchers {

/// Chooses what promises most at full length, by a Gaussian process over configuration and length that learns
/// from every result of every rung (docs/searchers/model.md); and lets a trial begin at the lowest rung whose
/// results agree with those at full length.
///
/// A trial that failed is a bad result at the length it trained for; what a user ended gives none. Of a trial
/// whose hyperparameters turn out to be invalid, earlier results stay in the model, but none is near it any
/// more.
///
/// Cost: hearing O(log n); a sample O(size² + n), and now and then a fit, O(fit_size³). Memory O(size²), and
/// O(parameters) per trial.
[[nodiscard]] std::unique_ptr<Sampler> make_model_sampler(const engine::ExperimentConfig& config);

}  // namespace hpsearch::searchers
