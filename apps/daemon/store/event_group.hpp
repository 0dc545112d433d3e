#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "daemon/store/stored_record.hpp"

namespace hpsearch::daemon {

/// Several events as one row of a log: they are consecutive and were written by one daemon start.
///
/// Their bytes are concatenated: each event is its `at` (8 bytes, microseconds), the size of its body (4
/// bytes), its chain (4 bytes) and its body; numbers have the lowest byte first. A row of a database costs
/// more than an event; many events per row share that cost.
struct EventGroup {
  engine::Lsn first;
  std::uint64_t count = 0;
  std::uint64_t epoch = 0;  ///< The daemon start that wrote it.
  std::span<const std::byte> bytes;
};

/// Collects events into a group as long as there is room.
class GroupWriter {
 public:
  /// Enough events that a row costs little beside them, and few enough to read for the sake of one event.
  static constexpr std::size_t most_bytes = std::size_t{64} * 1024;

  /// False, and nothing was added, if the record belongs into the next group: this one is full or of another
  /// epoch. An empty group accepts a record of any size.
  [[nodiscard]] bool add(const RecordView& record);

  [[nodiscard]] EventGroup group() const noexcept { return {first_, count_, epoch_, bytes_}; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  /// Keeps its memory.
  void clear() noexcept;

 private:
  engine::Lsn first_;
  std::uint64_t count_ = 0;
  std::uint64_t epoch_ = 0;
  proto::Bytes bytes_;
};

/// Reads a group's events, one after the other. Checks only that they lie within its bytes.
class GroupReader {
 public:
  explicit GroupReader(const EventGroup& group) noexcept : group_(group), rest_(group.bytes) {}

  /// Views the group's own bytes. Null after the last one, and if the rest is not an event.
  [[nodiscard]] std::optional<RecordView> next() noexcept;
  /// Whether the count and the bytes ended together, as they should.
  [[nodiscard]] bool finished() const noexcept { return read_ == group_.count && rest_.empty(); }
  /// Bytes of the events read so far.
  [[nodiscard]] std::size_t bytes_read() const noexcept { return group_.bytes.size() - rest_.size(); }

 private:
  EventGroup group_;
  std::span<const std::byte> rest_;
  std::uint64_t read_ = 0;
};

/// Checks a log through one more group, after the event `last` with the chain `chain`; both move on to the
/// last event that passed, and `sound` becomes the part of the group up to it. corrupt: with the lsn.
[[nodiscard]] engine::Status check_group(const EventGroup& group, engine::Lsn& last, std::uint32_t& chain,
                                         EventGroup& sound);

}  // namespace hpsearch::daemon
