#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hpsearch::net {

/// A message of a text/event-stream.
struct StreamMessage {
  std::string id;     ///< "" = it has none of its own.
  std::string event;  ///< Its type; "" = it has none.
  std::string data;   ///< "" with an id alone: the stream has got so far.
};

/// As it is sent. `id` and `event` are left out where they are ""; none of them has a line break, and `data`
/// at most some that it keeps.
[[nodiscard]] std::string message_text(std::string_view id, std::string_view event, std::string_view data);

/// Takes a text/event-stream apart, in whatever pieces it comes.
class StreamParser {
 public:
  /// The messages that `bytes` complete. Comments and what is not known are passed over.
  [[nodiscard]] std::vector<StreamMessage> take(std::string_view bytes);

 private:
  void take_line(std::string_view line, std::vector<StreamMessage>& complete);

  std::string rest_;  ///< The line that has begun.
  StreamMessage message_;
  bool has_data_ = false;
};

}  // namespace hpsearch::net
