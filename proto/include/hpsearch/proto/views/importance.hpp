#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/space/space.hpp"
#include "hpsearch/proto/sentences/language.hpp"
#include "hpsearch/proto/views/columns.hpp"
#include "hpsearch/proto/views/rung_ladder.hpp"

namespace hpsearch::views {

/// The values of a hyperparameter in the compared trials.
struct ImportanceInput {
  engine::Parameter parameter;  ///< It varies.
  std::string name;
  std::vector<double> values;  ///< By result: a number, or an index of the vals; NaN where it is inactive.
};

/// How much each hyperparameter affects whether a trial is in the best tenth of the results: PED-ANOVA
/// (Watanabe, Bansal and Hutter, "PED-ANOVA: Efficiently Quantifying Hyperparameter Importance in Arbitrary
/// Subspaces", IJCAI 2023). For each hyperparameter alone, two densities on a grid are compared by the
/// Pearson divergence: that of the best tenth, and that of all results. Both are kernel estimates with
/// Scott's bandwidth. Interactions aren't measured.
///
/// `losses` are finite, smaller is better; at least 3. The shares add up to 1.
/// Cost: O(results × log results + hyperparameters × (results + grid²)).
[[nodiscard]] std::vector<double> ped_anova(const std::vector<double>& losses,
                                            const std::vector<ImportanceInput>& hyperparameters);

/// A share, and its deviation between samples of the results.
struct Share {
  double mean = 0;
  double deviation = 0;
};

/// ped_anova() of these results, which were drawn uniformly from the space.
[[nodiscard]] std::vector<Share> shares_of_draws(const std::vector<double>& losses,
                                                 const std::vector<ImportanceInput>& hyperparameters);

/// The shares if a sampler preferred some values: a forest of regression trees learns the results, and
/// ped_anova() uses the forest's predictions for configurations drawn uniformly from the space. Otherwise
/// the sampler's preferences would be measured.
[[nodiscard]] std::vector<Share> shares_of_forest(const std::vector<double>& losses,
                                                  const std::vector<ImportanceInput>& hyperparameters,
                                                  const engine::Space& space);

/// The fraction of best results that is compared with all results.
inline constexpr double importance_gamma = 0.1;

/// As JSON: metric, rung, length, results, others, needed, gamma, method ("results" or "forest"),
/// hyperparameters
/// [{name, share, deviation, rank}], best first, and why there are none. Results are the finite ones at the
/// length that compared_length() chooses, or at `rung`. Others are trials that didn't reach it: early
/// stopping ended them, or they diverged. They count as worse results, so that their hyperparameters
/// matter, too.
///
/// `ladder` has the results, `columns` the hyperparameters of all their trials, one column for each leaf of
/// the space that varies, in its order.
[[nodiscard]] std::string importance_json(const RungLadder& ladder, const Columns& columns,
                                          const engine::Space& space, std::optional<std::uint64_t> rung,
                                          bool sampler_learns,
                                          sentences::Language language = sentences::Language::english);

}  // namespace hpsearch::views
