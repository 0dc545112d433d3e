#pragma once

#include <chrono>

namespace hpsearch::cli {

/// While an instance lives, Ctrl-C, SIGTERM and SIGHUP (a closed terminal) are counted instead of ending the
/// process. Only one instance may exist: signals belong to the process.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  [[nodiscard]] int count() const noexcept;
};

/// Sleeps until the time is over or a signal comes.
void nap(std::chrono::milliseconds time) noexcept;

}  // namespace hpsearch::cli
