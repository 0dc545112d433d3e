#include "hpsearch/workers/shell/shim/spare_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <utility>

#include "hpsearch/workers/core/launch/spare.hpp"
#include "hpsearch/workers/shell/shim/launch_order.hpp"

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::minutes longest_imports = 5min;
constexpr std::string_view ready = "ready\n";
constexpr std::string_view begun = "begun\n";
// A ready spare only reads; the shim doesn't wait for one that was stopped.
constexpr std::chrono::milliseconds longest_give{1000};
constexpr std::size_t longest_last_words = 64 * 1024;

/// The last line of the bytes in a pipe.
std::string last_line(const Descriptor& pipe) {
  std::string text;
  std::array<char, 4096> piece;  // Filled by read().
  ssize_t got = 0;
  while (text.size() < longest_last_words && (got = ::read(pipe.get(), piece.data(), piece.size())) > 0) {
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

SpareProgram::SpareProgram(net::Loop& loop)
    : own_programs_(std::make_unique<ProgramShim>(loop)), programs_(*own_programs_) {
}

Result<std::unique_ptr<SpareProgram>> SpareProgram::start(net::Loop& loop, const AttemptDirectory& place,
                                                          OnEnd on_end) {
  Result<LaunchOrder> order = read_launch_order(place.launch());
  if (!order) {
    return order.error();
  }
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Error{Errc::unavailable, "cannot make a socket: " + error_text(errno)};
  }
  std::unique_ptr<SpareProgram> spare(new SpareProgram(loop));
  spare->conversation_ = Descriptor(ends[0]);
  const Descriptor theirs(ends[1]);
  spare->start_ = std::move(order->program);
  spare->on_end_ = std::move(on_end);
  const auto on_record = [&](const RunningProgram& program) {
    return place.write_process({.pid = program.pid,
                                .start_time = program.start_time,
                                .boot_id = boot_id(),
                                .socket = "",
                                .group = program.group,
                                .mark = spare->start_.token});
  };
  Result<RunningProgram> running = spare->programs_.start(
      spare->start_, on_record, [self = spare.get()](const ProgramEnd& end) { self->ended(end); }, &theirs);
  if (!running) {
    return running.error();
  }
  spare->running_ = *std::move(running);
  spare->running_.mark = spare->start_.token;
  spare->watch_ = loop.when_readable(spare->conversation_.get(), [self = spare.get()] { self->look(); });
  spare->patience_ = loop.after(longest_imports, [self = spare.get()] {
    self->is_late_ = true;
    self->programs_.kill(self->running_.pid);
  });
  return spare;
}

/// Its end is reported like that of every program.
void SpareProgram::look() {
  std::array<char, 64> piece;  // Filled by recv().
  const ssize_t got = ::recv(conversation_.get(), piece.data(), piece.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    return;
  }
  if (got <= 0 || heard_.size() > ready.size()) {
    watch_ = net::Watch();
    heard_ = "not understood";
    return;
  }
  heard_.append(piece.data(), static_cast<std::size_t>(got));
  if (heard_ == ready) {
    patience_ = net::Watch();
  }
}

Result<RunningProgram> SpareProgram::become(const ProgramStart& program,
                                            const ProgramShim::BeforeRun& before_run,
                                            ProgramShim::OnEnd on_end) {
  look();
  // Other processes may have its standard input, too, so a successful write isn't enough.
  const std::optional<ProcessInfo> process = process_info(running_.pid);
  if (!process || process->dead() || process->start_time != running_.start_time) {
    return Error{Errc::wrong_state, "it has ended"};
  }
  if (heard_ != ready) {
    return Error{Errc::wrong_state, "it is not ready"};
  }
  if (!fits(start_, program)) {
    return Error{Errc::wrong_state, "it was started with other arguments or variables than the attempt"};
  }
  if (const Status recorded = before_run(running_); !recorded) {
    return recorded.error();
  }
  if (const Status given = give(handed_over(program)); !given) {
    return given.error();
  }
  watch_ = net::Watch();
  conversation_.reset();
  programs_.rename(running_.pid, program.token, std::move(on_end));
  return std::move(running_);
}

Status SpareProgram::give(const std::string& text) {
  const auto until = std::chrono::steady_clock::now() + longest_give;
  const auto wait_for = [this, until](short event) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd socket{.fd = conversation_.get(), .events = event, .revents = 0};
    return left.count() > 0 && ::poll(&socket, 1, static_cast<int>(left.count())) != 0;
  };
  const Error silent{Errc::unavailable,
                     "it does not take what it is to become; somebody may have stopped it"};
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t put = ::send(conversation_.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put > 0) {
      rest.remove_prefix(static_cast<std::size_t>(put));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(POLLOUT)) {
        return silent;
      }
    } else if (errno != EINTR) {
      return Error{Errc::unavailable, "it has ended"};
    }
  }
  ::shutdown(conversation_.get(), SHUT_WR);
  // A successful write isn't enough: a socket accepts bytes without a reader.
  std::string answer;
  while (answer.size() < begun.size()) {
    std::array<char, 16> piece;  // Filled by recv().
    const ssize_t got = ::recv(conversation_.get(), piece.data(), piece.size(), MSG_DONTWAIT);
    if (got > 0) {
      answer.append(piece.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
      return Error{Errc::unavailable, "it has ended"};
    } else if (!wait_for(POLLIN)) {
      return silent;
    }
  }
  return answer == begun ? Status(engine::Done{})
                         : Status(Error{Errc::wrong_state, "it answers what is not understood"});
}

void SpareProgram::kill(std::function<void()> on_killed) {
  on_end_ = {};
  on_killed_ = std::move(on_killed);
  programs_.kill(running_.pid);
}

void SpareProgram::ended(const ProgramEnd& end) {
  watch_ = net::Watch();
  patience_ = net::Watch();
  if (on_killed_) {
    on_killed_();
  } else if (const OnEnd on_end = std::move(on_end_)) {  // It may try to kill it, which has no effect.
    const std::string said = last_line(running_.err);
    const std::string how = is_late_        ? "its imports took more than 5 minutes"
                            : end.by_signal ? "signal " + std::to_string(end.code)
                                            : "exit status " + std::to_string(end.code);
    on_end(how + (said.empty() ? "" : ": " + said));
  }
}

}  // namespace hpsearch::workers
