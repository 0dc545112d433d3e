#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/space/space.hpp"
#include "hpsearch/proto/views/columns.hpp"
#include "hpsearch/proto/views/rung_ladder.hpp"

namespace hpsearch::views {

/// A hyperparameter's values in the trials that are compared.
struct ImportanceInput {
  engine::Parameter parameter;  ///< That varies.
  std::string name;
  std::vector<double> values;  ///< By result: a number, or a place among the vals; NaN where it is inactive.
};

/// How much each hyperparameter matters to being among the best tenth of the results: PED-ANOVA (Watanabe,
/// Bansal and Hutter, "PED-ANOVA: Efficiently Quantifying Hyperparameter Importance in Arbitrary Subspaces",
/// IJCAI 2023). For each hyperparameter alone, two densities on a grid are compared by the Pearson
/// divergence: that of the best tenth, and that of all results. Both are kernel estimates with Scott's
/// bandwidth. Nothing is said of interactions.
///
/// `losses` are finite, smaller is better; at least 3. The shares add up to 1.
/// Cost: O(results × log results + hyperparameters × (results + grid²)).
[[nodiscard]] std::vector<double> ped_anova(const std::vector<double>& losses,
                                            const std::vector<ImportanceInput>& hyperparameters);

/// A share, and how far it varies between samples of the results.
struct Share {
  double mean = 0;
  double deviation = 0;
};

/// ped_anova() of these results, which were drawn evenly over the space.
[[nodiscard]] std::vector<Share> shares_of_draws(const std::vector<double>& losses,
                                                 const std::vector<ImportanceInput>& hyperparameters);

/// The same where a sampler preferred some values: the results become a forest of regression trees, and
/// ped_anova() compares what that expects of configurations that are drawn evenly over the space. Without it,
/// what the sampler prefers would be compared with itself.
[[nodiscard]] std::vector<Share> shares_of_forest(const std::vector<double>& losses,
                                                  const std::vector<ImportanceInput>& hyperparameters,
                                                  const engine::Space& space);

/// The best part of the results that is compared with all of them.
inline constexpr double importance_gamma = 0.1;

/// As JSON: metric, rung, length, results, others, needed, gamma, method ("results" or "forest"),
/// hyperparameters
/// [{name, share, deviation, rank}], best first, and why there are none. Results are the finite ones of the
/// length that compared_length() chooses, or of `rung`. Others are trials that did not get there: a search
/// with early stopping stopped them, or they diverged. They count as worse, so that what made them so
/// matters, too.
///
/// `ladder` has the results, `columns` the hyperparameters of all their trials, one column for each leaf of
/// the space that varies, in its order.
[[nodiscard]] std::string importance_json(const RungLadder& ladder, const Columns& columns,
                                          const engine::Space& space, std::optional<std::uint64_t> rung,
                                          bool sampler_learns);

}  // namespace hpsearch::views
