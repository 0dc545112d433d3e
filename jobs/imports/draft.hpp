#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "hpsearch/jobs/imports/imports.hpp"
#include "imports/foreign_range.hpp"

namespace hpsearch::jobs {

/// An imported experiment while it is made.
class Draft {
 public:
  /// Sets a field; its path's first part is a section.
  void set(std::string_view path, Value value);
  void decide(std::string path, std::string text);

  /// A hyperparameter inside nested groups. What the range says of itself is a remark.
  void add(const std::vector<std::string>& keys, ForeignRange range);

  /// Hyperparameters whose values are all booleans are given as --NAME or nothing.
  void make_booleans_flags();

  /// The searcher with what every one needs. `method` is what the file asks for; adaptive_asha is taken for
  /// those that stop trials early, grid for a grid, random for the rest. Methods that learn become a sampler;
  /// a remark tells of others.
  struct Search {
    std::string method;  ///< Lower case.
    bool stops_early = false;
    std::string metric;
    bool smaller_is_better = true;
    Value max_trials = {};              ///< null = the file does not say.
    Value max_length = {};              ///< The same.
    std::string counts_length_by = {};  ///< What its number came from: "--epochs of the command"; "" = given.
  };
  enum class Trials : std::uint8_t { are_said_here, are_said_elsewhere };
  void search(const Search& search, Trials trials = Trials::are_said_here);

  [[nodiscard]] const Value::Map& hyperparameters() const noexcept { return hyperparameters_; }
  [[nodiscard]] ImportedExperiment finished() &&;

 private:
  void count_points(Value::Map& group, const std::string& at);

  Value::Map tree_;
  Value::Map hyperparameters_;
  std::vector<ImportRemark> remarks_;
};

/// The value of a member, or null.
[[nodiscard]] const Value& member_of(const Value& map, std::string_view key) noexcept;
[[nodiscard]] std::string text_member(const Value& map, std::string_view key);

/// A number, also one that a file holds as text ("0.01").
[[nodiscard]] std::optional<double> number_in(const Value& value);

/// The number behind a word with "epoch" in an argv, as `--epochs=10` or `--num-epochs 10`; null when there
/// is none.
[[nodiscard]] Value epochs_in(const std::vector<std::string>& words);

/// A text of an entrypoint in which braces are no placeholders.
[[nodiscard]] std::string with_literal_braces(std::string_view text);

// One translation each, in a file of its own name.
[[nodiscard]] Result<ImportedExperiment> import_wandb_sweep(const Value& tree);
[[nodiscard]] Result<ImportedExperiment> import_katib_experiment(const Value& tree);
[[nodiscard]] Result<ImportedExperiment> import_nni_experiment(const Value& tree);
[[nodiscard]] Result<ImportedExperiment> import_nni_space(const Value& tree);
[[nodiscard]] Result<ImportedExperiment> import_optuna_space(const Value& tree);
[[nodiscard]] Result<ImportedExperiment> import_modelarts_auto_search(const Value& tree);

[[nodiscard]] bool is_modelarts_auto_search(const Value& tree) noexcept;

}  // namespace hpsearch::jobs
