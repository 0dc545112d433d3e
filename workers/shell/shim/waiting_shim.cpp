#include "hpsearch/workers/shell/shim/waiting_shim.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <variant>

#include "hpsearch/io/files/tree.hpp"
#include "hpsearch/io/net/log.hpp"

namespace hpsearch::workers {

using engine::Result;
using engine::Status;

WaitingShim::WaitingShim(net::Loop& loop, AttemptDirectory place, Descriptor agent, OnAttempt on_attempt,
                         OnEnd on_end)
    : loop_(loop),
      place_(std::move(place)),
      agent_(std::move(agent)),
      on_attempt_(std::move(on_attempt)),
      on_end_(std::move(on_end)) {
}

Status WaitingShim::start() {
  Result<std::unique_ptr<SpareProgram>> spare =
      SpareProgram::start(loop_, place_, [this](const std::string& why) { spare_ended(why); });
  if (!spare) {
    remove_place();
    return spare.error();
  }
  spare_ = *std::move(spare);
  agent_watch_ = loop_.when_readable(agent_.get(), [this] { read_agent(); });
  return engine::Done{};
}

/// Reads only the first message: later ones are for the attempt's Shim.
void WaitingShim::read_agent() {
  for (;;) {
    std::array<char, 4096> piece;  // Filled by recv().
    const std::size_t wanted = std::min(piece.size(), messages_.missing());
    const ssize_t got = ::recv(agent_.get(), piece.data(), wanted, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
      return;
    }
    const auto messages = messages_.feed({piece.data(), static_cast<std::size_t>(std::max<ssize_t>(0, got))});
    const RunAttempt* order =
        messages && !messages->empty() ? std::get_if<RunAttempt>(&messages->front()) : nullptr;
    if (order != nullptr) {
      return run(order->directory);
    }
    if (got <= 0 || !messages || !messages->empty()) {
      return end_spare();
    }
  }
}

/// The spare's record is removed first: from now on, it is found by the attempt's.
void WaitingShim::run(const std::string& directory) {
  agent_watch_ = net::Watch();
  remove_place();
  const AttemptDirectory attempt{std::filesystem::path(directory)};
  on_attempt_(attempt);
  shim_ = std::make_unique<Shim>(loop_, attempt, on_end_, std::move(spare_));
  if (const Status started = shim_->start(std::move(agent_)); !started) {
    net::log(net::Level::error, started.error().message);
    on_end_();  // The spare ends with this process.
  }
}

void WaitingShim::end_spare() {
  agent_watch_ = net::Watch();
  if (!has_ended_) {
    spare_->kill([this] { over(); });
  }
}

/// The order may have come meanwhile: then the attempt's program is started.
void WaitingShim::spare_ended(const std::string& why) {
  has_ended_ = true;
  read_agent();
  if (shim_) {
    return;
  }
  const std::string text = framed(SpareEnded{why});
  static_cast<void>(::send(agent_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  over();
}

void WaitingShim::over() {
  agent_watch_ = net::Watch();
  remove_place();
  on_end_();
}

void WaitingShim::remove_place() const {
  if (const Result<files::Directory> parent = files::Directory::open(place_.root().parent_path())) {
    static_cast<void>(files::remove_tree(*parent, place_.root().filename()).has_value());
  }
}

}  // namespace hpsearch::workers
