#include "hpsearch/io/http/event_stream.hpp"

#include <utility>

// Source: HTML Living Standard, section 9.2, "Server-sent events".

namespace hpsearch::net {

std::string message_text(std::string_view id, std::string_view event, std::string_view data) {
  std::string text;
  text.reserve(id.size() + event.size() + data.size() + 32);
  if (!id.empty()) {
    text.append("id: ").append(id).append("\n");
  }
  if (!event.empty()) {
    text.append("event: ").append(event).append("\n");
  }
  while (!data.empty()) {
    const std::size_t end = data.find('\n');
    text.append("data: ").append(data.substr(0, end)).append("\n");
    data.remove_prefix(end == std::string_view::npos ? data.size() : end + 1);
  }
  return text.append("\n");
}

std::vector<StreamMessage> StreamParser::take(std::string_view bytes) {
  std::vector<StreamMessage> complete;
  for (std::size_t end = 0; (end = bytes.find('\n')) != std::string_view::npos;
       bytes.remove_prefix(end + 1)) {
    rest_.append(bytes.substr(0, end));
    if (rest_.ends_with('\r')) {
      rest_.pop_back();
    }
    take_line(rest_, complete);
    rest_.clear();
  }
  rest_.append(bytes);
  return complete;
}

void StreamParser::take_line(std::string_view line, std::vector<StreamMessage>& complete) {
  if (line.empty()) {
    if (has_data_ || !message_.id.empty()) {
      complete.push_back(std::move(message_));
    }
    message_ = {};
    has_data_ = false;
    return;
  }
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  value.remove_prefix(value.starts_with(' ') ? 1 : 0);
  if (name == "data") {
    message_.data.append(has_data_ ? "\n" : "").append(value);
    has_data_ = true;
  } else if (name == "id") {
    message_.id = value;
  } else if (name == "event") {
    message_.event = value;
  }
}

}  // namespace hpsearch::net
