#include "hpsearch/workers/shell/shim/spare_shims.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string_view>
#include <utility>

#include "hpsearch/io/net/log.hpp"
#include "hpsearch/workers/core/launch/attempt_places.hpp"
#include "hpsearch/workers/core/launch/spare.hpp"
#include "hpsearch/workers/shell/processes/process_table.hpp"
#include "hpsearch/workers/shell/shim/launch_order.hpp"

namespace hpsearch::workers {

using engine::AttemptKey;
using engine::Result;
using engine::Status;
using namespace std::chrono_literals;

namespace {

// The start of the current attempt has priority.
constexpr std::chrono::milliseconds start_after = 50ms;
constexpr std::chrono::minutes longest_idle = 1min;

bool is_stopped(const StartedShim& shim) {
  const auto process = process_info(shim.pid);
  return process && process->parent == ::getpid() && process->stopped();
}

/// Whether the shim is silent: it sends something only when its spare has ended.
bool is_waiting(const StartedShim& shim) {
  char byte = 0;
  const bool is_connected = static_cast<bool>(shim.connection);
  return is_connected && !is_stopped(shim) &&
         ::recv(shim.connection.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
         (errno == EAGAIN || errno == EWOULDBLOCK);
}

/// A stopped shim doesn't notice that its connection is closed. Its spare ends with it.
void end_stopped(const StartedShim& shim) {
  if (shim.connection && is_stopped(shim)) {
    ::kill(shim.pid, SIGKILL);
  }
}

bool overlap(const std::vector<engine::SlotIndex>& some, const std::vector<engine::SlotIndex>& others) {
  return std::find_first_of(some.begin(), some.end(), others.begin(), others.end()) != some.end();
}

}  // namespace

SpareShims::SpareShims(net::Loop& loop, std::filesystem::path directory, std::uint64_t start,
                       std::filesystem::path shim, OnShim on_shim)
    : loop_(loop),
      directory_(std::move(directory)),
      prefix_(std::to_string(start) + "-"),
      shim_(std::move(shim)),
      on_shim_(std::move(on_shim)) {
}

std::optional<SpareShims::Taken> SpareShims::take(const jobs::LaunchSpec& spec, const ProgramStart& program) {
  std::optional<Taken> taken;
  for (auto spare = spares_.begin(); spare != spares_.end();) {
    if (!overlap(spare->slots, spec.slots)) {
      ++spare;
      continue;
    }
    const bool is_started = static_cast<bool>(spare->shim.connection);
    const bool is_for_it = spare->after.experiment == spec.key.experiment && spare->slots == spec.slots;
    const bool does_fit = is_for_it && fits(spare->start, program);
    if (does_fit && is_waiting(spare->shim)) {
      taken = Taken{std::move(spare->shim), spare->start.token};
    } else if (is_started && is_for_it) {
      without_.insert(spec.key.experiment);
    }
    end_stopped(spare->shim);  // The taken one is no longer in the list.
    spare = spares_.erase(spare);
  }
  return taken;
}

void SpareShims::attempt_started(const jobs::LaunchSpec& spec, const ProgramStart& program) {
  std::optional<ProgramStart> start = spare_after(spec, program);
  if (stopped_ || !start || without_.contains(spec.key.experiment)) {
    return;
  }
  const auto spare = spares_.emplace(spares_.end());
  spare->after = spec.key;
  spare->slots = spec.slots;
  spare->start = *std::move(start);
  spare->soon = loop_.after(start_after, [this, spare] { this->start(spare); });
}

void SpareShims::start(Spares::iterator spare) {
  const AttemptDirectory place(directory_ / (prefix_ + std::to_string(++count_)));
  const std::string mark = place.root().string();
  spare->start.environment[std::string(attempt_mark)] = mark;
  spare->start.token = std::string(attempt_mark) + "=" + mark;
  LaunchOrder order;
  order.program = spare->start;
  Status ready = make_private_directory(place.root());
  ready = ready ? write_launch_order(place.launch(), order) : ready;
  Result<StartedShim> shim = ready ? start_shim(shim_, {"--ahead", mark}, place.root() / "shim.log")
                                   : Result<StartedShim>(ready.error());
  if (!shim) {
    net::log(net::Level::warning, "no spare was started: " + shim.error().message);
    without_.insert(spare->after.experiment);
    spares_.erase(spare);
    return;
  }
  on_shim_(shim->pid);
  spare->shim = *std::move(shim);
  spare->watch = loop_.when_readable(spare->shim.connection.get(), [this, spare] { read(spare); });
}

void SpareShims::read(Spares::iterator spare) {
  std::array<char, 4096> piece;  // Filled by recv().
  const ssize_t got = ::recv(spare->shim.connection.get(), piece.data(), piece.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    return;
  }
  const auto messages =
      spare->messages.feed({piece.data(), static_cast<std::size_t>(std::max<ssize_t>(0, got))});
  if (got > 0 && messages) {
    for (const ToAgent& message : *messages) {
      if (const auto* ended = std::get_if<SpareEnded>(&message)) {
        spare->why_ended = ended->why;
      }
    }
    return;
  }
  const std::string& why = spare->why_ended;
  net::log(net::Level::warning,
           "experiment " + std::to_string(spare->after.experiment.number()) +
               ": the interpreter that imports its packages ahead of trials has ended (" +
               (why.empty() ? "hpsearch-shim has died" : why) +
               "); trials start without it, and import these packages themselves");
  without_.insert(spare->after.experiment);
  spares_.erase(spare);
}

void SpareShims::attempt_ended(const AttemptKey& key) {
  for (auto spare = spares_.begin(); spare != spares_.end(); ++spare) {
    if (spare->after == key && !spare->idle) {
      spare->idle = loop_.after(longest_idle, [this, spare] {
        end_stopped(spare->shim);
        spares_.erase(spare);
      });
    }
  }
}

void SpareShims::stop() {
  stopped_ = true;
  for (const Spare& spare : spares_) {
    end_stopped(spare.shim);
  }
  spares_.clear();
}

}  // namespace hpsearch::workers
