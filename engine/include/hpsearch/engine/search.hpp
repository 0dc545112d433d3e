#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/engine.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/engine/scheduler/explain.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::engine {

/// A search inside one program: ask for work, report what came of it, read the best. The same engine,
/// searchers and decisions as behind the daemon, with this program as the only worker.
///
/// Threads: callers take turns; evaluate trials in as many threads as there are slots.
/// Cost:    as Engine::step.
class Search {
 public:
  /// A trial to train until `length` in all. After a pause the same trial may come again, further on.
  struct Work {
    TrialNumber trial;
    Value hparams;
    Units from{};    ///< What it was trained already; 0 on a fresh start.
    Units length{};  ///< At least from + 1.
  };
  struct Best {
    TrialNumber trial;
    Value hparams;
    double metric = 0;
    Units step{};
  };

  /// Takes each event of the search, in order, before the call that made it returns. All events of a search
  /// are its state: restore().
  using EventSink = std::function<void(const Event&)>;

  /// The configuration with what a search in a program may leave out: name, entrypoint, max_restarts. Without
  /// what has no meaning there: workers, resources.slots_per_trial, resources.max_slots.
  [[nodiscard]] static Value completed(Value config);

  /// `config` is an experiment as the file describes it; `entrypoint` and `name` may be missing. `slots`
  /// pieces of work can be out at once. bad_request: what is wrong with the config, every problem on its own
  /// line.
  [[nodiscard]] static Result<Search> open(const Value& config, SearcherRegistry registry,
                                           std::uint64_t slots = 1, EventSink sink = {});

  /// The search that made these events, all and in order. Work that was out is lost with the program that had
  /// it, and ask() gives it again; that uses up no restart. `sink` takes what happens from now on. corrupt:
  /// the events are not those of a search, as it says.
  [[nodiscard]] static Result<Search> restore(std::span<const Event> events, SearcherRegistry registry,
                                              EventSink sink = {});

  /// The next piece of work; nothing while all slots are out, or when the search is over.
  [[nodiscard]] std::optional<Work> ask();

  /// What a trial measured after `step` units in all. The answer says what it should do: train_on to
  /// `length`, or pause or stop, which gives its slot back. not_found: that trial is not out.
  Result<Decision> report(TrialNumber trial, Units step, double metric);

  /// The trial cannot go on. invalid_hp: its parameters are invalid. errored: evaluating it failed; ask()
  /// gives it again while the config's max_restarts, none unless it says so, are not used up. user_canceled,
  /// user_stopped: somebody wants no more of it. `why` says more of the first two. not_found: that trial is
  /// not out.
  Status give_up(TrialNumber trial, ExitReason reason, const std::string& why);

  [[nodiscard]] std::optional<Best> best() const;
  [[nodiscard]] bool finished() const;
  [[nodiscard]] double progress() const;
  [[nodiscard]] const ExperimentRecord& experiment() const;
  /// Why a trial is where it is. not_found: there is no such trial.
  [[nodiscard]] Result<Explanation> explain(TrialNumber trial) const;

 private:
  Search(Engine engine, EventSink sink);
  Result<WorkerId> join(std::uint64_t slots, std::uint64_t incarnation);
  Result<Effects> step(const Command& command);  ///< And what follows at once.
  Result<Effects> step_once(const Command& command);
  Status end_attempt(const AttemptKey& key, std::uint64_t seq, ExitReport exit);

  Engine engine_;
  EventSink sink_;
  WorkerId worker_;
  ExperimentId experiment_;
  std::int64_t ticks_ = 0;        // One engine microsecond a step: order is all that matters here.
  std::deque<AttemptKey> ready_;  // Leased, not asked for yet; oldest first.
};

}  // namespace hpsearch::engine
