#include "hpsearch/workers/shell/shim/shim_messages.hpp"

#include <utility>

#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/workers/core/checked_record.hpp"

namespace hpsearch::workers {
namespace {

// An answer may quote the longest line of a program.
constexpr std::size_t longest_message = 1024 * 1024;

}  // namespace

std::string framed(const ToShim& message) {
  return checked_record(proto::encode_record(message));
}

std::string framed(const ToAgent& message) {
  return checked_record(proto::encode_record(message));
}

template <class Message>
std::optional<std::vector<Message>> MessageReader<Message>::feed(std::string_view bytes) {
  held_.append(bytes);
  std::vector<Message> messages;
  std::string_view left = held_;
  while (left.size() >= checked_head_bytes) {
    const std::optional<CheckedHead> head = read_checked_head(left);
    if (!head || head->body_bytes > longest_message) {
      return std::nullopt;
    }
    const std::string_view body = left.substr(checked_head_bytes, head->body_bytes);
    if (body.size() < head->body_bytes) {
      break;
    }
    auto message = proto::decode_record<Message>(body);
    if (!head->fits(body) || !message) {
      return std::nullopt;
    }
    messages.push_back(*std::move(message));
    left.remove_prefix(checked_head_bytes + body.size());
  }
  held_.erase(0, held_.size() - left.size());
  return messages;
}

template <class Message>
std::size_t MessageReader<Message>::missing() const {
  const std::optional<CheckedHead> head = read_checked_head(held_);
  return checked_head_bytes + (head ? head->body_bytes : 0) - held_.size();
}

template class MessageReader<ToShim>;
template class MessageReader<ToAgent>;

}  // namespace hpsearch::workers
