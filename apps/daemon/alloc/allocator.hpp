#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "daemon/alloc/backend.hpp"
#include "daemon/core/runtime.hpp"
#include "daemon/keys/invites.hpp"
#include "daemon/keys/worker_keys.hpp"
#include "hpsearch/io/net/background.hpp"

namespace hpsearch::daemon {

/// Carries out what the engine decides about allocations: asks other schedulers for jobs, looks after them
/// and tells the engine what became of them.
///
/// A job carries the key of its allocation, which is in the log before the job is submitted. So a job whose
/// submission was not answered, or whose daemon ended meanwhile, is found by its key; it is submitted again
/// only if two looks 30 s apart don't find it. Nothing follows from a list that could not be read.
///
/// Owns:    the directory of the allocations: scripts, invites and output.
/// Threads: the loop's; each backend works on a thread beside it.
class Allocator {
 public:
  struct Settings {
    std::string directory;       ///< The directory of all allocations; nodes have it at the same path.
    std::string worker;          ///< The program hpsearch-worker.
    std::string daemon;          ///< The address for workers; "" = nodes cannot reach the daemon.
    Invites* invites = nullptr;  ///< Null: workers need no keys.
    WorkerKeys* keys = nullptr;  ///< Keys of the workers that joined; null likewise.
  };

  Allocator(Runtime& runtime, net::Loop& loop, Settings settings);
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  /// Decides and looks no more; what a backend does ends first.
  void stop() { clock_ = net::Watch(); }

  void carry_out(const engine::SubmitAllocation& order);
  void carry_out(const engine::WithdrawAllocation& order);

  /// Problems of a queue that the engine cannot see. bad_request: the backend or an argument; wrong_state:
  /// nodes could not reach this daemon.
  [[nodiscard]] engine::Status may_add(const engine::QueueSettings& settings) const;
  /// The command and the scripts of an allocation of the queue.
  [[nodiscard]] std::string script_of(const std::string& queue, const engine::QueueSettings& settings) const;

  void check(const std::string& queue, const engine::QueueSettings& settings,
             std::function<void(const BackendCheck&)> then);

  /// Why the allocation has not started, in a word of the other scheduler, as "Priority"; "" = it runs, or
  /// the reason is not known.
  [[nodiscard]] std::string reason_of(const engine::AllocationName& name) const;

  /// The output of the allocation so far; not_found: none. At most the last `most` bytes of each node.
  void read_log(const engine::AllocationName& name, std::size_t most,
                std::function<void(const engine::Result<std::string>&)> then);

 private:
  /// Facts about an allocation that are not in the log.
  struct Watched {
    bool is_submitting = false;
    unsigned absent_looks = 0;  ///< Lists without its job, in a row …
    engine::Instant absent_since{};
    unsigned hopeless_looks = 0;  ///< Lists that say that it will not start, in a row.
    engine::Instant canceled_at{};
    std::string reason;  ///< Why its job waits.
  };

  /// Another scheduler that a queue has named.
  struct Controller {
    std::unique_ptr<Backend> backend;
    std::string name;  ///< Its backend's name in sentences.
    engine::Instant next_look{};
    bool is_looking = false;
    bool has_looked = false;
    std::set<std::string> strays{};  ///< Jobs that were logged.
    std::string list_problem{};      ///< The problem of the last list; each one is logged once.
    std::unique_ptr<net::Background>
        work;  ///< One call of the backend at a time. Ends first: it returns here.
  };

  void tick();
  void clean_up();
  /// The output that is in the directory of the allocation.
  [[nodiscard]] engine::Result<std::string> log_of(const engine::AllocationName& name,
                                                   std::size_t most) const;
  [[nodiscard]] Controller& controller(const std::string& backend);
  /// The one of an allocation that the engine knows.
  [[nodiscard]] Controller& controller_of(const engine::AllocationName& name);
  /// An invite for the workers of the allocation, in its directory.
  [[nodiscard]] engine::Status invite(const engine::AllocationRecord& allocation);
  /// The invite of the allocation in that directory ends, and with it the keys that joined with it.
  void withdraw_invite(const std::string& directory);
  [[nodiscard]] std::string directory_of(const engine::AllocationName& name) const;
  [[nodiscard]] JobOrder order_of(const engine::AllocationRecord& allocation,
                                  const engine::QueueSettings& settings) const;
  /// Writes the files of the job.
  [[nodiscard]] engine::Status prepare(const Backend& backend, const JobOrder& order);
  void submit(const engine::AllocationName& name);
  void take_submission(const engine::AllocationName& name, const JobSubmission& submission);
  void look(Controller& controller);
  void take_list(Controller& controller, const engine::Result<std::vector<BackendJob>>& jobs);
  /// Jobs of this cluster that the store does not know: each one is logged once, and left alone.
  void note_strays(Controller& controller, const std::map<std::string, BackendJob>& by_key);
  void take_job(Controller& controller, const engine::AllocationRecord& allocation, const BackendJob& job);
  void take_absence(const Controller& controller, const engine::AllocationRecord& allocation);
  void withdraw(const engine::AllocationRecord& allocation);
  void end(const engine::AllocationName& name, engine::AllocationEnd how, const std::string& detail,
           bool processes_ended);
  [[nodiscard]] std::vector<engine::AllocationRecord> live() const;
  [[nodiscard]] std::vector<engine::AllocationRecord> live_at(const Controller& controller);

  Runtime& runtime_;
  net::Loop& loop_;
  Settings settings_;
  std::map<engine::AllocationName, Watched> watched_;
  std::deque<engine::Instant> submissions_;  ///< Times of submissions in the last minute.
  net::Watch events_;
  net::Watch clock_;
  std::map<std::string, Controller> controllers_;  ///< By the names of their backends in settings.
};

}  // namespace hpsearch::daemon
