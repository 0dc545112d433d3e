#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "engine/alloc/queue_cluster.hpp"
#include "scratch.hpp"

// An engine beside a pretended scheduler that delays jobs, loses answers, preempts, and lies about how jobs
// ended. The daemon between them does what apps/daemon/alloc does.

namespace hpsearch::engine {
namespace {

/// A job of the other scheduler.
struct Job {
  AllocationName name;
  std::int64_t starts_in = 0;  ///< Seconds.
  bool running = false;
  bool over = false;
  AllocationEnd end = AllocationEnd::completed;
  std::optional<WorkerId> worker{};
  std::int64_t idle = 0;  ///< Seconds without a lease.
};

class ControllerSimulation {
 public:
  explicit ControllerSimulation(std::uint64_t seed) : random_(seed) {
    settings_ = QueueCluster::settings(1 + below(5), 1 + below(3));
    settings_.idle_timeout = Duration::seconds(20);
    cluster_.add(settings_);
  }

  void run() {
    const ExperimentId id = cluster_.create(random_config(static_cast<int>(5 + below(20)), 0));
    for (int second = 0; second < 20'000 && !is_over(id); ++second) {
      pass_a_second();
    }
    ASSERT_TRUE(is_over(id)) << "every trial terminates";
    for (int second = 0; second < 400; ++second) {
      pass_a_second();
    }
    EXPECT_EQ(load_of(cluster_.queue()).workers, 0U) << "allocations end with their demand";
    EXPECT_TRUE(cluster_.engine.workers().empty()) << "their workers are forgotten";
    for (const auto& [key, job] : jobs_) {
      EXPECT_TRUE(job.over) << "no job is left: " << text_of(job.name);
    }
    cluster_.expect_replayable();
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool chance(std::uint64_t one_in) { return below(one_in) == 0; }
  bool is_over(ExperimentId id) const { return is_ended(cluster_.engine.find(id)->state); }

  void pass_a_second() {
    if (chance(300)) {
      restart();
    }
    for (const AllocationName& name : cluster_.plan()) {
      to_submit_.insert(name);
    }
    for (const AllocationName& name : cluster_.withdrawn) {
      cancel(name);
    }
    submit();
    run_jobs();
    if (chance(5)) {
      look();
    }
    EXPECT_LE(load_of(cluster_.queue()).workers, settings_.max_workers);
    if (cluster_.queue().state == QueueRecord::State::paused) {
      cluster_.step(ResumeQueue{"gpu"});
    }
  }

  /// A daemon that was killed knows only what is in the log: what it was about to submit is wanted there.
  void restart() {
    to_submit_.clear();
    for (const auto& [name, queue] : cluster_.engine.queues()) {
      for (const auto& [number, allocation] : queue.allocations) {
        if (allocation.state == AllocationRecord::State::wanted && allocation.canceling.empty()) {
          to_submit_.insert(allocation.name);
        }
      }
    }
  }

  /// The answer of a submission may be lost: then the job is found by its key, or submitted again.
  void submit() {
    for (auto at = to_submit_.begin(); at != to_submit_.end();) {
      const AllocationRecord* allocation = cluster_.engine.find(*at);
      if (allocation == nullptr || !is_live(*allocation)) {
        at = to_submit_.erase(at);
        continue;
      }
      const bool known = jobs_.contains(allocation->key);
      if (!known && chance(10)) {
        cluster_.step(NoteEnded{*at, AllocationEnd::refused, "the controller is too busy"});
        at = to_submit_.erase(at);
        continue;
      }
      if (!known && !chance(8)) {
        EXPECT_TRUE(keys_.insert(allocation->key).second) << "no key is used twice";
        jobs_[allocation->key] = {*at, static_cast<std::int64_t>(below(60))};
      }
      if (jobs_.contains(allocation->key) && !chance(4)) {
        cluster_.step(NoteSubmitted{*at, "job" + allocation->key});
        at = to_submit_.erase(at);
      } else {
        ++at;
      }
    }
  }

  void cancel(const AllocationName& name) {
    const AllocationRecord& allocation = cluster_.allocation(name);
    const auto job = jobs_.find(allocation.key);
    if (job == jobs_.end()) {
      return;  // Canceled once its job is known.
    }
    if (!chance(4)) {
      end(job->second, AllocationEnd::canceled_there);
    }
  }

  void run_jobs() {
    for (auto& [key, job] : jobs_) {
      if (job.over) {
        continue;
      }
      if (!job.running && job.starts_in-- <= 0) {
        job.running = true;
        if (!chance(12)) {
          job.worker = cluster_.join_in(job.name, 2, key);
        }
      } else if (job.running && chance(60)) {
        end(job, chance(2) ? AllocationEnd::completed : AllocationEnd::preempted);
      } else if (job.running && !job.worker) {
        end(job, AllocationEnd::failed);
      } else if (job.running) {
        work(job);
      }
    }
  }

  void work(Job& job) {
    std::vector<AttemptKey> mine;
    for (const auto& [key, attempt] : cluster_.attempts) {
      if (attempt.worker == *job.worker) {
        mine.push_back(key);
      }
    }
    job.idle = mine.empty() ? job.idle + 1 : 0;
    if (job.idle > 20) {
      cluster_.step(LoseWorker{*job.worker, "idle"});
      job.worker.reset();
      end(job, AllocationEnd::completed);
      return;
    }
    for (const AttemptKey& key : mine) {
      if (chance(5) && cluster_.attempts.contains(key)) {
        cluster_.report(key, count(cluster_.attempts.at(key).spec.length), 0.5);
        cluster_.exit(key);
      }
    }
  }

  /// The worker ended with its job; the daemon hears of it when it looks.
  void end(Job& job, AllocationEnd how) {
    job.over = true;
    job.end = how;
    if (job.worker) {
      std::erase_if(cluster_.attempts,
                    [&job](const auto& entry) { return entry.second.worker == *job.worker; });
    }
  }

  /// What the other scheduler says about its jobs, which may be wrong, or nothing.
  void look() {
    if (chance(5)) {
      return;  // It does not answer.
    }
    for (const auto& [key, job] : jobs_) {
      const AllocationRecord* allocation = cluster_.engine.find(job.name);
      if (allocation == nullptr || !is_live(*allocation)) {
        continue;
      }
      cluster_.step(NoteSubmitted{job.name, "job" + key});
      if (job.over) {
        const AllocationEnd said = chance(6) ? AllocationEnd::vanished : job.end;
        cluster_.step(NoteEnded{job.name, said, "", true});
      } else if (job.running) {
        cluster_.step(NoteStarted{job.name});
      } else if (!allocation->canceling.empty()) {
        cancel(job.name);
      }
    }
  }

  std::mt19937_64 random_;
  QueueCluster cluster_;
  QueueSettings settings_;
  std::set<AllocationName> to_submit_;
  std::map<std::string, Job> jobs_;  // By key.
  std::set<std::string> keys_;
};

TEST(AllocatorSimulation, EverySearchEndsAndNothingIsLeft) {
  const std::uint64_t first = test_seed(1);
  const std::uint64_t seeds = std::uint64_t{2'000} * static_cast<std::uint64_t>(test_effort());
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ControllerSimulation(seed).run();
    if (testing::Test::HasFailure()) {
      return;
    }
  }
}

}  // namespace
}  // namespace hpsearch::engine
