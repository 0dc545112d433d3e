#include "hpsearch/workers/core/log_text.hpp"

#include <algorithm>

#include "hpsearch/proto/encoding/utf8.hpp"

namespace hpsearch::workers {

namespace {

constexpr char escape_byte = '\x1b';

/// Length of the escape sequence at the start of `text`; 0 if `text` is empty.
std::size_t escape_length(std::string_view text) noexcept {
  const char kind = text.size() > 1 ? text[1] : '\0';
  if (kind == '[') {  // CSI: parameters, then a letter.
    const std::size_t end = text.find_first_not_of("0123456789:;<=>?!\"#$%&'()*+,-./ ", 2);
    return end == std::string_view::npos ? text.size() : end + 1;
  }
  if (kind == ']' || kind == 'P' || kind == '^' ||
      kind == '_') {  // A string, ended by BEL or ESC and a backslash.
    const std::size_t end = text.find_first_of("\x07\x1b", 2);
    return end == std::string_view::npos ? text.size()
                                         : std::min(text.size(), end + (text[end] == escape_byte ? 2 : 1));
  }
  const bool has_designator = kind == '(' || kind == ')' || kind == '#' || kind == '%';
  return std::min<std::size_t>(text.size(), has_designator ? 3 : 2);
}

/// The end of the first line of `text`; npos if the line isn't complete.
std::size_t line_end(std::string_view text) noexcept {
  const std::size_t feed = text.find('\n');
  return std::min(feed, text.substr(0, feed).find('\r'));
}

}  // namespace

std::string without_escapes(std::string_view line) {
  std::string out;
  while (!line.empty()) {
    const std::size_t escape = std::min(line.find(escape_byte), line.size());
    out.append(line.substr(0, escape));
    line.remove_prefix(escape);
    line.remove_prefix(escape_length(line));
  }
  return out;
}

std::string last_lines(std::string_view text, std::size_t limit) {
  if (text.size() > limit) {
    const bool at_line_start = text[text.size() - limit - 1] == '\n';
    text.remove_prefix(text.size() - limit);
    if (!at_line_start) {
      const std::size_t end = text.find('\n');
      const bool another_line = end != std::string_view::npos && end + 1 < text.size();
      text.remove_prefix(another_line ? end + 1 : proto::cut_character_at_start(text));
    }
  }
  return proto::clean_utf8(text);
}

bool LineSplitter::feed(std::string_view bytes, const std::function<void(std::string_view)>& line) {
  bool dropped = false;
  while (!bytes.empty()) {
    const std::size_t end = line_end(bytes);
    const std::string_view piece = bytes.substr(0, end);
    if (!too_long_ && held_.size() + piece.size() > longest_) {
      too_long_ = true;
      dropped = true;
      held_.clear();
    }
    if (!too_long_) {
      held_.append(piece);
    }
    if (end == std::string_view::npos) {
      return dropped;
    }
    finish(line);
    bytes.remove_prefix(end + 1);
  }
  return dropped;
}

bool LineSplitter::feed_lines_with(std::string_view word, std::string_view bytes,
                                   const std::function<void(std::string_view)>& line) {
  // The first and the last line may be incomplete and contain half of the word.
  const std::size_t head = line_end(bytes) + 1;
  if (head == 0) {
    return feed(bytes, line);
  }
  const std::size_t tail = bytes.find_last_of("\n\r") + 1;
  bool dropped = feed(bytes.substr(0, head), line);
  for (std::size_t at = head; at < tail;) {
    const std::string_view rest = bytes.substr(at, tail - at);
    const std::size_t place = rest.find(word);
    if (place == std::string_view::npos) {
      break;
    }
    const std::size_t before = rest.substr(0, place).find_last_of("\n\r") + 1;
    const std::size_t after = place + line_end(rest.substr(place)) + 1;
    dropped = feed(rest.substr(before, after - before), line) || dropped;
    at += after;
  }
  return feed(bytes.substr(tail), line) || dropped;
}

void LineSplitter::finish(const std::function<void(std::string_view)>& line) {
  if (!too_long_ && !held_.empty()) {
    line(held_);
  }
  too_long_ = false;
  held_.clear();
}

}  // namespace hpsearch::workers
