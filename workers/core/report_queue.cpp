#include "hpsearch/workers/core/report_queue.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace hpsearch::workers {

using engine::Duration;
using engine::Instant;
using engine::Report;

namespace {

// A batch has fewer reports than the decoder accepts as items of one list.
constexpr std::size_t batch_reports = 512;
// The maximum number of unacknowledged batches of an attempt: later reports wait for fewer, larger batches.
// The daemon's queue has space for 256 messages of a worker.
constexpr std::size_t batches_in_flight = 64;
// After a lost frame, the daemon asks once for each later frame; all these requests mean the same.
constexpr Duration one_nack_per = Duration::millis(200);

struct EncodedSize {
  std::size_t operator()(const engine::MetricsReport& report) const {
    std::size_t bytes = 48;
    for (const auto& [name, value] : report.metrics) {
      bytes += name.size() + 16;
    }
    return bytes;
  }
  std::size_t operator()(const engine::CheckpointReport& report) const { return 96 + report.path.size(); }
  std::size_t operator()(const engine::InvalidHparamsReport& report) const { return 48 + report.why.size(); }
  std::size_t operator()(const engine::NoteReport& report) const {
    return 48 + report.about.size() + report.text.size();
  }
  std::size_t operator()(const engine::UnmeasuredReport& /*report*/) const { return 48; }
  std::size_t operator()(const engine::ExitReport& report) const {
    return 96 + report.message.size() + report.log_tail.size();
  }
};

}  // namespace

ReportQueue::ReportQueue(const engine::AttemptKey& key, Rules rules)
    : key_(key),
      rules_(rules),
      resend_after_(rules.first_resend),
      spread_(rules.first_resend, rules.longest_resend,
              engine::Draw(key.lease.number(), key.trial, "resend")) {  // Different for each attempt.
}

void ReportQueue::restore(std::uint64_t acked, std::deque<Report> reports) {
  acked_ = sent_ = acked;
  for (Report& report : reports) {
    add(std::move(report));
  }
}

std::size_t ReportQueue::add(Report report) {
  const std::size_t bytes = std::visit(EncodedSize{}, report);
  bytes_ += bytes;
  kept_.push_back({std::move(report), bytes});
  return bytes;
}

const ReportQueue::Kept& ReportQueue::at(std::uint64_t seq) const {
  return kept_[static_cast<std::size_t>(seq - acked_ - 1)];
}

std::vector<Report> ReportQueue::after(std::uint64_t seq) const {
  std::vector<Report> reports;
  reports.reserve(static_cast<std::size_t>(last() - seq));
  while (++seq <= last()) {
    reports.push_back(at(seq).report);
  }
  return reports;
}

void ReportQueue::acknowledge(std::uint64_t upto) {
  const std::uint64_t newest = std::min(upto, last());
  if (newest > acked_) {
    unanswered_ = 0;
    resend_after_ = first_resend();
    resend_at_.reset();
  }
  for (; acked_ < newest; ++acked_) {
    bytes_ -= kept_.front().bytes;
    if (acked_ < sent_) {
      in_flight_bytes_ -= kept_.front().bytes;
    }
    kept_.pop_front();
  }
  sent_ = std::max(sent_, acked_);
  while (!batches_.empty() && batches_.front() <= acked_) {
    batches_.pop_front();
  }
}

void ReportQueue::answered(std::uint64_t upto, Instant now) {
  if (timed_ && upto >= timed_->seq) {
    const Duration took = now - timed_->sent;
    answer_time_ =
        answer_time_ ? Duration::micros((7 * answer_time_->in_micros() + took.in_micros()) / 8) : took;
    timed_.reset();
  }
  acknowledge(upto);
}

void ReportQueue::drop_all() {
  acked_ = last();
  kept_.clear();
  bytes_ = 0;
  forget_sent();
}

Duration ReportQueue::first_resend() const noexcept {
  const Duration patience = Duration::micros(answer_time_ ? 4 * answer_time_->in_micros() : 0);
  return std::clamp(patience, rules_.first_resend, rules_.longest_resend);
}

void ReportQueue::resend_from(std::uint64_t expect, Instant now) noexcept {
  const bool again = last_nack_at_ && now - *last_nack_at_ < one_nack_per;
  if (again || expect > sent_) {
    return;
  }
  last_nack_at_ = now;
  timed_.reset();
  sent_ = acked_;
  in_flight_bytes_ = 0;
  while (!batches_.empty() && batches_.back() >= expect) {
    batches_.pop_back();
  }
  for (std::uint64_t seq = acked_ + 1; seq < expect; ++seq) {
    in_flight_bytes_ += at(seq).bytes;
    sent_ = seq;
  }
}

void ReportQueue::wait_until(Instant until) noexcept {
  unanswered_ = 0;
  if (resend_at_) {
    resend_at_ = until;
    resend_after_ = first_resend();
  }
}

void ReportQueue::forget_sent() noexcept {
  sent_ = acked_;
  in_flight_bytes_ = 0;
  batches_.clear();
  resend_at_.reset();
  timed_.reset();
  resend_after_ = first_resend();
  last_nack_at_.reset();
  unanswered_ = 0;
}

void ReportQueue::send(Instant now, std::size_t window, std::uint64_t upto,
                       std::vector<proto::FromWorker>& messages) {
  const auto has_room = [this, window] {
    return batches_.size() < batches_in_flight &&
           (in_flight_bytes_ == 0 || in_flight_bytes_ + at(sent_ + 1).bytes <= window);
  };
  while (sent_ < upto && has_room()) {
    proto::Reports batch{.key = key_, .first_seq = sent_ + 1, .reports = {}};
    std::size_t bytes = 0;
    const std::size_t most = std::min(rules_.batch_bytes, window - std::min(window, in_flight_bytes_));
    while (sent_ < upto && batch.reports.size() < batch_reports) {
      const Kept& next = at(sent_ + 1);
      if (!batch.reports.empty() && bytes + next.bytes > most) {
        break;
      }
      bytes += next.bytes;
      batch.reports.push_back(next.report);
      ++sent_;
    }
    in_flight_bytes_ += bytes;
    batches_.push_back(sent_);
    if (!timed_ && unanswered_ == 0) {
      timed_ = Timed{sent_, now};
    }
    messages.emplace_back(std::move(batch));
  }
  if (sent_ > acked_ && !resend_at_) {
    resend_at_ = now + spread_.about(resend_after_);
  }
}

void ReportQueue::check_timer(Instant now) noexcept {
  if (!resend_at_ || now < *resend_at_) {
    return;
  }
  sent_ = acked_;
  in_flight_bytes_ = 0;
  batches_.clear();
  resend_at_.reset();
  timed_.reset();
  resend_after_ = std::min(rules_.longest_resend, resend_after_ + resend_after_);
  ++unanswered_;
}

}  // namespace hpsearch::workers
