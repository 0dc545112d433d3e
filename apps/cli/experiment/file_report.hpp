#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli/experiment/experiment_file.hpp"
#include "cli/render/output.hpp"

namespace hpsearch::cli {

/// Says everything that is wrong with a file, one line each; returns what the program ends with.
[[nodiscard]] int report_problems(const ExperimentFile& file, const Output& output);

/// Says, on standard error, what was accepted but is worth knowing.
void report_notes(const ExperimentFile& file, const Output& output);

/// Problems or notes as JSON: file, line, path, what, allowed.
[[nodiscard]] engine::Value to_value(const ExperimentFile& file, const std::vector<FileProblem>& problems);

/// The directory a file is in.
[[nodiscard]] std::filesystem::path usual_context(const std::string& file);

/// Where each trial's copy of the program comes from: `given`, or the directory the file is in; absolute.
[[nodiscard]] Outcome<std::string> context_directory(const std::optional<std::string>& given,
                                                     const std::string& file);

}  // namespace hpsearch::cli
