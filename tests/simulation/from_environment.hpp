#pragma once

#include <cstdint>
#include <cstdlib>

namespace hpsearch::simulation {

/// The number in the environment variable, or `otherwise`.
inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace hpsearch::simulation
