#include "hpsearch/workers/shell/init_process.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace hpsearch::workers {
namespace {

constexpr std::array handed_on{SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2};

/// Reaps until the worker has ended; returns its exit code.
int reap_until_end_of(pid_t worker, const sigset_t& awaited) {
  while (true) {
    int signal = 0;
    if (::sigwait(&awaited, &signal) != 0) {
      continue;
    }
    if (signal != SIGCHLD) {
      ::kill(worker, signal);
      continue;
    }
    int status = 0;
    for (pid_t ended = ::waitpid(-1, &status, WNOHANG); ended > 0; ended = ::waitpid(-1, &status, WNOHANG)) {
      if (ended == worker) {
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
    }
  }
}

}  // namespace

void become_init_if_first() {
  if (::getpid() != 1) {
    return;
  }
  sigset_t awaited;
  sigset_t before;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGCHLD);
  for (const int signal : handed_on) {
    sigaddset(&awaited, signal);
  }
  ::sigprocmask(SIG_BLOCK, &awaited, &before);
  const pid_t worker = ::fork();
  if (worker <= 0) {  // The child; or there was no room for one, and the worker runs without an init.
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return;
  }
  ::_exit(reap_until_end_of(worker, awaited));
}

}  // namespace hpsearch::workers
