#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "imports/draft.hpp"
#include "imports/trial_job.hpp"

namespace hpsearch::jobs {

/// How values of hyperparameters reach the program in a foreign file.
struct TrialValues {
  /// A text of the file in the form of an entrypoint: with our placeholders, and other braces escaped.
  std::function<std::string(std::string_view)> text;
  /// Variables that the platform sets, by name, in the same form.
  std::map<std::string, std::string> variables;
};

/// Sets entrypoint, environment, resources and launch from the job of a trial, and its pod template. What an
/// experiment can't express becomes a remark. Returns the words of the command as they are in the entrypoint.
std::vector<std::string> read_trial_program(const TrialJob& job, const TrialValues& values, Draft& draft);

}  // namespace hpsearch::jobs
