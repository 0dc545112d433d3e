#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::workers {

/// When an attempt's spool is written, and what it contains since the last successful write. At most one
/// write is in progress.
///
/// Owns:    values only. Time comes from the caller.
/// Threads: none of its own; callers take turns.
/// Cost:    O(1).
class SpoolSchedule {
 public:
  /// The content of a spool.
  struct Content {
    std::uint64_t reports = 0;      ///< Reports up to this number.
    std::uint64_t position = 0;     ///< Position in the journal: earlier messages are done.
    engine::Lsn decision;           ///< Decisions up to this one.
    bool leaked_processes = false;  ///< Processes of the attempt survive SIGKILL.
  };

  /// Writes that don't decide anything wait at most `within`.
  explicit SpoolSchedule(engine::Duration within) : within_(within) {}

  /// The content on disk.
  [[nodiscard]] const Content& on_disk() const noexcept { return on_disk_; }
  /// An earlier agent has written this content.
  void restore(const Content& content) noexcept {
    on_disk_ = content;
    position_ = content.position;
  }
  /// Reports that need no write, because they were acknowledged or aren't needed.
  void no_need_for(std::uint64_t reports) noexcept { on_disk_.reports = reports; }
  /// The journal's position in the newest write.
  [[nodiscard]] std::uint64_t written_position() const noexcept { return position_; }

  /// A change must be written at once, because it decides.
  void ask_at_once() noexcept { at_once_ = true; }
  /// A change can wait.
  void ask_soon(std::size_t more_bytes = 0) noexcept {
    soon_ = true;
    unwritten_bytes_ += more_bytes;
  }
  /// The next write replaces the spool.
  void ask_anew() noexcept { anew_ = true; }

  [[nodiscard]] bool is_writing() const noexcept { return writing_.has_value(); }
  /// A write was requested and is due. Starts the wait of one that isn't.
  [[nodiscard]] bool is_due(engine::Instant now);
  /// When is_due() may become true; nothing if not by time alone, or at once.
  [[nodiscard]] std::optional<engine::Instant> next_wake() const noexcept;

  /// Whether the next write replaces the spool: it must, or its size would then be `live_bytes`, less than
  /// half.
  [[nodiscard]] bool is_anew(std::size_t live_bytes) noexcept;
  /// Begins a write of this size. Returns its number.
  std::uint64_t begin(const Content& content, std::size_t bytes) noexcept;
  /// False if it isn't the current write.
  [[nodiscard]] bool succeeded(std::uint64_t write) noexcept;
  /// False if it isn't the current write. Doesn't schedule a retry.
  [[nodiscard]] bool failed(std::uint64_t write) noexcept;
  /// Schedules a write of everything in a second, because the result of a failed write or sync is unknown.
  /// True for the first failure since the last success.
  [[nodiscard]] bool try_again(engine::Instant now) noexcept;

 private:
  engine::Duration within_;
  Content on_disk_;
  std::uint64_t position_ = 0;
  std::uint64_t writes_ = 0;
  std::optional<Content> writing_;
  bool anew_ = true;
  std::size_t bytes_ = 0;  ///< Size of the spool after the newest write.
  std::size_t unwritten_bytes_ = 0;
  bool at_once_ = false;                       ///< A change that decides; or else …
  bool soon_ = false;                          ///< … a change waits until …
  std::optional<engine::Instant> wait_until_;  ///< … this.
  std::optional<engine::Instant> not_before_;  ///< Set after a failed write.
  bool has_failed_ = false;
};

}  // namespace hpsearch::workers
