#pragma once

namespace hpsearch::engine {

/// Prints where and why to stderr, then aborts. Behind HPSEARCH_CHECK; never returns.
[[noreturn]] void check_failed(const char* expression, const char* why, const char* file, int line) noexcept;

}  // namespace hpsearch::engine

/// A promise that only our own bug can break; kept in release builds too. What callers or the world can get
/// wrong is a Result instead.
#define HPSEARCH_CHECK(expression, why)                                       \
  do {                                                                        \
    if (!(expression)) {                                                      \
      ::hpsearch::engine::check_failed(#expression, why, __FILE__, __LINE__); \
    }                                                                         \
  } while (false)
