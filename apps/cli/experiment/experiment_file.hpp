#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/jobs/fields/program.hpp"
#include "hpsearch/jobs/yaml/read_text.hpp"

namespace hpsearch::cli {

using yaml::FileLimits;
using yaml::FileProblem;
using yaml::LineMap;
using yaml::read_experiment_text;
using yaml::ReadText;

/// The file's content, or why it cannot be read. "-" reads standard input.
struct LoadedText {
  std::string text;
  std::string problem;  ///< One sentence, or "" if `text` is set.
};
[[nodiscard]] LoadedText load_text(const std::string& path, const FileLimits& limits = {});

/// Changes of the command line to the file, applied before it is checked.
struct Overrides {
  std::optional<std::uint64_t> seed;
  std::optional<std::string> name;
  std::optional<std::string> context_directory = {};  ///< Instead of the file's own directory.
};

/// An experiment file with all its problems. `config` is set exactly if `problems` is empty.
struct ExperimentFile {
  std::string path;        ///< As given by the user.
  std::string stem;        ///< Names the experiment if the file has no name.
  std::string text;        ///< As its user wrote it.
  engine::Value tree;      ///< With the overrides, and with `launch.kind` if the program shows it.
  engine::Value original;  ///< Without overrides.
  engine::Value prior;     ///< `searcher.prior`, if it names searches or files; in `tree` it is empty until
                           ///< read_prior() inserts the results. Null: nothing to read.
  std::optional<engine::ExperimentConfig> config;
  std::optional<jobs::Program> program;  ///< Set together with `config`.
  LineMap lines;                         ///< Lines of `original`.
  std::vector<FileProblem> problems;     ///< Sorted by line.
  std::vector<FileProblem> notes;

  [[nodiscard]] bool from_standard_input() const { return path == standard_input; }
  static constexpr const char* standard_input = "<stdin>";
};

/// Loads, reads and checks. Never fails: errors are in `problems`.
[[nodiscard]] ExperimentFile open_experiment_file(const std::string& path, const Overrides& overrides = {});

}  // namespace hpsearch::cli
