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

/// Events on their way from a store to whoever replays them: copied group by group, then decoded all at once.
/// The memory is kept from one filling to the next.
class RecordBatch {
 public:
  [[nodiscard]] bool full() const noexcept {
    return records_ >= enough_records || bytes_.size() >= GroupWriter::most_bytes;
  }
  /// A copy of a group that was checked.
  void add(const EventGroup& group);
  /// After the records so far the log ends: well, or because of this error.
  void end(engine::Status how) { end_ = std::move(how); }

  /// Turns the records into events(); the first that cannot be read ends the batch. `log` names the file.
  void decode(proto::EventDecoder& decoder, const std::string& log);

  [[nodiscard]] std::span<engine::Event> events() noexcept { return {events_.data(), decoded_}; }
  /// How the log ends after events(); nothing when another batch follows.
  [[nodiscard]] const std::optional<engine::Status>& end() const noexcept { return end_; }

  void clear() noexcept;

 private:
  static constexpr std::uint64_t enough_records = 256;

  std::vector<EventGroup> groups_;  // Without their bytes: those lie in bytes_,
  std::vector<std::size_t> sizes_;  // so many of each.
  std::vector<std::byte> bytes_;
  std::uint64_t records_ = 0;
  std::vector<engine::Event> events_;
  std::size_t decoded_ = 0;
  std::optional<engine::Status> end_;
};

/// Reads a log on a thread of its own while the caller applies what was read.
///
/// Reading and checking have to happen in order, and so has applying; decoding does not. It falls to whoever
/// has nothing better to do: the reader while no batch is free, the caller when it comes to a batch nobody
/// decoded.
///
/// Owns:    its thread, which has ended when the object is gone.
/// Threads: `fill` runs on that thread, everything else on the caller's.
class ReadAhead {
 public:
  /// Adds the next records of the log to an empty batch until it is full, or ends it.
  using Fill = std::function<void(RecordBatch& batch)>;

  /// `log` names the file in what is said about records that cannot be read.
  ReadAhead(std::string log, Fill fill);
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  ~ReadAhead();

  /// Hands every event to `visit`, in order, until the log ends or `visit` says no. Once. What `fill` throws
  /// is thrown here.
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
  std::exception_ptr failure_;  // What ended the thread before the log did.
  bool stopping_ = false;
  std::thread reader_;  // Begins when everything above is there.
};

}  // namespace hpsearch::daemon
