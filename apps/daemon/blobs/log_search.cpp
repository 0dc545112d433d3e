#include "daemon/blobs/log_search.hpp"

#include <utility>

namespace hpsearch::daemon {
namespace {

// A line without an end must not fill the memory: it is split.
constexpr std::size_t longest_line = std::size_t{1} << 20U;

/// Doesn't cut a UTF-8 character.
std::string_view begin_of(std::string_view line) {
  if (line.size() <= LogSearch::most_line_bytes) {
    return line;
  }
  std::size_t end = LogSearch::most_line_bytes;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0U) == 0x80U) {
    --end;
  }
  return line.substr(0, end);
}

}  // namespace

void LogSearch::look_at(std::string_view line) {
  if (pattern_.is_in(line)) {
    matches_.push_back({line_at_, std::string(begin_of(line))});
  }
}

void LogSearch::add(std::uint64_t offset, std::string_view piece) {
  if (offset != next_) {
    finish();
    line_at_ = offset;
  }
  next_ = offset + piece.size();
  while (!piece.empty() && !is_full()) {
    const std::size_t end = piece.find('\n');
    if (end == std::string_view::npos && begun_.size() + piece.size() < longest_line) {
      begun_ += piece;
      return;
    }
    const std::size_t taken = end == std::string_view::npos ? piece.size() : end + 1;
    const std::string_view rest = piece.substr(0, end);
    if (begun_.empty()) {
      look_at(rest);
      line_at_ += taken;
    } else {
      begun_ += rest;
      look_at(begun_);
      line_at_ += begun_.size() - rest.size() + taken;
      begun_.clear();
    }
    piece.remove_prefix(taken);
  }
}

void LogSearch::finish() {
  if (!begun_.empty()) {
    const std::string line = std::exchange(begun_, {});
    look_at(line);
    line_at_ += line.size();
  }
}

}  // namespace hpsearch::daemon
