#include "daemon/streams/open_streams.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/io/http/event_stream.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::chrono::milliseconds look_every{500};
constexpr std::chrono::milliseconds trim_every{50};
constexpr std::uint64_t looks_per_comment = 30;  // 15 s.

}  // namespace

OpenStreams::OpenStreams(net::Timeline& loop, MayRead may_read)
    : loop_(loop), may_read_(std::move(may_read)) {
}

net::HttpResponse OpenStreams::open(const net::HttpRequest& request, Begin begin) {
  net::HttpResponse response;
  response.content_type = "text/event-stream";
  response.headers.emplace_back("X-Accel-Buffering", "no");  // A proxy would otherwise buffer messages.
  response.stream = [this, alive = std::weak_ptr<bool>(alive_), head = request,
                     begin = std::move(begin)](const std::shared_ptr<net::HttpBody>& body) mutable {
    if (alive.expired()) {
      return;
    }
    body->write(std::string("retry: 1000\n\n"));
    if (ended_) {
      body->write(net::message_text("", "bye", "{}"));
      body->end();
      return;
    }
    head.body.clear();
    add(std::move(head), body);
    begin(body);
  };
  return response;
}

void OpenStreams::add(net::HttpRequest request, const std::shared_ptr<net::HttpBody>& body) {
  streams_.push_back({std::move(request), body});
  if (!watch_) {
    watch_ = loop_.every(look_every, [this] { look(); });
    trims_ = loop_.every(trim_every, [this] { trim(); });
  }
}

void OpenStreams::look() {
  static const auto comment = std::make_shared<const std::string>(":\n\n");
  const bool with_comment = ++looks_ % looks_per_comment == 0;
  for (auto stream = streams_.begin(); stream != streams_.end();) {
    const std::shared_ptr<net::HttpBody> body = stream->body.lock();
    if (body != nullptr && body->is_open() && !may_read_(stream->request)) {
      body->cut();
    }
    if (body == nullptr || !body->is_open()) {
      stream = streams_.erase(stream);
      continue;
    }
    if (with_comment && body->unsent() == 0) {
      body->write(comment);
    }
    ++stream;
  }
  if (streams_.empty()) {
    watch_ = net::Watch{};
    trims_ = net::Watch{};
  }
}

void OpenStreams::trim() {
  std::size_t held = 0;
  std::vector<std::pair<std::size_t, std::shared_ptr<net::HttpBody>>> bodies;
  for (const Open& stream : streams_) {
    if (auto body = stream.body.lock(); body != nullptr && body->is_open()) {
      const std::size_t its = body->held_bytes();
      held += its;
      bodies.emplace_back(its, std::move(body));
    }
  }
  if (held <= most_held_bytes) {
    return;
  }
  std::sort(bodies.begin(), bodies.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [its, body] : bodies) {
    if (held <= most_held_bytes / 2) {  // With room for what arrives until the next check.
      break;
    }
    held -= its;
    body->cut();
  }
}

void OpenStreams::end() {
  ended_ = true;
  const auto bye = std::make_shared<const std::string>(net::message_text("", "bye", "{}"));
  for (const Open& stream : std::exchange(streams_, {})) {
    if (const std::shared_ptr<net::HttpBody> body = stream.body.lock(); body != nullptr) {
      body->write(bye);
      body->end();
    }
  }
  watch_ = net::Watch{};
  trims_ = net::Watch{};
}

void write_or_cut(net::HttpBody& body, const std::shared_ptr<const std::string>& text) {
  if (body.unsent() > 0 && body.unsent() + text->size() > OpenStreams::most_unsent_bytes) {
    body.cut();
  } else {
    body.write(text);
  }
}

bool wants_stream(const net::HttpRequest& request) {
  return request.header("Accept").find("text/event-stream") != std::string_view::npos;
}

}  // namespace hpsearch::daemon
