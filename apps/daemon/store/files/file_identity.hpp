#pragma once

#include <cstdint>

namespace hpsearch::daemon {

/// Identifies a file independent of its name.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t file = 0;
  friend bool operator==(FileIdentity, FileIdentity) = default;
};

}  // namespace hpsearch::daemon
