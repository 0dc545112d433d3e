#include <algorithm>
#include <utility>

#include "hpsearch/engine/experiment/failures.hpp"

namespace hpsearch::engine {

void FailureCauses::note(const std::string& kind, std::string why, TrialNumber trial) {
  Cause cause{kind, std::move(why), 1, trial};
  const auto known =
      std::find_if(causes_.begin(), causes_.end(), [&](const Cause& one) { return one.kind == kind; });
  if (known != causes_.end()) {
    cause.attempts += known->attempts;
    causes_.erase(known);
  } else if (causes_.size() == most) {
    causes_.erase(std::min_element(causes_.begin(), causes_.end(),
                                   [](const Cause& a, const Cause& b) { return a.attempts < b.attempts; }));
  }
  causes_.push_back(std::move(cause));
}

const FailureCauses::Cause* FailureCauses::most_common() const {
  const Cause* found = nullptr;
  for (const Cause& cause : causes_) {
    if (cause.attempts >= std::max<std::uint64_t>(2, found == nullptr ? 0 : found->attempts)) {
      found = &cause;
    }
  }
  return found;
}

}  // namespace hpsearch::engine
