#include "hpsearch/workers/core/spool_schedule.hpp"

#include <algorithm>
#include <utility>

namespace hpsearch::workers {
namespace {

// This much is written at once even if it doesn't decide anything.
constexpr std::size_t burst = 64 * 1024;
// A spool that is larger than this is rewritten if most of it has been acknowledged.
constexpr std::size_t small_spool = 1024 * 1024;
constexpr engine::Duration again_after = engine::Duration::seconds(1);

}  // namespace

bool SpoolSchedule::is_due(engine::Instant now) {
  if (!at_once_ && !soon_) {
    return false;
  }
  if (!wait_until_) {
    wait_until_ = now + within_;
  }
  const bool due = at_once_ || unwritten_bytes_ >= burst || now >= *wait_until_;
  return due && (!not_before_ || now >= *not_before_);
}

std::optional<engine::Instant> SpoolSchedule::next_wake() const noexcept {
  if (!at_once_ && !soon_) {
    return std::nullopt;
  }
  std::optional<engine::Instant> due = at_once_ ? not_before_ : wait_until_;
  if (due && not_before_) {
    due = std::max(*due, *not_before_);
  }
  return due;
}

bool SpoolSchedule::is_anew(std::size_t live_bytes) noexcept {
  anew_ = anew_ || (bytes_ > small_spool && live_bytes < bytes_ / 2);
  return anew_;
}

std::uint64_t SpoolSchedule::begin(const Content& content, std::size_t bytes) noexcept {
  bytes_ = (std::exchange(anew_, false) ? 0 : bytes_) + bytes;
  writing_ = content;
  position_ = content.position;
  unwritten_bytes_ = 0;
  at_once_ = soon_ = false;
  wait_until_.reset();
  not_before_.reset();
  return ++writes_;
}

bool SpoolSchedule::succeeded(std::uint64_t write) noexcept {
  if (!writing_ || write != writes_) {
    return false;
  }
  has_failed_ = false;
  const std::uint64_t reports = std::max(on_disk_.reports, writing_->reports);
  on_disk_ = *std::exchange(writing_, std::nullopt);
  on_disk_.reports = reports;
  return true;
}

bool SpoolSchedule::failed(std::uint64_t write) noexcept {
  if (!writing_ || write != writes_) {
    return false;
  }
  writing_.reset();
  return true;
}

bool SpoolSchedule::try_again(engine::Instant now) noexcept {
  anew_ = at_once_ = true;
  not_before_ = now + again_after;
  return !std::exchange(has_failed_, true);
}

}  // namespace hpsearch::workers
