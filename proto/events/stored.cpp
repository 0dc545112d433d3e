#include "hpsearch/proto/events/stored.hpp"

#include <cmath>
#include <span>
#include <string>

#include "encoding/straight_reader.hpp"
#include "encoding/versioned.hpp"
#include "events/spell_event.hpp"
#include "hpsearch/proto/encoding/msgpack_tree.hpp"
#include "hpsearch/proto/encoding/msgpack_writer.hpp"
#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/proto/encoding/value_writer.hpp"

namespace hpsearch::proto {
namespace {

using engine::Errc;
using engine::Error;
using engine::Value;

// The largest event has an effective config, which was at most 1 MiB of JSON before its defaults were added.
constexpr std::size_t max_event_bytes = 16UL * 1024 * 1024;

/// Reads an event from bytes as encode_event() writes them; false for other bytes.
bool read_straight(std::span<const std::byte> bytes, engine::EventBody& body,
                   std::vector<engine::Metrics>& spare) {
  StraightReader in(bytes, spare);
  std::uint64_t version = 0;
  std::string_view type;
  return bytes.size() <= max_event_bytes && in.list_of(3) && in.read(version) &&
         version >= oldest_store_version && version <= store_version && in.read_bytes(type) &&
         read_alternative(type, body, [&in](auto& event) { return in.read(event); }).value_or(false) &&
         in.finished();
}

// The most that one batch of a log may hold at once; more would never be used.
constexpr std::size_t most_spare = 16'384;

/// Keeps the lists of metrics for the next event. Most events are reports, and recovery decodes on several
/// threads: memory that one thread allocates and another frees costs more than the decoding.
void keep_memory(engine::EventBody& body, std::vector<engine::Metrics>& spare) {
  if (auto* taken = std::get_if<engine::ReportTaken>(&body)) {
    auto* report = std::get_if<engine::MetricsReport>(&taken->report);
    if (report != nullptr && report->metrics.capacity() > 0 && spare.size() < most_spare) {
      spare.push_back(std::move(report->metrics));
    }
  }
}

}  // namespace

const char* type_of(const engine::EventBody& body) noexcept {
  return tag_in(body);
}

Bytes encode_event(const engine::EventBody& body) {
  Bytes bytes;
  bytes.reserve(192);
  MsgpackWriter out(bytes);
  out.list(3);
  out.natural(store_version);
  out.text(type_of(body));
  std::visit([&out](const auto& event) { put(out, event); }, body);
  return bytes;
}

struct EventDecoder::Memory {
  MsgpackTree tree;
  std::vector<engine::Metrics> spare;
};

EventDecoder::EventDecoder() : memory_(std::make_unique<Memory>()) {
}
EventDecoder::EventDecoder(EventDecoder&&) noexcept = default;
EventDecoder& EventDecoder::operator=(EventDecoder&&) noexcept = default;
EventDecoder::~EventDecoder() = default;

engine::Status EventDecoder::decode(std::span<const std::byte> bytes, engine::EventBody& body) {
  keep_memory(body, memory_->spare);
  if (read_straight(bytes, body, memory_->spare)) {
    return engine::Done{};
  }
  MsgpackTree& tree = memory_->tree;
  if (auto filled = tree.fill(bytes, {.bytes = max_event_bytes}); !filled) {
    return filled;
  }
  const auto type = after_version(tree.root(), "an event", oldest_store_version, store_version, 3);
  if (!type) {
    return type.error();
  }
  Trouble trouble;
  if (!expect(*type, MsgpackItem::Kind::text, "a text", trouble)) {
    return corrupt_field("an event's type", trouble);
  }
  const std::string_view name = type->text();
  const std::optional<bool> done = read_tagged(name, type->next(), body, trouble);
  if (!done) {  // An unknown event can't be skipped, because later events depend on it.
    return Error{Errc::version_mismatch, "an event of type \"" + std::string(name.substr(0, 40)) +
                                             "\", which this build does not know"};
  }
  if (!*done) {
    return corrupt_field(name, trouble);
  }
  return engine::Done{};
}

engine::Result<engine::EventBody> decode_event(std::span<const std::byte> bytes) {
  engine::EventBody body;
  if (const auto decoded = EventDecoder().decode(bytes, body); !decoded) {
    return decoded.error();
  }
  return body;
}

Value to_value(const engine::Event& event) {
  ValueWriter out;
  std::visit([&out](const auto& body) { put(out, body); }, event.body);
  Value value = out.take();
  Value::Map& fields = *value.as_map();
  fields["lsn"] = count_value(event.lsn.number());
  fields["at"] = static_cast<double>(event.at.micros()) / 1e6;
  fields["type"] = type_of(event.body);
  return value;
}

engine::Result<engine::Event> event_of(const Value& value) {
  if (value.as_map() == nullptr) {
    return Error{Errc::corrupt, "an event is not a map"};
  }
  const std::string bytes = msgpack_of(value);
  MsgpackTree tree;
  if (const auto filled = tree.fill(std::as_bytes(std::span(bytes)), {.bytes = bytes.size()}); !filled) {
    return filled.error();
  }
  engine::Event event;
  double seconds = 0;
  Trouble trouble;
  FieldReader fields(tree.root(), trouble);
  fields("lsn", event.lsn);
  fields("at", seconds);
  if (!trouble.what.empty() || !read(tree.root(), event.body, trouble)) {
    return corrupt_field("an event", trouble);
  }
  constexpr double most_seconds = 1e12;  // Fits in microseconds, too.
  if (!(seconds >= 0 && seconds <= most_seconds)) {
    return Error{Errc::corrupt, "at: is no time"};
  }
  event.at = engine::Instant::from_micros(std::llround(seconds * 1e6));
  return event;
}

}  // namespace hpsearch::proto
