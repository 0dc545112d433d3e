#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "daemon/store/event_group.hpp"
#include "daemon/store/event_store.hpp"

namespace hpsearch::daemon {

/// Events on their way from a store to a replay: copied group by group, then decoded together. Its memory is
/// kept from one filling to the next.
class RecordBatch {
 public:
  [[nodiscard]] bool full() const noexcept {
    return records_ >= enough_records || bytes_.size() >= GroupWriter::most_bytes;
  }
  /// Adds a copy of a checked group.
  void add(const EventGroup& group);
  /// The log ends after the records so far: normally, or because of this error.
  void end(engine::Status how) { end_ = std::move(how); }

  /// Decodes the records into events(); the first that cannot be read ends the batch. `log` names the file.
  void decode(proto::EventDecoder& decoder, const std::string& log);

  [[nodiscard]] std::span<engine::Event> events() noexcept { return {events_.data(), decoded_}; }
  /// How the log ends after events(); null if another batch follows.
  [[nodiscard]] const std::optional<engine::Status>& end() const noexcept { return end_; }

  void clear() noexcept;

 private:
  static constexpr std::uint64_t enough_records = 256;

  std::vector<EventGroup> groups_;  // Without their bytes, which are in bytes_;
  std::vector<std::size_t> sizes_;  // sizes_ has the size of each group.
  std::vector<std::byte> bytes_;
  std::uint64_t records_ = 0;
  std::vector<engine::Event> events_;
  std::size_t decoded_ = 0;
  std::optional<engine::Status> end_;
};

/// Reads a log on a thread of its own while the caller applies what was read.
///
/// Reading and checking have to happen in order, and so has applying; decoding does not. The idle side
/// decodes: the reader while no batch is free, the caller when it reaches a batch that is not decoded.
///
/// Owns:    its thread, which has ended when the destructor returns.
/// Threads: `fill` runs on that thread, everything else on the caller's.
class ReadAhead {
 public:
  /// Adds the next records of the log to an empty batch until it is full, or ends it.
  using Fill = std::function<void(RecordBatch& batch)>;

  /// `log` is the name of the file in error messages.
  ReadAhead(std::string log, Fill fill);
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  ~ReadAhead();

  /// Passes every event to `visit`, in order, until the log ends or `visit` fails. Must be called once.
  /// Throws what `fill` throws.
  engine::Status hand_out(const EventStore::Visit& visit);

 private:
  struct Slot {
    enum class State { raw, decoding, decoded } state = State::raw;
    RecordBatch batch;
  };

  void read();
  void decode(Slot& slot, proto::EventDecoder& decoder, std::unique_lock<std::mutex>& lock);
  [[nodiscard]] Slot* first_raw() noexcept;
  [[nodiscard]] Slot& front_decoded(proto::EventDecoder& decoder);
  void free_front();

  const std::string log_;
  const Fill fill_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Slot>> filled_;  // In the log's order.
  std::vector<std::unique_ptr<Slot>> free_;
  std::exception_ptr failure_;  // The exception that ended the thread before the end of the log.
  bool stopping_ = false;
  std::thread reader_;  // Begins when all members above exist.
};

}  // namespace hpsearch::daemon
