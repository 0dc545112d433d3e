// The engine under random workers, programs and users, all from one seed. After every step its promises are
// checked; at random moments the log is replayed into a fresh engine, which must stand exactly there.
// HPSEARCH_SEED=n runs one seed, HPSEARCH_SEEDS=n that many.

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "engine/sampler_names.hpp"
#include "engine/test_cluster.hpp"
#include "simulation/from_environment.hpp"
#include "simulation/invariants.hpp"
#include "simulation/search_spaces.hpp"

namespace hpsearch::engine {
namespace {

using simulation::from_environment;

/// One random life of a cluster.
class Life {
 public:
  explicit Life(std::uint64_t seed)
      : draw_(seed, TrialNumber(0), "life"),
        samplers_(seed, TrialNumber(0), "samplers"),
        spaces_(seed, TrialNumber(0), "spaces"),
        repeats_(seed, TrialNumber(0), "repeats"),
        quotas_(seed, TrialNumber(0), "quotas") {}

  void run() {
    cluster_.engine.set_most_ends(most_ends_);
    for (std::uint64_t i = 0; i < 1 + draw_.below(3); ++i) {
      create();
    }
    for (int turn = 0; turn < 600 && !testing::Test::HasFailure(); ++turn) {
      something_happens();
      change_quota();
      check();
    }
    heal();
  }

 private:
  bool chance(std::uint64_t of) { return draw_.below(of) == 0; }

  Value in_some_space(Value config) {
    simulation::take_some_space(*config.as_map(), spaces_);
    return config;
  }

  /// Now and then with repeats of its finalists.
  Value repeated(Value config) {
    if (repeats_.below(3) == 0) {
      Value::Map& searcher = *(*config.as_map())["searcher"].as_map();
      searcher["repeats"] = static_cast<std::int64_t>(2 + repeats_.below(2));
      searcher["finalists"] = static_cast<std::int64_t>(1 + repeats_.below(3));
    }
    return config;
  }

  /// With any sampler.
  Value sampled(Value config) {
    config = in_some_space(std::move(config));
    const std::vector<std::string>& samplers = sampler_names();
    (*(*config.as_map())["searcher"].as_map())["sampler"] = samplers[samplers_.below(samplers.size())];
    return repeated(std::move(config));
  }

  void create() {
    const int trials = static_cast<int>(1 + draw_.below(25));
    const int concurrent = static_cast<int>(draw_.below(6));
    Value::Map others{{"max_restarts", static_cast<int>(draw_.below(3))}};
    if (quotas_.below(2) == 0) {
      others["workspace"] = "nlp";
      others["project"] = "letters";
    }
    switch (draw_.below(4)) {
      case 0:
        cluster_.create(sampled(random_config(trials, concurrent, others)));
        break;
      case 1:
        cluster_.create(sampled(asha_config(trials, concurrent, chance(2), others)));
        break;
      case 2:
        cluster_.create(sampled(test_config(Value::Map{{"name", "adaptive_asha"},
                                                       {"max_trials", trials},
                                                       {"max_concurrent_trials", concurrent},
                                                       {"divisor", 3},
                                                       {"stop_once", chance(2)}},
                                            others)));
        break;
      default: {
        Value::Map grid = others;
        grid["hyperparameters"] = Value::Map{
            {"x", Value::Map{{"type", "int"}, {"minval", 1}, {"maxval", trials + 1}, {"count", trials}}}};
        cluster_.create(repeated(in_some_space(test_config(
            Value::Map{{"name", "grid"}, {"max_concurrent_trials", concurrent}}, std::move(grid)))));
      }
    }
  }

  std::optional<AttemptKey> some_attempt() {
    if (cluster_.attempts.empty()) {
      return std::nullopt;
    }
    auto at = cluster_.attempts.begin();
    std::advance(at, static_cast<long>(draw_.below(cluster_.attempts.size())));
    return at->first;
  }

  void join() {
    const std::string uid = "w" + std::to_string(draw_.below(3));
    std::vector<HeldAttempt> held;
    const bool restarted = chance(3);
    std::uint64_t incarnation = incarnations_[uid];
    for (const auto& [key, attempt] : cluster_.attempts) {
      if (uid_of_.contains(attempt.worker) && uid_of_[attempt.worker] == uid && !restarted) {
        held.push_back(
            HeldAttempt{key, false, attempt.next_seq - 1, attempt.decision ? attempt.decision->id : Lsn()});
      }
    }
    if (restarted) {
      incarnation = ++incarnations_[uid];
    }
    const WorkerId id = cluster_.join(uid, 1 + draw_.below(3), incarnation, held);
    uid_of_[id] = uid;
  }

