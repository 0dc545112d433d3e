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
  optimization_job,  ///< A resource of Kubeflow Trainer.
  nni_experiment,
  nni_space,              ///< A search space without an experiment.
  modelarts_auto_search,  ///< A job's `advanced_config.auto_search`.
  optuna_space,           ///< Ranges named like Optuna's suggest functions and distributions.
};

/// "a W&B sweep": the name in a sentence, after "is".
[[nodiscard]] std::string_view name_of(ForeignFile kind) noexcept;

/// The kind of a foreign file; nothing if it is another file. O(size of its two upper levels).
[[nodiscard]] std::optional<ForeignFile> foreign_file(const Value& tree) noexcept;

/// A remark about an imported experiment that its user has to check.
struct ImportRemark {
  std::string path;  ///< Dotted; "" = the whole file.
  std::string text;  ///< One sentence without the full stop.
};

/// An experiment file with the meaning of a foreign file, as far as it can be expressed.
struct ImportedExperiment {
  Value tree;  ///< The fields of docs/experiment-file.md. parse_submission() takes them.
  std::vector<ImportRemark> remarks;
  Value pod_template;  ///< A PodTemplateSpec of Kubernetes; null if the file describes no pod.
  Problems problems;   ///< With paths of the foreign file. If there are any, the rest is unusable.
};

/// Translates a foreign file. An NNI experiment whose space is in another file needs that space as
/// `searchSpace` (nni_space_file). Pure. O(size).
[[nodiscard]] ImportedExperiment import_experiment(const Value& tree);

/// The path of the file with an NNI experiment's space, as the experiment has it; "" if it needs none.
[[nodiscard]] std::string nni_space_file(const Value& tree);

}  // namespace hpsearch::jobs
