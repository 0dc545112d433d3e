#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/space/space.hpp"
#include "hpsearch/queries/columns.hpp"
#include "hpsearch/queries/rung_ladder.hpp"

namespace hpsearch::queries {

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

/// The best part of the results that is compared with all of them.
inline constexpr double importance_gamma = 0.1;

/// As JSON: metric, rung, length, results, needed, gamma, hyperparameters [{name, share, rank}], best first,
/// and why there are none. Results are those of the longest rung with at least `needed` finite ones, or of
/// `rung`.
///
/// `ladder` has the results, `columns` the hyperparameters of all their trials, one column for each leaf of
/// the space that varies, in its order.
[[nodiscard]] std::string importance_json(const RungLadder& ladder, const Columns& columns,
                                          const engine::Space& space, std::optional<std::uint64_t> rung);

}  // namespace hpsearch::queries
