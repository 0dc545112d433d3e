#pragma once

#include <cstdint>
#include <string>

namespace hpsearch::proto {

// The owner of the checkpoints in ROOT/EXPERIMENT: every store numbers its experiments from 1, and two stores
// may have the same ROOT.

inline constexpr const char* checkpoint_owner_name = ".hpsearch-store.json";

/// The content of that file.
[[nodiscard]] inline std::string checkpoint_owner(std::uint64_t store) {
  return "{\"store\":\"" + std::to_string(store) + "\"}\n";
}

/// The end of a sentence about a directory whose file has other content.
[[nodiscard]] inline std::string of_another_owner(const std::string& found, std::uint64_t store) {
  return " holds checkpoints of another store (its " + std::string(checkpoint_owner_name) + " says " +
         found.substr(0, found.find('\n')) + ", this store is " + std::to_string(store) + ")";
}

}  // namespace hpsearch::proto
