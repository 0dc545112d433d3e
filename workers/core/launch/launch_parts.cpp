#include "core/launch/launch_parts.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "hpsearch/engine/base/digits.hpp"

namespace hpsearch::workers {

using engine::SlotIndex;
using jobs::LaunchSpec;

std::size_t string_size(const std::string& name, const std::string& value) {
  return name.size() + 1 + value.size() + 1;
}

void add_hyperparameters(Variables hyperparameters, ProgramStart& program) {
  // "$PAI_HPS" names PAI_HPS, "$PAI_HPS_LR" doesn't.
  static constexpr std::string_view goes_on = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  const auto names = [&program](const std::string& variable) {
    return std::any_of(program.argv.begin(), program.argv.end(), [&](const std::string& word) {
      for (std::size_t at = word.find(variable); at != std::string::npos; at = word.find(variable, at + 1)) {
        const std::size_t end = at + variable.size();
        if (end == word.size() || goes_on.find(word[end]) == std::string_view::npos) {
          return true;
        }
      }
      return false;
    });
  };
  std::erase_if(hyperparameters, [&](const auto& one) {
    return string_size(one.first, one.second) > longest_string && !names(one.first);
  });
  program.environment.merge(std::move(hyperparameters));
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string all;
  for (const std::string& word : words) {
    all.append(all.empty() ? "" : between).append(word);
  }
  return all;
}

std::vector<std::size_t> device_slots(const LaunchSpec& spec, const LentMachine& machine) {
  std::vector<std::size_t> numbers;
  for (const SlotIndex slot : spec.slots) {
    if (slot.number() < machine.devices.size()) {
      numbers.push_back(slot.number());
    }
  }
  return numbers;
}

std::vector<std::string> slot_ids(const LaunchSpec& spec, const LentMachine& machine) {
  std::vector<std::string> ids;
  for (const std::size_t slot : device_slots(spec, machine)) {
    ids.push_back(std::to_string(slot));
  }
  return ids;
}

std::vector<std::string> device_names(const LaunchSpec& spec, const LentMachine& machine) {
  std::vector<std::string> names;
  for (const std::size_t slot : device_slots(spec, machine)) {
    if (std::find(names.begin(), names.end(), machine.devices[slot]) == names.end()) {
      names.push_back(machine.devices[slot]);
    }
  }
  if (machine.device_kind.in_order) {
    const auto number = [](const std::string& name) { return engine::number_in<std::uint64_t>(name); };
    std::sort(names.begin(), names.end(),
              [&](const std::string& a, const std::string& b) { return number(a) < number(b); });
  }
  return names;
}

std::uint64_t threads_of(const LaunchSpec& spec, const LentMachine& machine, std::uint64_t processes) {
  const std::uint64_t slots = std::max<std::uint64_t>(1, spec.slots.size());
  const std::uint64_t all = std::max<std::uint64_t>(1, machine.slots) * processes;
  return std::max<std::uint64_t>(1, machine.cores * slots / all);
}

}  // namespace hpsearch::workers
