#pragma once

#include <chrono>

namespace hpsearch::cli {

/// While one lives, Ctrl-C, SIGTERM and SIGHUP (a closed terminal) are counted instead of ending us.
/// One at a time: signals belong to the process.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  [[nodiscard]] int count() const noexcept;
};

/// Sleeps, but not through a signal.
void nap(std::chrono::milliseconds time) noexcept;

}  // namespace hpsearch::cli
