#include "cli/client/interrupts.hpp"

#include <poll.h>
#include <signal.h>

namespace hpsearch::cli {
namespace {

volatile sig_atomic_t interrupts = 0;

void count_interrupt(int /*number*/) {
  interrupts = interrupts + 1;
}

void on_interrupts(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  ::sigemptyset(&action.sa_mask);  // Without SA_RESTART a signal ends nap() early.
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    ::sigaction(number, &action, nullptr);
  }
}

}  // namespace

Interrupts::Interrupts() {
  interrupts = 0;
  on_interrupts(count_interrupt);
}

Interrupts::~Interrupts() {
  on_interrupts(SIG_DFL);
}

int Interrupts::count() const noexcept {
  return interrupts;
}

void nap(std::chrono::milliseconds time) noexcept {
  ::poll(nullptr, 0, static_cast<int>(time.count()));
}

}  // namespace hpsearch::cli
