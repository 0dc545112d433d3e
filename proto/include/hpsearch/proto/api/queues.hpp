#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/proto/api/field_types.hpp"
#include "hpsearch/proto/sentences/language.hpp"

namespace hpsearch::engine {
struct AllocationRecord;
struct QueueRecord;
struct QueueSettings;
}  // namespace hpsearch::engine

namespace hpsearch::api {

struct QueueSettings {
  static constexpr Schema schema{"QueueSettings", "How a queue asks another scheduler for allocations.",
                                 Schema::Kind::body};
  std::string backend = "slurm";
  std::vector<std::string> arguments{};
  double time_limit = 0;
  std::uint64_t workers = 1;
  std::uint64_t backlog = 1;
  std::uint64_t max_workers = 1;
  std::optional<std::uint64_t> slots{};
  double idle_timeout = 0;
  double give_back = 0;
  double min_utilization = 0;
  std::string pool{};
  std::map<std::string, std::string> labels{};
  std::string state_root{};
  std::string before{};
  std::string after{};
  std::string wrap{};

  static void list_fields(auto& fields, auto& self) {
    fields(
        "backend", self.backend,
        "The other scheduler: `slurm`, `kubernetes` or `kubernetes/NAMESPACE`, `pbs`, `lsf`, `gridengine`, "
        "`ray`, or the path of a directory with the programs submit, status and cancel.");
    fields("arguments", self.arguments,
           "More arguments for its command that submits a job, or a description of the pod for Kubernetes.");
    fields("time_limit", self.time_limit, "Seconds that an allocation lasts at most.");
    fields("workers", self.workers, "Number of workers of an allocation.");
    fields("backlog", self.backlog, "The most allocations that wait for their start.");
    fields("max_workers", self.max_workers, "The most workers at once, waiting ones included.");
    fields("slots", self.slots, "Slots of a worker; null: each worker finds out by itself.");
    fields("idle_timeout", self.idle_timeout, "Seconds after which a worker without a trial ends.");
    fields("give_back", self.give_back,
           "Seconds before the end of an allocation at which its trials save a checkpoint and end.");
    fields("min_utilization", self.min_utilization,
           "The fraction of its slots that trials must keep busy for a further allocation.");
    fields("pool", self.pool, "Pool of its workers; empty: the default pool.");
    fields("labels", self.labels, "Labels of its workers.");
    fields("state_root", self.state_root,
           "Directory for the state of workers, for a shell on the node; empty: `$TMPDIR`.");
    fields("before", self.before, "Line of shell before each worker.");
    fields("after", self.after, "Line of shell after all workers of an allocation.");
    fields("wrap", self.wrap, "Words before the command of each worker.");
  }
};

struct QueueRequest {
  static constexpr Schema schema{"QueueRequest", "A queue to add.", Schema::Kind::body};
  std::string name{};
  QueueSettings settings{};

  static void list_fields(auto& fields, auto& self) {
    fields("name", self.name, "1 to 63 lower-case letters, digits and `-`.");
    fields("settings", self.settings, "How it asks for allocations.");
  }
};

struct QueueRemoval {
  static constexpr Schema schema{"QueueRemoval", "How a queue is removed.", Schema::Kind::body};
  bool at_once = false;

  static void list_fields(auto& fields, auto& self) {
    fields("at_once", self.at_once,
           "Whether its running allocations are canceled; otherwise they end by themselves.");
  }
};

struct Allocation {
  static constexpr Schema schema{"Allocation", "A job of another scheduler that runs workers."};
  std::string name{};
  std::string state{};
  std::uint64_t workers = 0;
  std::uint64_t joined = 0;
  std::optional<std::string> job{};
  std::optional<std::string> waits_for{};
  std::optional<std::string> canceling{};
  double wanted = 0;
  std::optional<double> started{};
  std::optional<double> ended{};
  std::optional<std::string> end{};
  std::string detail{};

