#include "cli/artifacts/log_view.hpp"

#include <utility>

#include "cli/render/text.hpp"

namespace hpsearch::cli {

namespace {

constexpr char escape_byte = '\x1b';
constexpr char bell = '\a';

std::string printable_with_tabs(std::string_view line) {
  std::string out;
  for (std::size_t tab = line.find('\t'); tab != std::string_view::npos; tab = line.find('\t')) {
    out += printable(line.substr(0, tab)) + "\t";
    line.remove_prefix(tab + 1);
  }
  return out + printable(line);
}

}  // namespace

/// Whether the byte belongs to an escape sequence (ECMA-48): ESC and one byte, ESC [ … a byte from @ on, or a
/// text between ESC ] (or P, X, ^, _) and BEL or ESC \.
bool LogView::escapes(char byte) noexcept {
  switch (escape_) {
    case Escape::none:
      escape_ = byte == escape_byte ? Escape::begun : Escape::none;
      return byte == escape_byte;
    case Escape::begun:
      if (byte == '[') {
        escape_ = Escape::control;
      } else if (byte == ']' || byte == 'P' || byte == 'X' || byte == '^' || byte == '_') {
        escape_ = Escape::text;
      } else if (byte >= ' ' && byte <= '/') {
        escape_ = Escape::begun;  // A sequence like ESC ( B.
      } else {
        escape_ = Escape::none;
        return byte >= '0' && byte <= '~';
      }
      return true;
    case Escape::control:
      if (byte >= ' ' && byte <= '?') {
        return true;
      }
      escape_ = Escape::none;
      return byte >= '@' && byte <= '~';
    case Escape::text:
    case Escape::text_end:
      if (byte == '\n') {  // It was not an escape sequence, or was cut off: the following bytes are shown.
        escape_ = Escape::none;
        return false;
      }
      if (byte == bell || (escape_ == Escape::text_end && byte == '\\')) {
        escape_ = Escape::none;
      } else {
        escape_ = byte == escape_byte ? Escape::text_end : Escape::text;
      }
      return true;
  }
  return false;
}

std::string LogView::take(std::string_view bytes) {
  std::string lines;
  for (const char byte : bytes) {
    if (escapes(byte)) {
      continue;
    }
    if (byte == '\n') {
      lines += unfinished() + "\n";
      drawn_.clear();
      drawing_.clear();
    } else if (byte == '\r') {
      if (!drawing_.empty()) {
        drawn_ = std::exchange(drawing_, {});
      }
    } else if (drawing_.size() < longest_line) {
      drawing_.push_back(byte);
    }
  }
  return lines;
}

std::string LogView::unfinished() const {
  return printable_with_tabs(drawing_.empty() ? drawn_ : drawing_);
}

std::string LogView::finish() {
  std::string line = unfinished();
  *this = LogView();
  return line.empty() ? line : line + "\n";
}

}  // namespace hpsearch::cli
