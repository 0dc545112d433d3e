#pragma once

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/score.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::searchers {

/// Receives what becomes of trials: a search that learns learns from it.
///
/// Every event comes once and in order; what came late or twice was left out before. A trial trains towards
/// its target from on_created() or on_promoted() until on_validated(), on_exited() or on_closed() follows. A
/// search that is restored hears its whole log this way, and is asked nothing meanwhile: hearing must be
/// cheap.
class TrialListener {
 public:
  TrialListener() = default;
  TrialListener(const TrialListener&) = delete;
  TrialListener& operator=(const TrialListener&) = delete;
  virtual ~TrialListener() = default;

  /// Trials are numbered from 0 without gaps. `target`: how far it trains first.
  virtual void on_created(engine::TrialNumber /*trial*/, const engine::Value& /*hparams*/,
                          engine::Units /*target*/) {}
  /// It trains on to `target` units in all.
  virtual void on_promoted(engine::TrialNumber /*trial*/, engine::Units /*target*/) {}
  /// Its result after `length` units in all, which was its target.
  virtual void on_validated(engine::TrialNumber /*trial*/, engine::Units /*length*/,
                            engine::Score /*score*/) {}
  /// It ended early. With invalid_hp it counts as if it had never been.
  virtual void on_exited(engine::TrialNumber /*trial*/, engine::ExitReason /*reason*/) {}
  /// It exited as errored, and trains to its target once more: what was learnt of that failure may be
  /// forgotten.
  virtual void on_retried(engine::TrialNumber /*trial*/, engine::Units /*target*/) {}
  /// Nothing more is wanted of it; its results stay.
  virtual void on_closed(engine::TrialNumber /*trial*/) {}
};

}  // namespace hpsearch::searchers
