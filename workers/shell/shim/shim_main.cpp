#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/workers/shell/shim/shim.hpp"
#include "hpsearch/workers/shell/shim/waiting_shim.hpp"

// hpsearch-shim ATTEMPT-DIRECTORY: runs one attempt's program, even if the worker that started it
// ends. Started by hpsearch-worker, with a connection to it as standard input.
//
// hpsearch-shim --ahead SPARE-DIRECTORY: runs a spare, until the worker names its attempt.

namespace hpsearch::workers {
namespace {

constexpr int exit_ok = 0;
constexpr int exit_failed = 1;
constexpr int exit_usage = 2;

int fail(int status, const std::string& message) {
  std::fprintf(stderr, "hpsearch-shim: %s\n", message.c_str());
  return status;
}

/// Writes this process's log there from now on.
void log_into(const AttemptDirectory& attempt) {
  const std::string path = (attempt.root() / "shim.log").string();
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (file) {
    ::dup2(file.get(), STDERR_FILENO);
    ::dup2(file.get(), STDOUT_FILENO);
  }
}

int run(const char* directory, bool ahead) {
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  // It ends after its program, not when a terminal closes or a service stops.
  for (const int number : {SIGPIPE, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2}) {
    ::signal(number, SIG_IGN);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::chdir("/") != 0) {
    return fail(exit_failed, "cannot enter /");
  }
  Descriptor agent(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  const Descriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!agent || !null || ::dup2(null.get(), STDIN_FILENO) < 0) {
    return fail(exit_usage, "standard input must be a connection to hpsearch-worker, which starts this");
  }
  net::Loop loop;
  if (ahead) {
    WaitingShim waiting(loop, AttemptDirectory(directory), std::move(agent), log_into,
                        [&loop] { loop.stop(); });
    if (const engine::Status started = waiting.start(); !started) {
      return fail(exit_failed, started.error().message);
    }
    loop.run();
    return exit_ok;
  }
  Shim shim(loop, AttemptDirectory(directory), [&loop] { loop.stop(); });
  if (const engine::Status started = shim.start(std::move(agent)); !started) {
    return fail(exit_failed, started.error().message);
  }
  loop.run();
  return exit_ok;
}

}  // namespace
}  // namespace hpsearch::workers

int main(int argc, char** argv) {
  using namespace hpsearch::workers;
  const bool ahead = argc == 3 && std::string_view(argv[1]) == "--ahead";
  if ((argc != 2 && !ahead) || argv[argc - 1][0] != '/') {
    return fail(exit_usage,
                "usage: hpsearch-shim [--ahead] DIRECTORY (absolute; hpsearch-worker starts this)");
  }
  try {
    return run(argv[argc - 1], ahead);
  } catch (const std::exception& error) {
    return fail(exit_failed, error.what());
  }
}
