#include "hpsearch/workers/shell/processes/program_use.hpp"

#include <unistd.h>

#include <set>
#include <utility>

#include "hpsearch/workers/core/launch/attempt_places.hpp"
#include "hpsearch/workers/shell/processes/control_group.hpp"

namespace hpsearch::workers {

ProgramUses::ProgramUses(std::vector<ProcessInfo> all, MarkOf mark_of)
    : all_(std::move(all)), mark_of_(std::move(mark_of)) {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    by_pid_[all_[i].pid] = i;
    by_parent_[all_[i].parent].push_back(i);
    by_session_[all_[i].session].push_back(i);
  }
}

std::optional<std::string> ProgramUses::mark_in_environment(pid_t pid) {
  return started_with_value(pid, attempt_mark);
}

std::optional<ProgramUse> ProgramUses::of(const ProcessRecord& program, bool in_container) {
  const auto first = by_pid_.find(static_cast<pid_t>(program.pid));
  if (first == by_pid_.end() || all_[first->second].start_time != program.start_time ||
      all_[first->second].dead()) {
    return std::nullopt;
  }
  if (in_container) {
    return of_marked(program);
  }
  ProgramUse use;
  if (!program.group.empty()) {
    const ControlGroup group(program.group);
    use = {group.cpu_micros(), group.memory_bytes()};
  }
  if (!use.cpu_micros || !use.memory_bytes) {
    const ProgramUse found = of_tree(first->first);
    use.cpu_micros = use.cpu_micros ? use.cpu_micros : found.cpu_micros;
    use.memory_bytes = use.memory_bytes ? use.memory_bytes : found.memory_bytes;
  }
  return use;
}

ProgramUse ProgramUses::of_tree(pid_t first) const {
  std::vector<std::size_t> processes{by_pid_.at(first)};
  std::set<std::size_t> known(processes.begin(), processes.end());
  const auto add = [&](const auto& table, pid_t pid) {
    if (const auto found = table.find(pid); found != table.end()) {
      for (const std::size_t process : found->second) {
        if (known.insert(process).second) {
          processes.push_back(process);
        }
      }
    }
  };
  add(by_session_, first);
  for (std::size_t i = 0; i < processes.size(); ++i) {
    add(by_parent_, all_[processes[i]].pid);
  }
  return sum(processes);
}

/// The first process is the runtime's client, which does not train.
ProgramUse ProgramUses::of_marked(const ProcessRecord& program) {
  if (!by_mark_) {
    by_mark_.emplace();
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (std::optional<std::string> mark = mark_of_(all_[i].pid)) {
        by_mark_->emplace(*std::move(mark), i);
      }
    }
  }
  std::vector<std::size_t> processes;
  for (const std::string& mark : {program.socket, program.mark.substr(program.mark.find('=') + 1)}) {
    const auto [begin, end] = by_mark_->equal_range(mark);
    for (auto at = begin; at != end && !mark.empty(); ++at) {
      if (all_[at->second].pid != static_cast<pid_t>(program.pid)) {
        processes.push_back(at->second);
      }
    }
  }
  return processes.empty() ? ProgramUse{} : sum(processes);
}

ProgramUse ProgramUses::sum(const std::vector<std::size_t>& processes) const {
  static const auto ticks_per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  static const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::uint64_t ticks = 0;
  std::uint64_t pages = 0;
  for (const std::size_t process : processes) {
    ticks += all_[process].cpu_ticks;
    pages += all_[process].resident_pages;
  }
  return {ticks * 1'000'000 / ticks_per_second, pages * page_bytes};
}

}  // namespace hpsearch::workers
