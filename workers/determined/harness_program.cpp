#include "hpsearch/workers/determined/harness_program.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <string_view>

#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/workers/determined/harness_host.hpp"

// hpsearch-determined: the program of an attempt that needs the Determined harness. Everything it
// needs is in the environment that hpsearch-worker sets; it ends with the harness's status.

namespace hpsearch::workers {
namespace {

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;

int fail(int status, const std::string& message) {
  std::fprintf(stderr, "hpsearch-determined: %s\n", message.c_str());
  return status;
}

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> variables;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view assignment = *at;
    const std::size_t equals = assignment.find('=');
    if (equals != std::string_view::npos && equals > 0) {
      variables.emplace(assignment.substr(0, equals), assignment.substr(equals + 1));
    }
  }
  return variables;
}

int run() {
  net::Loop loop;
  HarnessEnd end;
  // A signal to the attempt reaches all its processes; this one stays until the harness has exited.
  const net::Watch asked = loop.on_signals({SIGTERM, SIGINT, SIGHUP}, [](int) {});
  HarnessHost host(loop, own_environment(), [&](HarnessEnd how) {
    end = how;
    loop.stop();
  });
  if (const engine::Status started = host.start(); !started) {
    return fail(exit_failed, started.error().message);
  }
  loop.run();
  if (end.by_signal) {
    ::signal(end.code, SIG_DFL);
    ::raise(end.code);
  }
  return end.by_signal ? exit_failed : end.code;
}

}  // namespace

int run_harness_program(int argc) {
  if (argc != 1) {
    return fail(exit_usage,
                "hpsearch-worker starts this, for trials whose entrypoint needs the Determined harness");
  }
  try {
    return run();
  } catch (const std::exception& error) {
    return fail(exit_failed, error.what());
  }
}

}  // namespace hpsearch::workers
