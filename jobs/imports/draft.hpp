#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/jobs/imports/imports.hpp"
#include "imports/foreign_range.hpp"

namespace hpsearch::jobs {

/// An imported experiment that is being built.
class Draft {
 public:
  /// Sets a field; its path's first part is a section.
  void set(std::string_view path, Value value);
  void decide(std::string path, std::string text);
  /// Adds a problem with the foreign file, at a path of that file.
  void refuse(std::string path, std::string what, std::string allowed = {});

  /// Adds a hyperparameter inside nested groups. The note of the range becomes a remark.
  void add(const std::vector<std::string>& keys, ForeignRange range);

  /// Sets that hyperparameters whose values are all booleans are passed as --NAME or not at all.
  void make_booleans_flags();

  /// The searcher with the fields that all searchers need. `method` is the method in the file. Methods that
  /// stop trials early become adaptive_asha, a grid becomes grid, and the rest becomes random. Methods that
  /// learn become a sampler; others become a remark.
  struct Search {
    std::string method;  ///< Lower case.
    bool stops_early = false;
    std::string metric;
    bool smaller_is_better = true;
    Value max_trials = {};              ///< null if the file has none.
    Value max_length = {};              ///< null if the file has none.
    std::string counts_length_by = {};  ///< The source of its number: "--epochs of the command"; "" = given.
  };
  enum class Trials : std::uint8_t { are_said_here, are_said_elsewhere };
  void search(const Search& search, Trials trials = Trials::are_said_here);

  void set_pod_template(Value pod_template) { pod_template_ = std::move(pod_template); }

  [[nodiscard]] const Value::Map& hyperparameters() const noexcept { return hyperparameters_; }
  [[nodiscard]] ImportedExperiment finished() &&;

 private:
  void count_points(Value::Map& group, const std::string& at);

  Value::Map tree_;
  Value::Map hyperparameters_;
  std::vector<ImportRemark> remarks_;
  Value pod_template_;
  Problems problems_;
};

/// The value of a member, or null.
[[nodiscard]] const Value& member_of(const Value& map, std::string_view key) noexcept;
[[nodiscard]] std::string text_member(const Value& map, std::string_view key);
/// The list of a member, or an empty one.
[[nodiscard]] const Value::List& list_member(const Value& map, std::string_view key) noexcept;

/// A number, or a text that spells one ("0.01").
[[nodiscard]] std::optional<double> number_in(const Value& value);

/// The number after a word with "epoch" in an argv: `--epochs=10`, `--num-epochs 10`; null if there
/// is none.
[[nodiscard]] Value epochs_in(const std::vector<std::string>& words);

/// "a, b"
[[nodiscard]] std::string comma_list(const std::vector<std::string>& names);

/// The text of an entrypoint with its braces escaped, so that they are no placeholders.
[[nodiscard]] std::string with_literal_braces(std::string_view text);

// Each translation has a file with its own name.
[[nodiscard]] ImportedExperiment import_wandb_sweep(const Value& tree);
[[nodiscard]] ImportedExperiment import_katib_experiment(const Value& tree);
[[nodiscard]] ImportedExperiment import_optimization_job(const Value& tree);
[[nodiscard]] ImportedExperiment import_nni_experiment(const Value& tree);
[[nodiscard]] ImportedExperiment import_nni_space(const Value& tree);
[[nodiscard]] ImportedExperiment import_optuna_space(const Value& tree);
[[nodiscard]] ImportedExperiment import_modelarts_auto_search(const Value& tree);

[[nodiscard]] bool is_modelarts_auto_search(const Value& tree) noexcept;

}  // namespace hpsearch::jobs
