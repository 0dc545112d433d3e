#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli/experiment/experiment_file.hpp"
#include "cli/render/output.hpp"

namespace hpsearch::cli {

/// Prints everything that is wrong with a file, one line each; returns the exit code.
[[nodiscard]] int report_problems(const ExperimentFile& file, const Output& output);

/// Prints notes about accepted fields on standard error.
void report_notes(const ExperimentFile& file, const Output& output);

/// Problems or notes as JSON: file, line, path, what, allowed.
[[nodiscard]] engine::Value to_value(const ExperimentFile& file, const std::vector<FileProblem>& problems);

/// The directory of a file.
[[nodiscard]] std::filesystem::path usual_context(const std::string& file);

/// The directory from which trials get their copies of the program: `given`, or the file's directory;
/// absolute.
[[nodiscard]] Outcome<std::string> context_directory(const std::optional<std::string>& given,
                                                     const std::string& file);

}  // namespace hpsearch::cli
