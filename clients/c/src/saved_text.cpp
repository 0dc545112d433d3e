#include "saved_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/events/stored.hpp"

namespace hpsearch::c_api {
namespace {

using engine::Errc;
using engine::Error;
using engine::Event;
using engine::Result;

// A saved search comes from the program itself.
constexpr proto::JsonLimits own_text{std::size_t{1} << 40, 64, std::size_t{1} << 40};
constexpr std::string_view end_mark = "end";
constexpr std::size_t digits = 8;

/// "xxxxxxxx " of the lines so far.
class Chain {
 public:
  std::string add(std::string_view line) {
    crc_ = proto::crc32c(crc_, std::as_bytes(std::span(line)));
    std::array<char, digits + 1> hex{};
    std::snprintf(hex.data(), hex.size(), "%08x", static_cast<unsigned>(crc_));
    return std::string(hex.data()) + ' ';
  }

 private:
  std::uint32_t crc_ = 0;
};

void add_line(std::string& text, Chain& chain, std::string_view line) {
  text.append(chain.add(line)).append(line).append("\n");
}

Error damaged(std::size_t line, const std::string& what) {
  return Error{Errc::corrupt, "line " + std::to_string(line) + " of saved " + what};
}

std::string_view take_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

}  // namespace

std::string saved_text(std::span<const Event> events) {
  std::string text;
  Chain chain;
  for (const Event& event : events) {
    add_line(text, chain, engine::compact_json(proto::to_value(event)));
  }
  add_line(text, chain, end_mark);
  return text;
}

Result<std::vector<Event>> read_saved(std::string_view text) {
  std::vector<Event> events;
  Chain chain;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    if (text.find('\n') == std::string_view::npos) {
      return damaged(number, "is cut off");
    }
    const std::string_view line = take_line(text);
    const std::string_view content = line.substr(std::min(digits + 1, line.size()));
    if (!line.starts_with(chain.add(content))) {
      return damaged(number, "is damaged, or lines before it are missing: its checksum is another one");
    }
    if (content == end_mark) {
      if (!text.empty()) {
        return damaged(number + 1, "follows its end");
      }
      return events;
    }
    const auto value = proto::parse_json(content, own_text, proto::NonFinite::reals);
    auto event = value ? proto::event_of(*value) : Result<Event>(value.error());
    if (!event) {
      return damaged(number, "isn't an event: " + event.error().message);
    }
    events.push_back(std::move(event).value());
  }
  return Error{Errc::corrupt, "saved ends after line " + std::to_string(number) + "; its end is missing"};
}

}  // namespace hpsearch::c_api
