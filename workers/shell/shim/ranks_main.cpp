#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "hpsearch/workers/shell/files.hpp"
#include "hpsearch/workers/shell/shim/program_log.hpp"

// hpsearch-ranks COUNT FIRST-RANK LOG-DIRECTORY -- PROGRAM [ARGUMENT …]: the processes of one attempt on one
// worker, one per slot. The output of the first is this program's output. The others' output goes to
// LOG-DIRECTORY/stdout.N.log and stderr.N.log, N being their number here. Started by hpsearch-shim. The end
// of the attempt is signaled to every process; only a checkpoint signal comes to this process alone, which
// forwards it.

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

/// A stream of a process that is not the first.
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

[[noreturn]] void become(char** argv, std::uint64_t number, std::uint64_t first_rank, const Ends& out,
                         const Ends& err) {
  for (const int signal : {SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2}) {
    ::signal(signal, SIG_DFL);
  }
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
  std::fprintf(stderr, "hpsearch-ranks: cannot run %s: %s\n", argv[0],
               std::generic_category().message(why).c_str());
  ::_exit(why == ENOENT ? 127 : 126);
}

/// Reads what is available, but with a limit: a process that writes continuously must not hide the end of
/// another.
void read_some(Stream& stream) {
  constexpr int most_pieces = 64;
  for (int pieces = 0; stream.pipe && pieces < most_pieces; ++pieces) {
    std::array<char, 64 * 1024> piece;  // Filled by read().
    const ssize_t got = ::read(stream.pipe.get(), piece.data(), piece.size());
    if (got > 0) {
      stream.log.append({piece.data(), static_cast<std::size_t>(got)});
      continue;
    }
    if (got == 0) {
      stream.pipe.reset();
    }
    return;
  }
}

/// Writes to our standard error, which is the attempt's: the last output of a failed process.
void show_end(const std::filesystem::path& logs, std::uint64_t number) {
  constexpr std::uint64_t most_shown = 16 * 1024;
  const auto directory = files::Directory::open(logs);
  for (const char* stream : {"stderr", "stdout"}) {
    const std::string name = AttemptDirectory(logs).log(stream, number).filename();
    const auto end = directory ? read_log(*directory, name, 0, most_shown, true) : directory.error();
    if (end && !end->text.empty()) {
      std::fprintf(stderr, "hpsearch-ranks: the end of its %s:\n%s%s", stream, end->text.c_str(),
                   end->text.ends_with('\n') ? "" : "\n");
      return;
    }
  }
}

/// The end of all processes.
struct Ending {
  int status = 0;
  std::optional<std::uint64_t> failed{};  ///< The process that failed.
};

/// Nothing while no process has failed and some run.
std::optional<Ending> reap(std::vector<Process>& processes, std::uint64_t first_rank) {
  for (std::uint64_t number = 0; number < processes.size(); ++number) {
    Process& process = processes[number];
    int status = 0;
    if (process.ended || ::waitpid(process.pid, &status, WNOHANG) != process.pid) {
      continue;
    }
    process.ended = true;
    const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (code != 0) {  // The rest could only wait for it; our parent ends the remaining processes.
      fail(code, "rank " + std::to_string(first_rank + number) + " ended with " +
                     (WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                          : "status " + std::to_string(code)));
      return Ending{code, number};
    }
  }
  for (const Process& process : processes) {
    if (!process.ended) {
      return std::nullopt;
    }
  }
  return Ending{};
}

volatile std::sig_atomic_t checkpoint_signal = 0;

int run(std::uint64_t count, std::uint64_t first_rank, const std::filesystem::path& logs, char** argv) {
  // When the attempt is ended, it waits for its processes, which got the signal, too.
  ::signal(SIGTERM, SIG_IGN);
  for (const int signal : {SIGUSR1, SIGUSR2}) {
    ::signal(signal, [](int came) { checkpoint_signal = came; });
  }
  std::vector<Process> processes;
  std::vector<Stream> streams;
  for (std::uint64_t number = 0; number < count; ++number) {
    Ends out;
    Ends err;
    if (number > 0) {
      out = make_pipe();
      err = make_pipe();
      auto out_log = ProgramLog::create(AttemptDirectory(logs).log("stdout", number));
      auto err_log = ProgramLog::create(AttemptDirectory(logs).log("stderr", number));
      if (!out.read_end || !err.read_end || !out_log || !err_log) {
        return fail(exit_failed, !out_log   ? out_log.error().message
                                 : !err_log ? err_log.error().message
                                            : "no more pipes");
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
    if (const int signal = checkpoint_signal; signal != 0) {
      checkpoint_signal = 0;
      for (const Process& process : processes) {
        if (!process.ended) {
          ::kill(process.pid, signal);
        }
      }
    }
    for (Stream& stream : streams) {
      read_some(stream);
    }
    if (const auto ending = reap(processes, first_rank)) {
      for (Stream& stream : streams) {
        read_some(stream);
      }
      streams.clear();  // Their logs are complete now.
      if (ending->failed.value_or(0) > 0) {
        show_end(logs, *ending->failed);
      }
      return ending->status;
    }
  }
}

}  // namespace
}  // namespace hpsearch::workers

int main(int argc, char** argv) {
  using namespace hpsearch::workers;
  const auto count = argc > 1 ? hpsearch::engine::number_in<std::uint64_t>(argv[1]) : std::nullopt;
  const auto first_rank = argc > 2 ? hpsearch::engine::number_in<std::uint64_t>(argv[2]) : std::nullopt;
  if (argc < 6 || !count || *count == 0 || *count > most_processes || !first_rank ||
      std::string_view(argv[4]) != "--") {
    return fail(exit_usage,
                "usage: hpsearch-ranks COUNT FIRST-RANK LOG-DIRECTORY -- PROGRAM [ARGUMENT ...] "
                "(hpsearch-worker starts this)");
  }
  try {
    return run(*count, *first_rank, argv[3], argv + 5);
  } catch (const std::exception& error) {
    return fail(exit_failed, error.what());
  }
}
