#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hpsearch::workers {

/// A cgroup (v2) for one program and all its descendants, even detached ones. If cgroups can't be
/// made, processes are found in the process table instead.
class ControlGroup {
 public:
  /// Makes one with that name below this process's own; nothing if that isn't allowed or there is no v2.
  [[nodiscard]] static std::optional<ControlGroup> make(const std::string& name);
  /// Whether make() would succeed now.
  [[nodiscard]] static bool may_be_made();
  /// One that already exists.
  explicit ControlGroup(std::filesystem::path directory) : directory_(std::move(directory)) {}

  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }

  /// Moves a process in; its later children are in it, too.
  [[nodiscard]] bool take(pid_t pid) const;
  /// Kills all processes in it, even those that are being forked.
  void kill() const;  // NOLINT(modernize-use-nodiscard)
  [[nodiscard]] std::vector<pid_t> processes() const;
  /// Whether the kernel has killed a process in it for lack of memory.
  [[nodiscard]] bool ran_out_of_memory() const;
  /// Processor time of all processes that were ever in it.
  [[nodiscard]] std::optional<std::uint64_t> cpu_micros() const;
  /// Its memory without file cache that nothing has used lately; nothing if the kernel doesn't account it.
  [[nodiscard]] std::optional<std::uint64_t> memory_bytes() const;
  /// Only possible if it is empty.
  void remove() const;

 private:
  std::filesystem::path directory_;
};

}  // namespace hpsearch::workers
