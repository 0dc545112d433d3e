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

/// The file's bytes, or why there are none. "-" reads standard input.
struct LoadedText {
  std::string text;
  std::string problem;  ///< One sentence, or "" when `text` is good.
};
[[nodiscard]] LoadedText load_text(const std::string& path, const FileLimits& limits = {});

/// What the command line changes in the file before it is looked at.
struct Overrides {
  std::optional<std::uint64_t> seed;
  std::optional<std::string> name;
  std::optional<std::string> context_directory = {};  ///< Instead of the file's own directory.
};

/// An experiment file, looked at as a whole. `config` is set exactly when `problems` is empty.
struct ExperimentFile {
  std::string path;        ///< As the user gave it.
  std::string stem;        ///< Names the experiment when the file does not.
  engine::Value tree;      ///< With the overrides, and with `launch.kind` where the program shows it.
  engine::Value original;  ///< Without.
  engine::Value prior;     ///< `searcher.prior`, where it names searches or files; in `tree` it is empty
                           ///< until read_prior() puts the results there. Null: nothing to read.
  std::optional<engine::ExperimentConfig> config;
  std::optional<jobs::Program> program;  ///< Beside `config`.
  LineMap lines;                         ///< Of `original`.
  std::vector<FileProblem> problems;     ///< In order of their lines.
  std::vector<FileProblem> notes;
};

/// Loads, reads and checks. Never fails: what is wrong is in `problems`.
[[nodiscard]] ExperimentFile open_experiment_file(const std::string& path, const Overrides& overrides = {});

}  // namespace hpsearch::cli
