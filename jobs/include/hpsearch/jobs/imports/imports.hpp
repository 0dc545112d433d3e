#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/jobs/fields/engine_types.hpp"

namespace hpsearch::jobs {

/// Files in which other products describe a search.
enum class ForeignFile : std::uint8_t {
  wandb_sweep,
  katib_experiment,
  nni_experiment,
  nni_space,              ///< A search space alone.
  modelarts_auto_search,  ///< A job's `advanced_config.auto_search`.
  optuna_space,           ///< Ranges as Optuna's suggest functions and distributions name them.
};

/// "a W&B sweep": as a sentence goes on after "is".
[[nodiscard]] std::string_view name_of(ForeignFile kind) noexcept;

/// What the file is, when it is one of them and no experiment of ours. O(size of its two upper levels).
[[nodiscard]] std::optional<ForeignFile> foreign_file(const Value& tree) noexcept;

/// Something in an imported experiment that a person has to look at.
struct ImportRemark {
  std::string path;  ///< Dotted; "" = the whole file.
  std::string text;  ///< One sentence without its end.
};

/// An experiment file that says what a foreign file says, as far as it can be said.
struct ImportedExperiment {
  Value tree;  ///< The fields of docs/experiment-file.md. parse_submission() takes them.
  std::vector<ImportRemark> remarks;
};

/// Translates one. An NNI experiment whose space lies in a file of its own has to have it as `searchSpace`
/// (nni_space_file). bad_request: the file is none of them, or its ranges cannot be read. Pure. O(size).
[[nodiscard]] Result<ImportedExperiment> import_experiment(const Value& tree);

/// Path of the file that holds an NNI experiment's space, as the experiment gives it; "" when it needs none.
[[nodiscard]] std::string nni_space_file(const Value& tree);

}  // namespace hpsearch::jobs
