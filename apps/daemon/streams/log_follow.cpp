#include "daemon/streams/log_follow.hpp"

#include <chrono>
#include <utility>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/io/http/event_stream.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Value;

constexpr std::chrono::milliseconds read_every{500};
constexpr std::chrono::milliseconds slow_reader_looked_at_every{100};
constexpr std::size_t enough_unsent_bytes = std::size_t{16} * 1024;  // There may be a thousand followers.
constexpr unsigned empty_reads_at_the_end = 3;  // The last lines of a program may arrive after its exit.

}  // namespace

LogFollow::LogFollow(net::Timeline& loop, std::shared_ptr<net::HttpBody> body, Source source,
                     std::uint64_t offset)
    : loop_(loop), body_(std::move(body)), source_(std::move(source)), offset_(offset) {
}

void LogFollow::begin(net::Timeline& loop, std::shared_ptr<net::HttpBody> body, Source source,
                      std::uint64_t offset) {
  std::make_shared<LogFollow>(loop, std::move(body), std::move(source), offset)->read();
}

void LogFollow::read() {
  if (!body_->is_open()) {
    return;
  }
  if (body_->unsent() > enough_unsent_bytes) {
    read_later(slow_reader_looked_at_every);
    return;
  }
  source_.read(offset_, [self = shared_from_this(), was_over = source_.is_over()](
                            const engine::Result<Piece>& piece) { self->take(piece, was_over); });
}

void LogFollow::take(const engine::Result<Piece>& piece, bool was_over) {
  if (!body_->is_open()) {
    return;
  }
  if (piece && !piece->text.empty()) {
    offset_ = piece->offset + piece->text.size();
    body_->write(
        net::message_text(std::to_string(offset_), "log",
                          engine::compact_json(Value::Map{
                              {"offset", static_cast<std::int64_t>(piece->offset)}, {"text", piece->text}})));
    loop_.post([self = shared_from_this()] { self->read(); });
    return;
  }
  // A log that does not exist yet, or whose worker is disconnected, may appear while the attempt is running.
  if (was_over && ++empty_after_end_ >= empty_reads_at_the_end) {
    body_->write(net::message_text(
        std::to_string(offset_), "end",
        engine::compact_json(Value::Map{{"why", piece ? std::string() : piece.error().message}})));
    body_->end();
    return;
  }
  read_later(read_every);
}

void LogFollow::read_later(std::chrono::milliseconds delay) {
  timer_ = loop_.after(delay, [self = shared_from_this()] {
    const net::Watch over = std::move(self->timer_);  // The timer owns this object.
    self->read();
  });
}

}  // namespace hpsearch::daemon
