#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hpsearch::workers {

/// A cgroup (v2) for one program and all it starts, however they detach themselves. Where cgroups cannot be
/// made, processes are found in the system's table instead.
class ControlGroup {
 public:
  /// Makes one of that name below this process's own; nothing where that is not allowed or there is no v2.
  [[nodiscard]] static std::optional<ControlGroup> make(const std::string& name);
  /// make() would give one here and now.
  [[nodiscard]] static bool may_be_made();
  /// One that was made before.
  explicit ControlGroup(std::filesystem::path directory) : directory_(std::move(directory)) {}

  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }

  /// Moves a process in; what it starts from then on is in it too.
  [[nodiscard]] bool take(pid_t pid) const;
  /// Kills everything in it, what is being forked included.
  void kill() const;  // NOLINT(modernize-use-nodiscard)
  [[nodiscard]] std::vector<pid_t> processes() const;
  /// The kernel has killed something in it because its memory was used up.
  [[nodiscard]] bool ran_out_of_memory() const;
  /// Possible once it is empty.
  void remove() const;

 private:
  std::filesystem::path directory_;
};

}  // namespace hpsearch::workers
