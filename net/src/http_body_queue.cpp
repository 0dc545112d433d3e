#include "http_body_queue.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::net {
namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::string_view last_chunk = "0\r\n\r\n";

std::string chunk_head(std::size_t bytes) {
  char digits[16];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, bytes, 16);
  static_cast<void>(error);  // 16 digits are enough for any size.
  return std::string(digits, end) + std::string(line_end);
}

}  // namespace

void BodyQueue::add(std::shared_ptr<const std::string> piece) {
  HPSEARCH_CHECK(!ended_, "a piece of a body that has ended");
  if (piece->empty()) {
    return;  // A chunk of nothing would be the end.
  }
  unsent_ += piece->size();
  pieces_.push_back(std::move(piece));
}

const std::string& BodyQueue::next() {
  if (!out_.empty() || finished_) {
    return out_;
  }
  on_the_way_ = std::min(unsent_, most_bytes_at_once);
  if (on_the_way_ > 0) {
    out_ = chunked_ ? chunk_head(on_the_way_) : std::string();
    out_.reserve(out_.size() + on_the_way_ + line_end.size() + last_chunk.size());
    for (std::size_t left = on_the_way_; left > 0;) {
      const std::string& first = *pieces_.front();
      const std::size_t taken = std::min(left, first.size() - taken_of_first_);
      out_.append(first, taken_of_first_, taken);
      taken_of_first_ += taken;
      left -= taken;
      if (taken_of_first_ == first.size()) {
        pieces_.pop_front();
        taken_of_first_ = 0;
      }
    }
    out_.append(chunked_ ? line_end : "");
  }
  if (ended_ && on_the_way_ == unsent_) {
    end_on_the_way_ = true;
    out_.append(chunked_ ? last_chunk : "");
    finished_ = out_.empty();
  }
  return out_;
}

void BodyQueue::sent() {
  unsent_ -= std::exchange(on_the_way_, 0);
  std::string().swap(out_);  // A thousand idle streams are not to keep the memory of their last message.
  finished_ = finished_ || end_on_the_way_;
}

}  // namespace hpsearch::net
