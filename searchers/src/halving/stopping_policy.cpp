#include "hpsearch/searchers/stopping_policy.hpp"

#include <algorithm>
#include <cstddef>

namespace hpsearch::searchers {

using engine::TrialNumber;

engine::Reason because(engine::Reason::Why why) {
  engine::Reason reason;
  reason.why = why;
  return reason;
}

void Quota::created() noexcept {
  if (owes_replacement()) {
    ++replacements_;
  }
  ++created_;
}

void Quota::invalid() noexcept {
  if (replace_invalid_) {
    ++replaceable_;
  }
}

std::span<const TrialNumber> ClosableList::view() const noexcept {
  return std::span(trials_).subspan(first_);
}

void ClosableList::add(std::vector<TrialNumber> trials) {
  if (!std::is_sorted(trials.begin(),
                      trials.end())) {  // Where trials report in order it is, and there may be a million.
    std::sort(trials.begin(), trials.end());
  }
  trials_.erase(trials_.begin(), trials_.begin() + static_cast<std::ptrdiff_t>(first_));
  first_ = 0;
  const auto middle = static_cast<std::ptrdiff_t>(trials_.size());
  trials_.insert(trials_.end(), trials.begin(), trials.end());
  std::inplace_merge(trials_.begin(), trials_.begin() + middle, trials_.end());
}

bool ClosableList::remove(TrialNumber trial) {
  const auto begin = trials_.begin() + static_cast<std::ptrdiff_t>(first_);
  if (begin != trials_.end() && *begin == trial) {  // As they are closed.
    ++first_;
    return true;
  }
  const auto found = std::lower_bound(begin, trials_.end(), trial);
  if (found == trials_.end() || *found != trial) {
    return false;
  }
  trials_.erase(found);
  return true;
}

}  // namespace hpsearch::searchers
