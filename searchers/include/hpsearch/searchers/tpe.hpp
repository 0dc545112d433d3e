#pragma once

#include <memory>

#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/searchers/sampler.hpp"

namespace hpsearch::searchers {

/// The tree-structured Parzen estimator (Bergstra, Bardenet, Bengio, Kégl: "Algorithms for Hyper-Parameter
/// Optimization", NIPS 2011, section 4), over all parameters jointly and at the longest length with enough
/// results, as BOHB has it (Falkner, Klein, Hutter, ICML 2018, section 3.2).
///
/// Results at that length are split into the good ones, the best `tpe.gamma` of them, and the others. Both
/// get a density: a kernel for each configuration, and one that is uniform over the space. Of
/// `tpe.candidates` draws from the density of the good ones, the sample is the one with the greatest ratio of
/// the densities. Trials that still train count among the others, so that no two in parallel try the same
/// (constant liar).
///
/// Enough results are parameters + 3, and `tpe.initial_results` before the first sample that is not random. A
/// trial that failed ranks last; one with invalid hyperparameters is forgotten.
///
/// Cost: hearing O(log n); a sample O(candidates · parameters), whatever n: at most 25 good results and 256
/// of the others, drawn at random, have a kernel. Memory O(parameters) per trial and O(1) per result.
[[nodiscard]] std::unique_ptr<Sampler> make_tpe_sampler(const engine::ExperimentConfig& config);

}  // namespace hpsearch::searchers
