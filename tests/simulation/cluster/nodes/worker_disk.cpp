#include <algorithm>
#include <utility>

#include "hpsearch/workers/core/spool.hpp"
#include "simulation/cluster/faults/probes.hpp"
#include "simulation/cluster/nodes/worker_node.hpp"

// A worker's disk: what is written there, and what of it the next agent finds.

namespace hpsearch::simulation {

using engine::Duration;
using namespace workers;

namespace {

constexpr const char* disk_is_full_text = "no space left on device";

}  // namespace

std::vector<SpooledAttempt> WorkerNode::read_spools() {
  std::vector<SpooledAttempt> found;
  for (auto at = attempts_.begin(); at != attempts_.end();) {
    KeptAttempt& attempt = *at->second;
    auto spooled = read_spool(attempt.spool);
    if (spooled) {
      reached(Probe::attempt_taken_over_by_the_next_agent);
      attempt.mine = false;
      attempt.stuck_told = false;
      attempt.end_told = false;
      found.push_back(*std::move(spooled));
      ++at;
      continue;
    }
    if (attempt.launched) {
      promises_.break_because("I2: the spool of a program that was started cannot be read: " +
                              spooled.error().message);
    }
    at = attempts_.erase(at);  // It was being made.
  }
  return found;
}

/// A write that was under way when its writer died is on the disk wholly, in part or not at all.
void WorkerNode::settle_write(KeptAttempt& attempt) {
  const std::optional<WriteSpool> write = std::exchange(attempt.writing, std::nullopt);
  if (!write) {
    return;
  }
  const std::uint64_t fate = draw_.below(3);
  if (write->anew) {
    attempt.spool = fate == 0 ? write->bytes : attempt.spool;
    return;
  }
  reached(Probe::torn_write_of_a_spool);
  attempt.spool.append(write->bytes, 0,
                       fate == 0   ? write->bytes.size()
                       : fate == 1 ? draw_.below(write->bytes.size() + 1)
                                   : 0);
}

void WorkerNode::carry_out(const WriteSpool& write) {
  Kept& kept = attempts_[write.key];
  if (!kept) {
    kept = std::make_shared<KeptAttempt>();
    if (const auto spooled = read_spool(write.bytes)) {
      kept->spec = spooled->spec;
    } else {
      promises_.break_because("I2: a spool begins with what cannot be read: " + spooled.error().message);
    }
  }
  kept->writing = write;
  perhaps_crash_at_work();
  const std::uint64_t slow = faults_.strikes(Fault::spool_slow) ? 30'000 : 20;
  in_agent_after(slow, [this, kept = kept, number = write.write] {
    if (!kept->writing || kept->writing->write != number) {
      return;
    }
    const WriteSpool written = *std::exchange(kept->writing, std::nullopt);
    if (disk_is_full() || faults_.strikes(Fault::spool_write_fails)) {
      push(SpoolNotWritten{written.key, written.write, disk_is_full_text});
      return;
    }
    kept->spool = written.anew ? written.bytes : kept->spool + written.bytes;
    kept->dropped = std::max(kept->dropped, written.position);
    push(SpoolWritten{written.key, written.write});
  });
}

void WorkerNode::fill_disk(Duration time) {
  disk_full_until_ = std::max(disk_full_until_, time_.now() + time);
}

void WorkerNode::carry_out(const ProbeDisk& /*probe*/) {
  in_agent_after(50, [this] { push(DiskProbed{disk_is_full() ? disk_is_full_text : ""}); });
}

void WorkerNode::carry_out(const DeleteAttempt& remove) {
  const Kept kept = find(remove.key);
  if (!kept) {
    return;
  }
  if (kept->runs()) {
    promises_.break_because("I6: an attempt is forgotten while its program runs on " + uid_);
  }
  kept->mine = false;
  kept->deleted = true;
  kept->writing.reset();
  in_agent_after(50, [this, kept] {
    const auto found = attempts_.find(kept->spec.key);
    if (found != attempts_.end() && found->second == kept) {
      attempts_.erase(found);
    }
  });
}

void WorkerNode::carry_out(const PublishCheckpoint& publish) {
  in_agent_after(20'000, [this, publish, number = draw_.below(1'000'000)] {
    if (faults_.strikes(Fault::checkpoint_fails)) {
      push(CheckpointNotPublished{publish.key, number % 2 == 0, "the checkpoint could not be moved"});
    } else {
      const engine::CheckpointReport saved{publish.step,
                                           "/checkpoints/" + std::to_string(publish.key.lease.number()) +
                                               "/" + std::to_string(engine::count(publish.step)),
                                           1, number};
      promises_.ledger().saved(publish.key, saved);
      push(CheckpointPublished{publish.key, saved});
    }
  });
}

}  // namespace hpsearch::simulation
