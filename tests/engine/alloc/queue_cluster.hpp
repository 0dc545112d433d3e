#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/test_cluster.hpp"

namespace hpsearch::engine {

/// A cluster with one queue, and a test that plays the other scheduler.
class QueueCluster : public TestCluster {
 public:
  static QueueSettings settings(std::uint64_t max_workers = 4, std::uint64_t backlog = 2) {
    QueueSettings settings;
    settings.max_workers = max_workers;
    settings.backlog = backlog;
    settings.slots = 2;
    return settings;
  }

  void add(const QueueSettings& settings, const std::string& name = "gpu") { step(AddQueue{name, settings}); }

  /// Time passes, and the daemon asks what is wanted. The allocations that it is to submit.
  std::vector<AllocationName> plan(std::int64_t seconds = 1) {
    now = now + Duration::seconds(seconds);
    withdrawn.clear();
    std::vector<AllocationName> wanted;
    for (const Order& order : step(PlanAllocations{"key" + std::to_string(++keys_)}).orders) {
      if (const auto* submit = std::get_if<SubmitAllocation>(&order)) {
        wanted.push_back(submit->name);
      } else if (const auto* withdraw = std::get_if<WithdrawAllocation>(&order)) {
        withdrawn.push_back(withdraw->name);
      }
    }
    return wanted;
  }

  /// Until nothing more is wanted, and everything that is was submitted.
  std::vector<AllocationName> plan_all() {
    std::vector<AllocationName> all;
    for (auto wanted = plan(); !wanted.empty(); wanted = plan()) {
      step(NoteSubmitted{wanted.front(), "job" + std::to_string(wanted.front().number)});
      all.push_back(wanted.front());
    }
    return all;
  }

  WorkerId join_in(const AllocationName& name, std::uint64_t slots = 2, const std::string& uid = {}) {
    JoinWorker join;
    join.uid = uid.empty() ? text_of(name) : uid;
    join.name = join.uid;
    join.incarnation = 1;
    join.slots = slots;
    join.slot_kind = "cpu";
    join.allocation = text_of(name);
    return *step(join).joined;
  }

  const QueueRecord& queue(const std::string& name = "gpu") const { return engine.queues().at(name); }
  const AllocationRecord& allocation(const AllocationName& name) const { return *engine.find(name); }

  std::vector<AllocationName> withdrawn;  ///< By the last plan.

 private:
  std::uint64_t keys_ = 0;
};

}  // namespace hpsearch::engine
