#include <fcntl.h>
#include <linux/prctl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "hpsearch/workers/shell/files.hpp"
#include "hpsearch/workers/shell/program_log.hpp"

// hpsearch-ranks COUNT FIRST-RANK LOG-DIRECTORY -- PROGRAM [ARGUMENT …]: the processes of one attempt on one worker,
// one per slot. The first is the attempt's voice: its output is ours. What the others print goes to
// LOG-DIRECTORY/stdout.N.log and stderr.N.log, N being their number here. Started by hpsearch-shim; it has no signals
// of its own to send: whoever ends the attempt signals every process of it.

namespace hpsearch::workers {
namespace {

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;
constexpr std::uint64_t most_processes = 4096;

int fail(int status, const std::string& message) {
  std::fprintf(stderr, "hpsearch-ranks: %s\n", message.c_str());
  return status;
}

struct Process {
  pid_t pid = 0;
  bool ended = false;
};

/// One stream of a process that is not the first.
struct Stream {
  Descriptor pipe;
  ProgramLog log;
};

struct Ends {
  Descriptor read_end;
  Descriptor write_end;
};

Ends make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {};
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

[[noreturn]] void become(char** argv, std::uint64_t number, std::uint64_t first_rank, const Ends& out, const Ends& err) {
  ::signal(SIGTERM, SIG_DFL);
  ::signal(SIGPIPE, SIG_DFL);
  if (number > 0) {
    ::dup2(out.write_end.get(), STDOUT_FILENO);
    ::dup2(err.write_end.get(), STDERR_FILENO);
  }
  if (first_rank + number > 0) {
    ::unsetenv("HPSEARCH_SOCKET");  // Only rank 0 reports.
  }
  ::setenv("RANK", std::to_string(first_rank + number).c_str(), 1);
  ::setenv("LOCAL_RANK", std::to_string(number).c_str(), 1);
  ::execvp(argv[0], argv);
  const int why = errno;
  std::fprintf(stderr, "hpsearch-ranks: cannot run %s: %s\n", argv[0], std::generic_category().message(why).c_str());
  ::_exit(why == ENOENT ? 127 : 126);
}

void read_some(Stream& stream, int timeout_ms) {
  pollfd look{stream.pipe.get(), POLLIN, 0};
  while (::poll(&look, 1, timeout_ms) > 0) {
    std::array<char, 64 * 1024> piece;  // Filled by read().
    const ssize_t got = ::read(stream.pipe.get(), piece.data(), piece.size());
    if (got <= 0) {
      if (got == 0) {
        stream.pipe.reset();
      }
      return;
    }
    stream.log.append({piece.data(), static_cast<std::size_t>(got)});
    timeout_ms = 0;
  }
}

/// Exit status of the whole, or nothing while all is well and something runs.
std::optional<int> reap(std::vector<Process>& processes, std::uint64_t first_rank) {
  for (std::uint64_t number = 0; number < processes.size(); ++number) {
    Process& process = processes[number];
    int status = 0;
    if (process.ended || ::waitpid(process.pid, &status, WNOHANG) != process.pid) {
      continue;
    }
    process.ended = true;
    const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (code != 0) {  // The rest could only wait for it; our parent ends what we leave behind.
      const std::string where = number == 0 ? "" : "; its output is in stdout." + std::to_string(number) +
                                                       ".log and stderr." + std::to_string(number) + ".log";
      return fail(code, "rank " + std::to_string(first_rank + number) + " ended with " +
                            (WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                                 : "status " + std::to_string(code)) +
                            where);
    }
  }
  for (const Process& process : processes) {
    if (!process.ended) {
      return std::nullopt;
    }
  }
  return 0;
}

int run(std::uint64_t count, std::uint64_t first_rank, const std::filesystem::path& logs, char** argv) {
  // Asked to end, it waits for its processes, which were asked too.
  ::signal(SIGTERM, SIG_IGN);
  std::vector<Process> processes;
  std::vector<Stream> streams;
  for (std::uint64_t number = 0; number < count; ++number) {
    Ends out;
    Ends err;
    if (number > 0) {
      out = make_pipe();
      err = make_pipe();
      auto out_log = ProgramLog::create(logs / ("stdout." + std::to_string(number) + ".log"));
      auto err_log = ProgramLog::create(logs / ("stderr." + std::to_string(number) + ".log"));
      if (!out.read_end || !err.read_end || !out_log || !err_log) {
        return fail(exit_failed, !out_log ? out_log.error().message : !err_log ? err_log.error().message : "no more pipes");
      }
      ::fcntl(out.read_end.get(), F_SETFL, O_NONBLOCK);
      ::fcntl(err.read_end.get(), F_SETFL, O_NONBLOCK);
      streams.push_back({std::move(out.read_end), *std::move(out_log)});
      streams.push_back({std::move(err.read_end), *std::move(err_log)});
    }
    const pid_t pid = ::fork();
    if (pid < 0) {
      return fail(exit_failed, "cannot make process " + std::to_string(number));
    }
    if (pid == 0) {
      become(argv, number, first_rank, out, err);
    }
    processes.push_back({pid});
  }
  for (;;) {
    std::vector<pollfd> looks;
    for (const Stream& stream : streams) {
      if (stream.pipe) {
        looks.push_back({stream.pipe.get(), POLLIN, 0});
      }
    }
    constexpr int look_again_ms = 50;
    ::poll(looks.data(), looks.size(), look_again_ms);
    for (Stream& stream : streams) {
      if (stream.pipe) {
        read_some(stream, 0);
      }
    }
    if (const auto status = reap(processes, first_rank)) {
      for (Stream& stream : streams) {
        if (stream.pipe) {
          read_some(stream, 0);
        }
      }
      return *status;
    }
  }
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace
}  // namespace hpsearch::workers

int main(int argc, char** argv) {
  using namespace hpsearch::workers;
  const auto count = argc > 1 ? number(argv[1]) : std::nullopt;
  const auto first_rank = argc > 2 ? number(argv[2]) : std::nullopt;
  if (argc < 6 || !count || *count == 0 || *count > most_processes || !first_rank || std::string_view(argv[4]) != "--") {
    return fail(exit_usage, "usage: hpsearch-ranks COUNT FIRST-RANK LOG-DIRECTORY -- PROGRAM [ARGUMENT ...] "
                            "(hpsearch-worker starts this)");
  }
  try {
    return run(*count, *first_rank, argv[3], argv + 5);
  } catch (const std::exception& error) {
    return fail(exit_failed, error.what());
  }
}
