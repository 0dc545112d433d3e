#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/score.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::searchers {

/// The configurations that were trained to full length, with what each training came to, and the best of
/// them.
class Finalists {
 public:
  struct Configuration {
    engine::Value hparams;
    std::vector<engine::Finalist::Training> trainings;  ///< The trainings of trials that count, by number.
  };

  Finalists(std::uint64_t most, std::uint64_t repeats, engine::Goal goal) noexcept
      : most_(most), repeats_(repeats), goal_(goal) {}

  /// Trial `trial` reached full length, or begins a repeat; nothing: no result yet, or none at all.
  void add(const engine::Value& hparams, engine::TrialNumber trial, std::optional<double> metric);
  /// The result of a repeat.
  void set(const engine::Value& hparams, engine::TrialNumber trial, std::optional<double> metric);
  /// The trial's hyperparameters were invalid.
  void remove(const engine::Value& hparams, engine::TrialNumber trial);

  /// The best of now are the finalists.
  void choose();
  void dismiss() noexcept { chosen_.clear(); }
  [[nodiscard]] bool chosen() const noexcept { return !chosen_.empty(); }

  /// The finalist that is trained next: the first of those with the fewest trainings; nullptr: all have
  /// theirs.
  [[nodiscard]] const Configuration* due() const noexcept;
  /// Trainings that the finalists lack.
  [[nodiscard]] std::uint64_t missing() const noexcept;
  /// Best mean first.
  [[nodiscard]] std::vector<engine::Finalist> ranked() const;

 private:
  Configuration& at(const engine::Value& hparams);
  [[nodiscard]] engine::Finalist summary_of(const Configuration& configuration) const;
  /// Whether `a` ranks before `b`; what has no result is last.
  [[nodiscard]] bool before(const engine::Finalist& a, const engine::Finalist& b) const noexcept;

  std::uint64_t most_;
  std::uint64_t repeats_;
  engine::Goal goal_;
  std::map<std::string, Configuration> all_;  // By their text.
  std::vector<const Configuration*> chosen_;  // In the order of their means when they were chosen.
};

}  // namespace hpsearch::searchers
