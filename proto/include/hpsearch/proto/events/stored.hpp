#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/events.hpp"
#include "hpsearch/proto/wire/wire.hpp"

namespace hpsearch::proto {

/// The name of an event's type as it is stored and shown: "trial_created".
[[nodiscard]] const char* type_of(const engine::EventBody& body) noexcept;

/// The stored form of an event: [store_version, type, fields] in msgpack. The store has the Lsn and the
/// instant in columns of their own.
[[nodiscard]] Bytes encode_event(const engine::EventBody& body);

/// corrupt, version_mismatch: the message has the reason.
[[nodiscard]] engine::Result<engine::EventBody> decode_event(std::span<const std::byte> bytes);

/// decode_event() for a sequence of events: keeps its working memory between calls.
///
/// Threads: one at a time.
class EventDecoder {
 public:
  EventDecoder();
  EventDecoder(EventDecoder&&) noexcept;
  EventDecoder& operator=(EventDecoder&&) noexcept;
  ~EventDecoder();

  /// Decodes into `body`, which must not be used after an error. Errors: as decode_event().
  [[nodiscard]] engine::Status decode(std::span<const std::byte> bytes, engine::EventBody& body);

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

/// An event for people: a map of its fields, with `lsn`, `at` (seconds since the epoch) and `type` first.
[[nodiscard]] engine::Value to_value(const engine::Event& event);

/// Reads the result of to_value(), as far as JSON can express it: bytes that are not UTF-8 are
/// U+FFFD, times are rounded to the microsecond. corrupt: a field is missing or is of the wrong kind; the
/// message names it.
[[nodiscard]] engine::Result<engine::Event> event_of(const engine::Value& value);

/// CRC-32C (Castagnoli) over `bytes`, continued from `seed`; chains each record to the previous one.
[[nodiscard]] std::uint32_t crc32c(std::uint32_t seed, std::span<const std::byte> bytes) noexcept;

}  // namespace hpsearch::proto
