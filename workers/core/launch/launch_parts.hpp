#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/jobs/launch/launch_spec.hpp"
#include "hpsearch/workers/core/launch/launch_environment.hpp"

namespace hpsearch::workers {

// Functions that plan_launch and its adapters share.

using Variables = std::map<std::string, std::string>;

// The kernel's limit for one argument or one NAME=VALUE, with its zero byte (MAX_ARG_STRLEN).
inline constexpr std::size_t longest_string = std::size_t{128} * 1024;

/// The bytes of NAME=VALUE, with its zero byte.
[[nodiscard]] std::size_t string_size(const std::string& name, const std::string& value);

/// Adds the hyperparameters that fit into one variable each, and those that the program's arguments name: for
/// these the launch fails if they don't fit. A quote takes five bytes in PAI_USER_ARGS, a letter up to twelve
/// in PAI_HPS; a program that doesn't read such a variable must not fail. Variables that are set stay.
void add_hyperparameters(Variables hyperparameters, ProgramStart& program);

[[nodiscard]] std::string joined(const std::vector<std::string>& words, std::string_view between = ",");

/// The numbers of the slots that are devices; none on the processors.
[[nodiscard]] std::vector<std::size_t> device_slots(const jobs::LaunchSpec& spec, const LentMachine& machine);

/// The same numbers as texts.
[[nodiscard]] std::vector<std::string> slot_ids(const jobs::LaunchSpec& spec, const LentMachine& machine);

/// The devices of these slots without duplicates: several slots may share one.
[[nodiscard]] std::vector<std::string> device_names(const jobs::LaunchSpec& spec, const LentMachine& machine);

/// The share of the machine's cores that each of the attempt's `processes` has.
[[nodiscard]] std::uint64_t threads_of(const jobs::LaunchSpec& spec, const LentMachine& machine,
                                       std::uint64_t processes);

}  // namespace hpsearch::workers
