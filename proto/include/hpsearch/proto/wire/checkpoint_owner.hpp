#pragma once

#include <cstdint>
#include <string>

namespace hpsearch::proto {

// Whose checkpoints lie in ROOT/EXPERIMENT: every store numbers its experiments from 1, and two may be given
// one ROOT.

inline constexpr const char* checkpoint_owner_name = ".hpsearch-store.json";

/// What that file holds.
[[nodiscard]] inline std::string checkpoint_owner(std::uint64_t store) {
  return "{\"store\":\"" + std::to_string(store) + "\"}\n";
}

/// A sentence's end about a directory whose file says something else.
[[nodiscard]] inline std::string of_another_owner(const std::string& found, std::uint64_t store) {
  return " holds checkpoints of another store (its " + std::string(checkpoint_owner_name) + " says " +
         found.substr(0, found.find('\n')) + ", this store is " + std::to_string(store) + ")";
}

}  // namespace hpsearch::proto