  static void list_fields(auto& fields, auto& self) {
    fields("name", self.name, "QUEUE/NUMBER; no other allocation has the number.");
    fields("state", self.state,
           "`wanted`: whether the other scheduler has it is not known yet; `submitted`: it waits for its "
           "start; `running`; `ended`.");
    fields("workers", self.workers, "Number of its workers.");
    fields("joined", self.joined, "Number of its workers that have joined.");
    fields("job", self.job, "Its name in the other scheduler; null: not known yet.");
    fields("waits_for", self.waits_for,
           "Why it has not started, in a word of the other scheduler, as `Priority`; null: it runs, or the "
           "other "
           "scheduler has not said.");
    fields("canceling", self.canceling, "Why it is being canceled; null: it is not.");
    fields("wanted", self.wanted, "When it was decided.");
    fields("started", self.started, "When it started; null: not yet.");
    fields("ended", self.ended, "When it ended; null: not yet.");
    fields("end", self.end,
           "How it ended: `idle`, `completed`, `time_limit`, `preempted`, `node_failed`, `canceled`, "
           "`canceled_there`, `failed`, `refused`, `will_not_start` or `vanished`; null: not yet.");
    fields("detail", self.detail, "What the other scheduler said about its end.");
  }
};

struct Queue {
  static constexpr Schema schema{"Queue", "A queue of allocations."};
  std::string name{};
  std::string state{};
  std::optional<std::string> why{};
  std::string creator{};
  double created = 0;
  std::uint64_t pending = 0;
  std::uint64_t running = 0;
  std::uint64_t workers = 0;
  std::uint64_t joined = 0;
  std::uint64_t trials_waiting = 0;
  std::uint64_t trials_too_long = 0;
  std::optional<double> time_needed{};
  std::uint64_t failures = 0;
  std::string last_failure{};
  std::optional<double> rests_until{};
  QueueSettings settings{};
  std::vector<Allocation> allocations{};

  static void list_fields(auto& fields, auto& self) {
    fields("name", self.name, "Name of the queue.");
    fields("state", self.state, "`active`, `paused` or `removed`.");
    fields("why", self.why, "Why it paused itself; null: it did not.");
    fields("creator", self.creator, "Who added it.");
    fields("created", self.created, "When it was added.");
    fields("pending", self.pending, "Number of allocations that wait for their start.");
    fields("running", self.running, "Number of allocations that run.");
    fields("workers", self.workers, "Number of workers of all these.");
    fields("joined", self.joined, "Number of workers that have joined.");
    fields("trials_waiting", self.trials_waiting, "Number of trials that wait and would run on its workers.");
    fields("trials_too_long", self.trials_too_long,
           "Number of trials that would be among those if its time limit were longer.");
    fields(
        "time_needed", self.time_needed,
        "Seconds that the shortest of these needs until it has saved a checkpoint, or has ended; null: there "
        "are none.");
    fields("failures", self.failures, "Failed allocations in a row; at 3 it pauses itself.");
    fields("last_failure", self.last_failure, "What was wrong with the last of them.");
    fields("rests_until", self.rests_until, "Until when it asks for nothing; null: it may ask now.");
    fields("settings", self.settings, "How it asks for allocations.");
    fields("allocations", self.allocations, "Its allocations; of those that have ended, the last 50.");
  }
};

struct QueueList {
  static constexpr Schema schema{"QueueList", "All queues."};
  std::vector<Queue> queues{};

  static void list_fields(auto& fields, auto& self) { fields("queues", self.queues, "The queues, by name."); }
};

struct QueueCheck {
  static constexpr Schema schema{"QueueCheck", "What the other scheduler says about a queue's allocations."};
  bool would_start = false;
  std::vector<std::string> findings{};

  static void list_fields(auto& fields, auto& self) {
    fields("would_start", self.would_start, "Whether an allocation would be taken and could start.");
    fields("findings", self.findings, "What was found out, one sentence each.");
  }
};

struct QueueText {
  static constexpr Schema schema{"QueueText", "A text of a queue or an allocation."};
  std::string text{};

  static void list_fields(auto& fields, auto& self) {
    fields("text", self.text, "The scripts of an allocation, or what it wrote.");
  }
};

[[nodiscard]] engine::QueueSettings settings_of(const QueueSettings& settings);
[[nodiscard]] QueueSettings settings_of(const engine::QueueSettings& settings);
[[nodiscard]] Allocation allocation_of(const engine::AllocationRecord& record,
                                       sentences::Language language = sentences::Language::english);
/// Without `trials_waiting`, `trials_too_long` and `time_needed`.
[[nodiscard]] Queue queue_of(const engine::QueueRecord& record,
                             sentences::Language language = sentences::Language::english);

}  // namespace hpsearch::api
