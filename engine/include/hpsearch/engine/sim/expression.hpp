#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/sim/curves.hpp"
#include "hpsearch/engine/space/formula.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::engine::sim {

/// An arithmetic expression that gives the metric of a simulated trial: a Formula with the variables trial
/// (its number), length and op (which piece of work, from 0). A hyperparameter that the trial lacks is 0.
class Expression final : public Curves {
 public:
  /// bad_request: "column 7: …". `space` says which hyperparameters there are.
  [[nodiscard]] static Result<std::unique_ptr<Expression>> parse(std::string_view text, const Space& space);

  [[nodiscard]] double metric(const Training& training, Units length) override;

 private:
  Expression(Formula formula, const Space& space);
  Formula formula_;
  std::vector<std::vector<std::string>> keys_;  // Keys of the hyperparameters, in the order of the space.
};

}  // namespace hpsearch::engine::sim