  void program(const AttemptKey& key) {
    TestAttempt& attempt = cluster_.attempts.at(key);
    const bool asked_to_end = attempt.decision && attempt.decision->directive != Directive::train_on;
    if (asked_to_end && !chance(4)) {
      cluster_.exit(key, chance(3) ? 143 : 0);
      return;
    }
    const Units length = attempt.decision ? attempt.decision->length : attempt.spec.length;
    switch (draw_.below(12)) {
      case 0:
        cluster_.exit(key, chance(2) ? 1 : 75);
        break;
      case 1:
        cluster_.exit(key, 0);
        break;
      case 2:
        cluster_.send(key, InvalidHparamsReport{"no"});
        break;
      case 3:
        cluster_.send(
            key, CheckpointReport{Units{draw_.below(9)}, "/c/" + std::to_string(key.lease.number()), 1, 1});
        break;
      case 4:
        cluster_.report(key, draw_.below(10), std::numeric_limits<double>::quiet_NaN());
        break;
      case 5:
        cluster_.report(key, draw_.below(12), draw_.unit());
        break;
      case 6:  // A duplicate, as after a lost acknowledgement.
        if (attempt.next_seq > 1) {
          cluster_.step(TakeReports{attempt.worker, key, attempt.next_seq - 1, {MetricsReport{}}});
        }
        break;
      default:
        cluster_.report(key, count(length), draw_.unit());
    }
  }

  void end_some_trial(const ExperimentRecord& record) {
    if (record.trials.empty()) {
      return;
    }
    const TrialNumber trial(draw_.below(record.trials.size()));
    if (!is_closed(record.trials[trial.number()].state)) {
      const ExitReason reason = chance(2) ? ExitReason::user_canceled : ExitReason::user_stopped;
      cluster_.step(EndTrial{record.id, trial, reason});
    }
  }

  /// In two of three lives, now and then. Experiments are in one of two workspaces.
  void change_quota() {
    if (quotas_.below(40) != 0 || has_quotas_ == 0) {
      return;
    }
    Quota quota;
    if (quotas_.below(3) != 0) {
      quota.max_slots = quotas_.below(5);
    }
    if (quotas_.below(3) == 0) {
      quota.max_slots_per_user = quotas_.below(3);
    }
    if (quotas_.below(4) == 0) {
      quota.slot_hours_per_30d = quotas_.below(3);
    }
    const bool is_named = quotas_.below(2) == 0 && cluster_.engine.workspaces().contains("nlp");
    cluster_.step(ChangeQuota{is_named ? "nlp" : "default", quota});
  }

  void change_limits(const ExperimentRecord& record) {
    Value::Map searcher;
    Value::Map resources{{"priority", static_cast<std::int64_t>(1 + draw_.below(99))}};
    const SearcherConfig& now = record.config.searcher;
    searcher["max_concurrent_trials"] = static_cast<std::int64_t>(draw_.below(5));
    if (now.max_trials > 0 && chance(2)) {
      searcher["max_trials"] = static_cast<std::int64_t>(1 + draw_.below(2 * now.max_trials));
    }
    if (now.max_trials > 0 && chance(3)) {
      searcher["points_to_evaluate"] = Value::List{record.config.space.sample(draw_.bits(), TrialNumber(0))};
      searcher["on_duplicate"] = chance(2) ? "reject" : "allow";
    }
    if (chance(3)) {
      resources["max_slots"] = chance(2) ? Value() : Value(static_cast<std::int64_t>(1 + draw_.below(4)));
    }
    Value::Map changes{{"resources", resources}};
    if (!std::holds_alternative<Finished>(
            record.searcher->next())) {  // Else only a pause keeps it from its end.
      changes["searcher"] = searcher;
    }
    cluster_.step(ChangeExperiment{record.id, changes});
  }

  void user() {
    const ExperimentId id(1 + draw_.below(cluster_.engine.experiments().size()));
    const ExperimentState state = cluster_.engine.find(id)->state;
    if (chance(3)) {
      end_some_trial(*cluster_.engine.find(id));
      return;
    }
    if (chance(3) && (state == ExperimentState::active || state == ExperimentState::paused)) {
      change_limits(*cluster_.engine.find(id));
      return;
    }
    if (state == ExperimentState::active) {
      if (chance(10)) {
        cluster_.step(chance(2) ? Command(CancelExperiment{id}) : Command(KillExperiment{id}));
      } else {
        cluster_.step(PauseExperiment{id});
      }
    } else if (state == ExperimentState::paused) {
      cluster_.step(ResumeExperiment{id});
    }
  }

