#include "http/http_body_queue.hpp"

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

std::string BodyQueue::take(std::size_t bytes) {
  std::string taken;
  taken.reserve(bytes);
  while (taken.size() < bytes) {
    const std::string& first = *pieces_.front();
    const std::size_t size = std::min(bytes - taken.size(), first.size() - taken_of_first_);
    taken.append(first, taken_of_first_, size);
    taken_of_first_ += size;
    if (taken_of_first_ == first.size()) {
      pieces_.pop_front();
      taken_of_first_ = 0;
    }
  }
  return taken;
}

std::size_t BodyQueue::held() const noexcept {
  std::size_t bytes = out_.capacity();
  for (const auto& piece : pieces_) {
    bytes += piece->size() / static_cast<std::size_t>(std::max(piece.use_count(), 1L));
  }
  return bytes;
}

const std::string& BodyQueue::next() {
  if (!out_.empty() || finished_) {
    return out_;
  }
  on_the_way_ = std::min(unsent_, at_once_);
  end_on_the_way_ = ended_ && on_the_way_ == unsent_;
  std::string bytes = take(on_the_way_);
  if (gzip_) {
    bytes = bytes.empty() ? bytes : gzip_->pack(bytes);
    bytes += end_on_the_way_ ? gzip_->end() : "";
  }
  if (!chunked_) {
    out_ = std::move(bytes);
  } else if (!bytes.empty()) {
    out_.append(chunk_head(bytes.size())).append(bytes).append(line_end);
  }
  if (end_on_the_way_) {
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
