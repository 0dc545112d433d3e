#include "hpsearch/workers/shell/devices/device_watch.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/workers/shell/devices/tool.hpp"

namespace hpsearch::workers {

namespace {

// A process that has answered, or was killed, exits shortly afterwards unless the driver blocks it.
constexpr std::chrono::milliseconds time_to_go{2'000};
constexpr std::chrono::milliseconds retry_after{10};
constexpr std::size_t longest_report = std::size_t{4} * 1024 * 1024;

std::string seconds(std::chrono::milliseconds time) {
  const auto whole = time.count() / 1000;
  return whole > 0 ? std::to_string(whole) + " s" : std::to_string(time.count()) + " ms";
}

DeviceReport problem(std::string why) {
  DeviceReport report;
  report.problem = std::move(why);
  return report;
}

}  // namespace

DeviceWatch::DeviceWatch(net::Loop& loop, DeviceLook look) : loop_(loop), look_(std::move(look)) {
}

DeviceWatch::~DeviceWatch() {
  if (child_ > 0) {
    ::kill(-child_, SIGKILL);  // Its next parent reaps it if the driver ever releases it.
    ::waitpid(child_, nullptr, WNOHANG);
  }
}

void DeviceWatch::ask(Answer answer) {
  if (!asking_.empty()) {
    next_.push_back(std::move(answer));
    return;
  }
  asking_.push_back(std::move(answer));
  start();
}

bool DeviceWatch::still_hangs() {
  if (hanging_ > 0 && ::waitpid(hanging_, nullptr, WNOHANG) != 0) {
    hanging_ = 0;
  }
  return hanging_ > 0;
}

void DeviceWatch::start() {
  if (still_hangs()) {
    if (std::chrono::steady_clock::now() - hanging_since_ < time_to_go) {
      soon_ = loop_.after(retry_after, [this] { start(); });
      return;
    }
    answer_soon(
        problem("the driver does not answer, and process " + std::to_string(hanging_) + " hangs in it"));
    return;
  }
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    answer_soon(problem("cannot make a pipe: " + error_text(errno)));
    return;
  }
  out_ = Descriptor(ends[0]);
  const Descriptor write_end(ends[1]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  text_.clear();
  child_ = spawn_tool(look_.command, ends[1], true);
  if (child_ <= 0) {
    child_ = 0;
    answer_soon(problem("cannot start " + look_.command.front() + " to ask the driver"));
    return;
  }
  readable_ = loop_.when_readable(ends[0], [this] { read(); });
  deadline_ = loop_.after(look_.deadline, [this] {
    ::kill(-child_, SIGKILL);
    let_go();
    finish(problem("the driver did not answer within " + seconds(look_.deadline)));
  });
}

/// The current process isn't needed any more, whether it has exited or not.
void DeviceWatch::let_go() {
  if (::waitpid(child_, nullptr, WNOHANG) == 0) {
    hanging_ = child_;
    hanging_since_ = std::chrono::steady_clock::now();
  }
  child_ = 0;
}

void DeviceWatch::read() {
  std::array<char, 16384> part{};
  for (;;) {
    const ssize_t got = ::read(out_.get(), part.data(), part.size());
    if (got > 0 && text_.size() <= longest_report) {
      text_.append(part.data(), static_cast<std::size_t>(got));
    } else if (got == 0) {
      break;
    } else if (got < 0 && errno != EINTR) {
      return;  // More comes later.
    }
  }
  // It has closed its output, so it ends; if the driver blocks it nevertheless, it counts as hanging.
  let_go();
  const engine::Result<engine::Value> value = proto::parse_json(text_);
  engine::Result<DeviceReport> report = value ? device_report_from(*value) : value.error();
  finish(report ? *std::move(report)
                : problem("asking the driver gave nothing readable: " + report.error().message));
}

void DeviceWatch::answer_soon(DeviceReport report) {
  soon_ = loop_.after(std::chrono::microseconds(0), [this, report = std::move(report)] { finish(report); });
}

void DeviceWatch::finish(DeviceReport report) {
  readable_ = net::Watch();
  deadline_ = net::Watch();
  out_ = Descriptor();
  const std::vector<Answer> answers = std::exchange(asking_, std::exchange(next_, {}));
  if (!asking_.empty()) {
    start();
  }
  for (const Answer& answer : answers) {
    answer(report);
  }
}

DeviceReport look_once(const DeviceLook& look) {
  net::Loop loop;
  DeviceReport seen;
  DeviceWatch watch(loop, look);
  watch.ask([&](const DeviceReport& report) {
    seen = report;
    loop.stop();
  });
  loop.run();
  return seen;
}

}  // namespace hpsearch::workers