  void something_happens() {
    const std::uint64_t kind = draw_.below(100);
    if (kind < 5) {
      join();
    } else if (kind < 7 && !cluster_.engine.workers().empty()) {
      cluster_.step(LoseWorker{WorkerId(1 + draw_.below(cluster_.engine.workers().size())), "silent"});
    } else if (kind < 12) {
      user();
    } else if (kind < 14) {
      for (const auto& [id, worker] : cluster_.engine.workers()) {
        cluster_.engine.set_suspect(id, chance(4));
      }
    } else if (const auto key = some_attempt()) {
      program(*key);
    }
  }

  void check() {
    EXPECT_EQ(broken_invariant(cluster_.engine), "");
    if (chance(60)) {
      replay();
    }
  }

  void replay() {
    Engine twin(searchers::registry());
    twin.set_most_ends(most_ends_);
    for (const Event& event : cluster_.log) {
      ASSERT_TRUE(twin.replay(event));
      ASSERT_EQ(broken_limit(twin, &event), "") << "after event " << twin.last_lsn().number();
    }
    ASSERT_EQ(state_text(twin), state_text(cluster_.engine));
    ASSERT_EQ(broken_invariant(twin), "");
    if (chance(2)) {  // The daemon was restarted: life goes on with what was recovered.
      cluster_.engine = std::move(twin);
    }
  }

  /// Faults are over: everything that was begun must end.
  void heal() {
    for (const auto& [id, worker] : cluster_.engine.workers()) {
      cluster_.engine.set_suspect(id, false);
    }
    cluster_.join("healthy", 4);
    for (const char* name : {"default", "nlp"}) {  // One slot is enough to end.
      if (cluster_.engine.workspaces().contains(name)) {
        cluster_.step(ChangeQuota{name, Quota{.max_slots = 1 + quotas_.below(3)}});
      }
    }
    for (const auto& [id, record] : cluster_.engine.experiments()) {
      if (record.state == ExperimentState::paused) {
        cluster_.step(ResumeExperiment{id});
      }
    }
    cluster_.step(CheckTimers{});
    for (int turn = 0; turn < 10'000 && !testing::Test::HasFailure(); ++turn) {
      if (cluster_.attempts.empty()) {
        const auto due = cluster_.engine.next_deadline();
        if (!due) {
          break;
        }
        cluster_.now = std::max(cluster_.now, *due);  // What is put off is waited for.
        cluster_.step(CheckTimers{});
        continue;
      }
      const AttemptKey key = cluster_.attempts.begin()->first;
      const TestAttempt& attempt = cluster_.attempts.begin()->second;
      if (attempt.decision && attempt.decision->directive != Directive::train_on) {
        cluster_.exit(key);
      } else {
        cluster_.report(key, count(attempt.decision ? attempt.decision->length : attempt.spec.length),
                        draw_.unit());
      }
      EXPECT_EQ(broken_invariant(cluster_.engine), "");
      EXPECT_EQ(idle_slot(cluster_.engine), "");
    }
    for (const auto& [id, record] : cluster_.engine.experiments()) {
      EXPECT_TRUE(is_ended(record.state)) << "experiment " << id.number() << " is " << name_of(record.state);
    }
    replay();
  }

  Draw draw_;
  Draw samplers_;  // Its own, so that lives stay what they were but for this.
  Draw spaces_;    // Likewise.
  Draw repeats_;   // Likewise.
  Draw quotas_;    // Likewise.
  std::uint64_t has_quotas_ = quotas_.below(3);
  std::uint64_t most_ends_ = chance(2) ? 512 : 1 + draw_.below(3);  // In one step; the rest in the next ones.
  TestCluster cluster_;
  std::map<std::string, std::uint64_t> incarnations_;
  std::map<WorkerId, std::string> uid_of_;
};

TEST(EngineSimulation, KeepsItsPromisesForEverySeed) {
  const std::uint64_t first = from_environment("HPSEARCH_SEED", 1);
  const bool one = std::getenv("HPSEARCH_SEED") != nullptr;
  const std::uint64_t seeds = one ? 1 : from_environment("HPSEARCH_SEEDS", 300);
  std::cout << "seeds " << first << " to " << first + seeds - 1 << std::endl;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    Life(seed).run();
    ASSERT_FALSE(HasFailure()) << "replay with HPSEARCH_SEED=" << seed;
  }
}

}  // namespace
}  // namespace hpsearch::engine
