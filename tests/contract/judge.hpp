#pragma once

#include <cstdint>

#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::contract {

/// Recomputes the numbers of reasons from the events of the search, by rules of its own. A fixture may bring
/// one along.
class Judge {
 public:
  Judge() = default;
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;
  virtual ~Judge() = default;

  /// `bracket` is that of the trial, as the reason of its creation named it.
  virtual void on_event(const engine::SearchEvent& event, std::uint64_t bracket) = 0;
  /// Complains unless the reason's numbers are those that hold now.
  virtual void expect(engine::TrialNumber trial, const engine::Reason& reason) const = 0;
};

}  // namespace hpsearch::contract
