#pragma once

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace hpsearch {

/// Descriptors that programs started meanwhile have too, unless somebody sees to it that they have not.
class InheritableDescriptor {
 public:
  InheritableDescriptor() {
    if (::pipe(ends_.data()) != 0) {  // NOLINT(android-cloexec-pipe): that is what it is for.
      std::abort();
    }
  }
  InheritableDescriptor(const InheritableDescriptor&) = delete;
  InheritableDescriptor& operator=(const InheritableDescriptor&) = delete;
  ~InheritableDescriptor() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }

  /// As /proc/PID/fd has it.
  [[nodiscard]] std::string name() const {
    return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(ends_[0])).string();
  }

  /// A shell script that writes the names of all that it has open into a file.
  static std::string script(const std::string& into) {
    return "#!/bin/sh\nreadlink /proc/$$/fd/* > " + into + "\nexit 0\n";
  }

 private:
  std::array<int, 2> ends_{};
};

}  // namespace hpsearch
