#include "hpsearch/workers/core/launch/spare.hpp"

#include <algorithm>

#include "core/launch/launch_parts.hpp"
#include "hpsearch/jobs/fields/preload.hpp"
#include "hpsearch/workers/core/launch/launch_environment.hpp"

namespace hpsearch::workers {

using jobs::LaunchSpec;

namespace {

/// Variables that are the same for all programs of one experiment in a slot.
std::map<std::string, std::string> lasting(std::map<std::string, std::string> environment) {
  std::erase_if(environment, [](const auto& variable) { return is_identity_variable(variable.first); });
  return environment;
}

bool is_function(const ProgramStart& program) {
  return jobs::runs_function(program.argv) && !program.terminal;
}

}  // namespace

std::optional<ProgramStart> spare_after(const LaunchSpec& spec, const ProgramStart& program) {
  if (spec.preload.empty() || spec.slots.empty() || !is_function(program)) {
    return std::nullopt;
  }
  ProgramStart spare = program;
  spare.environment = lasting(std::move(spare.environment));
  spare.environment[preload_variable] = joined(spec.preload);
  spare.environment[std::string(spare_variable)] = "1";
  spare.directory = "/";
  spare.token.clear();
  return spare;
}

bool fits(const ProgramStart& spare, const ProgramStart& program) {
  const auto wanted = program.environment.find(preload_variable);
  if (!is_function(program) || wanted == program.environment.end() ||
      spare.environment.at(preload_variable) != wanted->second ||
      lasting(spare.environment) != lasting(program.environment)) {
    return false;
  }
  ProgramStart become = spare;  // Everything else is the same.
  become.environment = program.environment;
  become.directory = program.directory;
  become.token = program.token;
  return become == program;
}

std::string handed_over(const ProgramStart& program) {
  std::string text = program.directory + '\0';
  for (const auto& [name, value] : program.environment) {
    text.append(name).append("=").append(value).push_back('\0');
  }
  return text;
}

}  // namespace hpsearch::workers
