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

/// One event as it is stored: [store_version, type, fields] in msgpack. The Lsn and the instant stand beside
/// it in the store's own columns.
[[nodiscard]] Bytes encode_event(const engine::EventBody& body);

/// corrupt, version_mismatch: as it says.
[[nodiscard]] engine::Result<engine::EventBody> decode_event(std::span<const std::byte> bytes);

/// decode_event() for one event after the other, as reading a log takes it: keeps its working memory.
///
/// Threads: one at a time.
class EventDecoder {
 public:
  EventDecoder();
  EventDecoder(EventDecoder&&) noexcept;
  EventDecoder& operator=(EventDecoder&&) noexcept;
  ~EventDecoder();

  /// Into `body`, which is of no use after an error. corrupt, version_mismatch: as it says.
  [[nodiscard]] engine::Status decode(std::span<const std::byte> bytes, engine::EventBody& body);

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

/// An event as people read it: a map of its fields, `lsn`, `at` (seconds since the epoch) and `type` first.
[[nodiscard]] engine::Value to_value(const engine::Event& event);

/// The event that to_value() wrote. What JSON cannot hold is as JSON left it: bytes that are no UTF-8 are
/// U+FFFD, times are rounded to the microsecond. corrupt: a field is missing or is of the wrong kind, as it
/// says.
[[nodiscard]] engine::Result<engine::Event> event_of(const engine::Value& value);

/// CRC-32C (Castagnoli) over `bytes`, continuing from `seed`; chains records to the one before.
[[nodiscard]] std::uint32_t crc32c(std::uint32_t seed, std::span<const std::byte> bytes) noexcept;

}  // namespace hpsearch::proto
