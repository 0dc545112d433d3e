#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/engine/experiment/commands.hpp"
#include "hpsearch/proto/wire/wire.hpp"
#include "hpsearch/workers/core/backoff.hpp"

namespace hpsearch::workers {

/// The reports of one attempt that the daemon has not acknowledged. They are numbered from 1 without gaps,
/// sent in batches, and sent again until they are acknowledged.
///
/// Owns:    values only. Time comes from the caller.
/// Threads: none of its own; callers take turns.
/// Cost:    O(1) per report.
class ReportQueue {
 public:
  struct Rules {
    engine::Duration first_resend;    ///< Shortest time until reports are sent again.
    engine::Duration longest_resend;  ///< It doubles up to this.
    std::size_t batch_bytes = 0;      ///< The size of the reports in one message.
  };

  ReportQueue(const engine::AttemptKey& key, Rules rules);

  /// Continues after `acked` reports with those that aren't acknowledged.
  void restore(std::uint64_t acked, std::deque<engine::Report> reports);

  /// Gives the report the next number. Returns an estimate of its encoded size, never much too low.
  std::size_t add(engine::Report report);

  [[nodiscard]] bool empty() const noexcept { return kept_.empty(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t last() const noexcept { return acked_ + kept_.size(); }
  [[nodiscard]] std::uint64_t acked() const noexcept { return acked_; }
  /// The reports after `seq`, which is at least acked().
  [[nodiscard]] std::vector<engine::Report> after(std::uint64_t seq) const;

  void acknowledge(std::uint64_t upto);
  /// Acknowledges reports that were sent: this measures the time of acknowledgements.
  void answered(std::uint64_t upto, engine::Instant now);
  /// All count as acknowledged, because they aren't needed.
  void drop_all();

  /// The daemon lacks report `expect`.
  void resend_from(std::uint64_t expect, engine::Instant now) noexcept;
  /// The daemon can't accept reports before `until`.
  void wait_until(engine::Instant until) noexcept;
  /// A new session: all unacknowledged reports are sent again.
  void forget_sent() noexcept;
  void stop_timer() noexcept { resend_at_.reset(); }

  /// Adds batches of reports up to number `upto` that weren't sent in this session, while at most
  /// `window` bytes of them (or one that is larger) and less than 64 batches are unacknowledged.
  void send(engine::Instant now, std::size_t window, std::uint64_t upto,
            std::vector<proto::FromWorker>& messages);
  /// Makes send() repeat reports that weren't acknowledged in time.
  void check_timer(engine::Instant now) noexcept;

  [[nodiscard]] std::optional<engine::Instant> next_wake() const noexcept { return resend_at_; }
  /// How often reports were sent again without an acknowledgement between.
  [[nodiscard]] unsigned unanswered_resends() const noexcept { return unanswered_; }

 private:
  struct Kept {
    engine::Report report;
    std::size_t bytes = 0;
  };
  /// A batch that was sent once and waits for its acknowledgement. Sending it again would make the
  /// answer ambiguous (P. Karn and C. Partridge, SIGCOMM 1987).
  struct Timed {
    std::uint64_t seq = 0;
    engine::Instant sent;
  };

  [[nodiscard]] engine::Duration first_resend() const noexcept;
  [[nodiscard]] const Kept& at(std::uint64_t seq) const;

  engine::AttemptKey key_;
  Rules rules_;
  // Reports acked_+1 … last(), of which those up to sent_ were sent in this session.
  std::deque<Kept> kept_;
  std::size_t bytes_ = 0;
  std::uint64_t acked_ = 0;
  std::uint64_t sent_ = 0;
  std::size_t in_flight_bytes_ = 0;
  std::deque<std::uint64_t> batches_;  ///< The last report of each batch in flight.
  std::optional<Timed> timed_;
  std::optional<engine::Duration> answer_time_;  ///< Smoothed as in RFC 6298, section 2.
  engine::Duration resend_after_;
  std::optional<engine::Instant> resend_at_;
  Backoff spread_;
  std::optional<engine::Instant> last_nack_at_;
  unsigned unanswered_ = 0;
};

}  // namespace hpsearch::workers
