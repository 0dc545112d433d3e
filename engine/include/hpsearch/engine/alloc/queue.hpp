#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::engine {

// A queue asks another scheduler, as Slurm, for allocations: jobs that run workers for as long as trials need
// them. The engine decides how many; the daemon talks to the other scheduler.

/// The settings of a queue, as an operator gives them.
struct QueueSettings {
  std::string backend = "slurm";         ///< The other scheduler, as the daemon names it; it never changes.
  std::vector<std::string> arguments{};  ///< For the backend's command, as they were given.
  Duration time_limit = Duration::seconds(std::int64_t{8} * 3'600);  ///< The longest time of one allocation.
  std::uint64_t workers = 1;                                         ///< Workers of one allocation.
  std::uint64_t backlog = 1;             ///< At most so many allocations wait for their start.
  std::uint64_t max_workers = 1;         ///< At most so many workers at once, waiting ones included.
  std::optional<std::uint64_t> slots{};  ///< Slots of one worker; nothing: workers find out by themselves.
  Duration idle_timeout = Duration::seconds(300);  ///< A worker without a lease for so long ends.
  Duration give_back = Duration::seconds(180);     ///< So long before its end a worker gives its trials back.
  double min_utilization = 0.5;  ///< A further allocation is worth its start if trials keep it so busy.
  std::string pool{};            ///< The pool of its workers; "" = the default pool.
  std::map<std::string, std::string> labels{};
  std::string state_root{};  ///< Where workers keep their state, for a shell; "" = the node's $TMPDIR.
  std::string before{};      ///< A line of shell before each worker.
  std::string after{};       ///< A line of shell after all workers have ended.
  std::string wrap{};        ///< Words before the worker's command.

  friend bool operator==(const QueueSettings&, const QueueSettings&) = default;
  static void list_fields(auto& fields, auto& self) {
    fields("backend", self.backend);
    fields.maybe("arguments", self.arguments);
    fields("time_limit_ms", self.time_limit);
    fields("workers", self.workers);
    fields("backlog", self.backlog);
    fields("max_workers", self.max_workers);
    fields.maybe("slots", self.slots);
    fields("idle_timeout_ms", self.idle_timeout);
    fields("give_back_ms", self.give_back);
    fields("min_utilization", self.min_utilization);
    fields.maybe("pool", self.pool);
    fields.maybe("labels", self.labels);
    fields.maybe("state_root", self.state_root);
    fields.maybe("before", self.before);
    fields.maybe("after", self.after);
    fields.maybe("wrap", self.wrap);
  }
};

/// Why an allocation is over.
enum class AllocationEnd : std::uint8_t {
  idle,            ///< Its workers found nothing to do.
  completed,       ///< Its script ended by itself.
  time_limit,      ///< It reached its time limit.
  preempted,       ///< The other scheduler took its nodes back.
  node_failed,     ///< A node failed, which says nothing about processes there.
  canceled,        ///< We canceled it.
  canceled_there,  ///< A user of the other scheduler canceled it.
  failed,          ///< Its script failed.
  refused,         ///< The other scheduler did not take it.
  will_not_start,  ///< The other scheduler took it and would never have started it.
  vanished,        ///< The other scheduler knows nothing of it.
};

[[nodiscard]] std::string_view name_of(AllocationEnd end) noexcept;
[[nodiscard]] std::optional<AllocationEnd> allocation_end_named(std::string_view name) noexcept;

/// The queue and a number that no other allocation of the cluster has: "gpu/17".
struct AllocationName {
  std::string queue{};
  std::uint64_t number = 0;

  friend auto operator<=>(const AllocationName&, const AllocationName&) = default;
  static void list_fields(auto& fields, auto& self) {
    fields("queue", self.queue);
    fields("allocation", self.number);
  }
};

[[nodiscard]] std::string text_of(const AllocationName& name);
/// Nothing: it is not the text of one.
[[nodiscard]] std::optional<AllocationName> allocation_named(std::string_view text);

struct AllocationRecord {
  enum class State : std::uint8_t {
    wanted,     ///< Decided; whether the other scheduler has it is not known.
    submitted,  ///< The other scheduler has it; it waits for its start.
    running,
    ended,
  };
  AllocationName name{};
  std::uint64_t workers = 1;
  std::string key{};  ///< Random; the job carries it, so that it is found again.
  State state = State::wanted;
  std::string job{};            ///< As the other scheduler names it.
  std::string canceling{};      ///< Why it is being canceled; "" = it is not.
  bool will_not_start = false;  ///< It is being canceled because it would wait forever.
  std::uint64_t joined = 0;     ///< So many of its workers have joined.
  bool was_idle = false;        ///< One of them left because it had nothing to do.
  bool ran_out = false;         ///< One of them left because its time was over.
  Instant wanted_at{};
  Instant started_at{};  ///< Instant{}: not yet.
  Instant ended_at{};
  AllocationEnd end{};   ///< Once it has ended …
  std::string detail{};  ///< … and what the other scheduler says about it.
};

[[nodiscard]] std::string_view name_of(AllocationRecord::State state) noexcept;

struct QueueRecord {
  enum class State : std::uint8_t { active, paused, removed };

  std::string name{};
  QueueSettings settings{};
  State state = State::active;
  std::string why{};      ///< Why it is paused; "" = an operator paused it.
  std::string creator{};  ///< "" = not recorded.
  Instant created_at{};
  std::uint64_t failures = 0;  ///< In a row. At most_queue_failures the queue pauses itself.
  std::string last_failure{};
  Instant rests_until{};                      ///< It asks for nothing before.
  std::optional<std::uint64_t> seen_slots{};  ///< Slots of the worker that joined last.
  std::map<std::uint64_t, AllocationRecord>
      allocations{};  ///< By number: live ones, and the last that ended.
};

[[nodiscard]] std::string_view name_of(QueueRecord::State state) noexcept;

/// What a worker of an allocation says when it leaves. With any other word, or none, its nodes were taken
/// back.
inline constexpr std::string_view left_idle = "idle";
inline constexpr std::string_view left_at_its_end = "wall time";

inline constexpr std::uint64_t most_queue_failures = 3;
inline constexpr std::size_t most_ended_allocations = 50;  ///< Kept for each queue, for people.

[[nodiscard]] inline bool is_live(const AllocationRecord& allocation) noexcept {
  return allocation.state != AllocationRecord::State::ended;
}
[[nodiscard]] inline bool is_pending(const AllocationRecord& allocation) noexcept {
  return allocation.state == AllocationRecord::State::wanted ||
         allocation.state == AllocationRecord::State::submitted;
}

/// Sums over a queue's allocations.
struct QueueLoad {
  std::uint64_t pending = 0;  ///< Allocations that wait for their start.
  std::uint64_t running = 0;  ///< Allocations.
  std::uint64_t workers = 0;  ///< Workers of all of these.
  std::uint64_t joined = 0;   ///< Workers that have joined.
};
[[nodiscard]] QueueLoad load_of(const QueueRecord& queue) noexcept;

/// Trials that wait, would fit on the workers of a queue, and would not train anything of use there: its time
/// limit is too short.
struct TooLongTrials {
  std::uint64_t trials = 0;
  Duration needed{};           ///< The least of these needs so long.
  std::uint64_t attempts = 0;  ///< As WaitForTime has it.
};

/// 1 to 63 lower-case letters, digits and "-", the first one no "-".
[[nodiscard]] bool is_queue_name(std::string_view name) noexcept;

/// bad_request: what is wrong with the settings.
[[nodiscard]] Status check_settings(const QueueSettings& settings);

}  // namespace hpsearch::engine
