#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli/client/interrupts.hpp"
#include "cli/client/state_directory.hpp"
#include "cli/experiment/experiment_file.hpp"
#include "cli/render/output.hpp"
#include "cli/render/progress_view.hpp"
#include "cli/run/private_cluster.hpp"
#include "cli/verbs/verbs.hpp"

namespace hpsearch::cli {

/// The state of one `hpsearch run`, shared by its steps (directory, submission, changes, watch).
struct RunSession {
  RunSession(const RunOptions& given, const Output& to) : options(given), output(to), view(to) {}

  const RunOptions& options;
  const Output& output;
  Interrupts interrupts;
  ProgressView view;
  ExperimentFile file;
  std::string context;  ///< As the command gives it; "" = not given, until a new search needs one.
  StateDirectory state{""};
  std::optional<FileLock> lock;
  bool made_directory = false;  ///< The state directory was not there, or empty, before this command.
  RunRecord record;
  bool resumes = false;  ///< The directory already had a search.
  std::string queue;     ///< The name of its queue; "" = it has none.
  std::string edited;    ///< "train.py changed since 14:02", for a search that has ended.
  std::optional<PrivateCluster> cluster;

  /// Only after `cluster` was started.
  [[nodiscard]] const Client& client() const { return cluster->client(); }
  [[nodiscard]] PrivateCluster::Say say();
  [[nodiscard]] PrivateCluster::Hurry hurry() const;

  /// The path in the record.
  [[nodiscard]] std::filesystem::path file_path() const;

  /// The command that begins a new search.
  [[nodiscard]] std::string afresh() const;
};

}  // namespace hpsearch::cli
