#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::workers {

/// When an attempt's spool is written, and what it holds since the last write that succeeded. One write is
/// under way at a time.
///
/// Owns:    values only. Time comes from the caller.
/// Threads: none of its own; callers take turns.
/// Cost:    O(1).
class SpoolSchedule {
 public:
  /// The content of a spool.
  struct Content {
    std::uint64_t reports = 0;      ///< Those up to this number.
    std::uint64_t position = 0;     ///< Position in the journal: earlier messages of the program were taken.
    engine::Lsn decision;           ///< This decision and those before it.
    bool leaked_processes = false;  ///< Processes of the attempt survive SIGKILL.
  };

  /// Writes that decide nothing wait at most `within`.
  explicit SpoolSchedule(engine::Duration within) : within_(within) {}

  /// What is on disk.
  [[nodiscard]] const Content& on_disk() const noexcept { return on_disk_; }
  /// An earlier agent has written it.
  void restore(const Content& content) noexcept {
    on_disk_ = content;
    position_ = content.position;
  }
  /// Reports that need no write: they were acknowledged, or are not needed.
  void no_need_for(std::uint64_t reports) noexcept { on_disk_.reports = reports; }
  /// The journal's position that the newest write names.
  [[nodiscard]] std::uint64_t written_position() const noexcept { return position_; }

  /// Something has changed that decides.
  void ask_at_once() noexcept { at_once_ = true; }
  /// Something has changed that can wait.
  void ask_soon(std::size_t more_bytes = 0) noexcept {
    soon_ = true;
    unwritten_bytes_ += more_bytes;
  }
  /// The next write replaces what is there.
  void ask_anew() noexcept { anew_ = true; }

  [[nodiscard]] bool is_writing() const noexcept { return writing_.has_value(); }
  /// A write was asked for and is due. Starts the wait of one that is not.
  [[nodiscard]] bool is_due(engine::Instant now);
  /// When is_due() may become true; nothing: not by time alone, or at once.
  [[nodiscard]] std::optional<engine::Instant> next_wake() const noexcept;

  /// The next write replaces what is there: it must, or `live_bytes`, which it would then have, are less than
  /// half.
  [[nodiscard]] bool is_anew(std::size_t live_bytes) noexcept;
  /// Begins a write of so many bytes. Returns its number.
  std::uint64_t begin(const Content& content, std::size_t bytes) noexcept;
  /// False: it was not the write under way.
  [[nodiscard]] bool succeeded(std::uint64_t write) noexcept;
  /// False: it was not the write under way. Nothing is tried again by this.
  [[nodiscard]] bool failed(std::uint64_t write) noexcept;
  /// Everything is written once more, in a second: what a failed write or sync has left is unknown. True for
  /// the first failure since the last success.
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
  bool at_once_ = false;                       ///< Something decides; or else …
  bool soon_ = false;                          ///< … something waits until …
  std::optional<engine::Instant> wait_until_;  ///< … this.
  std::optional<engine::Instant> not_before_;  ///< A write failed.
  bool has_failed_ = false;
};

}  // namespace hpsearch::workers
