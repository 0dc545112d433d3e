#include "cli/run/run_queue.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <vector>

#include "cli/admin/queue_settings.hpp"
#include "cli/client/answers.hpp"
#include "cli/client/queues.hpp"
#include "cli/experiment/start_check.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/text.hpp"
#include "cli/submission/context_upload.hpp"
#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/io/files/file_system_kind.hpp"
#include "hpsearch/io/net/server_names.hpp"
#include "hpsearch/proto/api/queues.hpp"
#include "hpsearch/proto/api/workers.hpp"

namespace hpsearch::cli {
namespace {

using engine::Done;
using engine::Value;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr std::size_t longest_name = 63;
constexpr std::uint64_t usual_concurrency = 16;  ///< As that of an experiment that does not set it.
constexpr milliseconds between_looks{200};
constexpr seconds patience_with_jobs{120};  ///< Programs have 30 s to end, and Slurm is asked every 3 s.
constexpr seconds patience_in_a_hurry{10};
constexpr double usual_join_seconds = 30;

/// The name of the experiment in the letters that a queue may have.
std::string queue_name(const std::string& experiment) {
  std::string name;
  for (const char c : experiment) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool allowed = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    if (allowed || (!name.empty() && name.back() != '-')) {
      name += allowed ? lower : '-';
    }
  }
  name.resize(std::min(name.size(), longest_name));
  return name.empty() ? "search" : name;
}

/// Enough workers for all trials that may run at once; which of them are worth their start, the daemon
/// decides.
std::uint64_t enough_workers(const engine::ExperimentConfig& config, const api::QueueSettings& settings) {
  const std::uint64_t trials = config.searcher.max_concurrent_trials;
  const std::uint64_t slots = (trials == 0 ? usual_concurrency : trials) *
                              std::max<std::uint64_t>(1, config.resources.slots_per_trial);
  const std::uint64_t of_one = settings.slots.value_or(1);
  return std::max(settings.workers, (slots + of_one - 1) / of_one);
}

Outcome<api::QueueRequest> queue_of_run(const RunSession& run) {
  AllocOptions options = run.options.queue;
  options.queue = queue_name(run.file.config->name);
  if (run.options.slots) {
    options.settings["slots"] = *run.options.slots;
  }
  auto request = queue_request(options);
  if (request && !options.settings.contains("max-workers")) {
    request->settings.max_workers = enough_workers(*run.file.config, request->settings);
  }
  return request;
}

/// Prints which directories the nodes must share, if they are on a file system of this machine.
void note_places(RunSession& run) {
  std::vector<std::string> places{run.state.path().string()};
  if (!needs_packed_context(run.file.tree)) {
    places.push_back(run.record.context_directory);
  }
  for (const std::string& place : places) {
    if (files::file_system_at(place).trust == files::Trust::local) {
      run.view.say("note: the nodes must have " + place +
                       " at the same path, but it is on a disk of this machine" +
                       (place == places.front() ? "; --state-dir names another directory" : ""),
                   true);
    }
  }
}

bool is_free(const std::string& host, std::uint16_t port) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  if (::inet_pton(AF_INET, host.c_str(), &place.sin_addr) != 1) {
    return true;  // The daemon reports what is wrong.
  }
  const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  ::setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const bool free = ::bind(probe, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0;
  ::close(probe);
  return free;
}

Outcome<std::map<std::string, api::Queue>> queues_of(const RunSession& run) {
  auto list = read_as<api::QueueList>(run.client().get(queue_target()));
  if (!list) {
    return list.failure();
  }
  std::map<std::string, api::Queue> queues;
  for (api::Queue& queue : list->queues) {
    queues.emplace(queue.name, std::move(queue));
  }
  return queues;
}

std::uint64_t live_in(const std::map<std::string, api::Queue>& queues) {
  std::uint64_t live = 0;
  for (const auto& [name, queue] : queues) {
    live += queue.pending + queue.running;
  }
  return live;
}

/// The records of workers in allocations go a moment after their queue.
bool all_workers_are_forgotten(const RunSession& run) {
  const auto workers = every_entry(run.client(), "/api/v1/workers", &api::WorkerPage::workers);
  return workers && std::all_of(workers->begin(), workers->end(),
                                [](const api::Worker& worker) { return !worker.allocation; });
}

/// "2 allocations wait for their start: Priority".
std::string about_pending(const api::Queue& queue) {
  std::string reasons;
  for (const api::Allocation& allocation : queue.allocations) {
    if (allocation.waits_for && reasons.find(*allocation.waits_for) == std::string::npos) {
      reasons += (reasons.empty() ? ": " : ", ") + *allocation.waits_for;
    }
  }
  return counted(queue.pending, "allocation") +
         (queue.pending == 1 ? " waits for its start" : " wait for their start") + reasons;
}

}  // namespace

Outcome<Done> find_slurm() {
  const char* path = std::getenv("PATH");
  for (const char* command : {"sbatch", "squeue", "scancel", "scontrol"}) {
    if (on_path(path == nullptr ? "" : path, command).empty()) {
      return usage_failure(
          std::string(command) +
          " of Slurm is not on PATH; run this command on a login node of the cluster, or without "
          "--on slurm to run the search on this machine");
    }
  }
  return Done{};
}

Outcome<std::string> address_for_nodes(const RunSession& run) {
  std::string host = "0.0.0.0";
  if (run.options.address) {
    host = net::own_address(*run.options.address);
    if (host.empty()) {
      return usage_failure("--address is \"" + printable(*run.options.address) +
                           "\"; it must be a name or an address of this machine");
    }
  }
  const std::size_t colon = run.record.workers.rfind(':');
  const auto port = colon == std::string::npos
                        ? std::nullopt
                        : engine::number_in<std::uint16_t>(run.record.workers.substr(colon + 1));
  return "tcp://" + host + ":" + std::to_string(port && is_free(host, *port) ? *port : 0);
}

Outcome<Done> check_queue(RunSession& run) {
  const auto request = queue_of_run(run);
  if (!request) {
    return request.failure();
  }
  if (run.options.queue.no_check) {
    return Done{};
  }
  const auto checked = read_as<api::QueueCheck>(check_queue(run.client(), *request));
  if (!checked) {
    return checked.failure();
  }
  std::string findings;
  for (const std::string& finding : checked->findings) {
    findings += (findings.empty() ? "" : "; ") + printable(finding);
  }
  if (!checked->would_start) {
    return usage_failure(findings + ". Nothing was started");
  }
  run.view.say(findings, true);
  return Done{};
}

Outcome<Done> begin_queue(RunSession& run) {
  const auto request = queue_of_run(run);
  if (!request) {
    return request.failure();
  }
  note_places(run);
  run.queue = request->name;
  run.record.workers = run.cluster->workers();
  if (const auto saved = save_run_record(run.state, run.record); !saved) {
    return saved.failure();
  }
  bool printed = false;
  while (true) {
    const auto queues = queues_of(run);
    if (!queues) {
      return queues.failure();
    }
    const auto found = queues->find(run.queue);
    if (found == queues->end()) {
      const auto added = run.client().post(queue_target(), proto::encode_value(*request));
      return added ? Outcome<Done>(Done{}) : Outcome<Done>(added.failure());
    }
    if (found->second.state != "removed") {  // A killed command left it.
      const auto changed =
          run.client().put(queue_target(run.queue, "/settings"), proto::encode_value(request->settings));
      const auto resumed =
          changed ? run.client().post(queue_target(run.queue, "/resume"), Value::Map{}) : changed;
      return resumed ? Outcome<Done>(Done{}) : Outcome<Done>(resumed.failure());
    }
    if (run.interrupts.count() > 0) {
      return Failure{Exit::interrupted, engine::Errc::unavailable, "interrupted"};
    }
    if (!std::exchange(printed, true)) {
      run.say()("waiting for " + counted(live_in(*queues), "allocation") + " of an earlier command to end");
    }
    nap(between_looks);
  }
}

Outcome<std::string> look_at_queue(const RunSession& run) {
  const auto queue = read_as<api::Queue>(run.client().get(queue_target(run.queue)));
  if (!queue) {
    return queue.failure();
  }
  if (queue->why && queue->pending + queue->running == 0) {
    return plain_failure("the allocations fail: " + printable(*queue->why) + ". The nodes must have " +
                         run.state.path().string() + " and the programs of hpsearch at the same paths");
  }
  for (const api::Allocation& allocation : queue->allocations) {
    const double waited = allocation.started ? seconds_now() - *allocation.started : 0;
    if (!allocation.end && allocation.joined == 0 && waited > usual_join_seconds) {
      return "allocation " + allocation.name + " runs, but its worker has not joined for " +
             duration_text(waited) + "; what it wrote: hpsearch alloc log " + allocation.name +
             " --state-dir " + run.state.path().string() +
             ". If the nodes reach this machine by another name, give it with --address";
    }
  }
  if (queue->pending == 0 && queue->failures > 0) {
    return "the last allocation failed: " + printable(queue->last_failure) + "; " +
           (queue->rests_until && *queue->rests_until > seconds_now()
                ? "the next is asked for in " + duration_text(*queue->rests_until - seconds_now())
                : "another one is asked for");
  }
  if (queue->pending > 0) {
    return about_pending(*queue);
  }
  return queue->running > 0 && queue->joined == 0
             ? counted(queue->running, "allocation") + " started, and no worker has joined yet"
             : std::string();
}

void end_queues(RunSession& run) {
  auto deadline = steady_clock::now() + patience_with_jobs;
  bool hurried = false;
  bool printed = false;
  std::uint64_t live = 0;
  while (steady_clock::now() < deadline) {
    const auto queues = queues_of(run);
    if (queues && queues->empty() && all_workers_are_forgotten(run)) {
      return;
    }
    if (queues) {
      live = live_in(*queues);
      for (const auto& [name, queue] : *queues) {
        const auto removed = queue.state == "removed" ? Outcome<Value>(Value())
                                                      : run.client().post(queue_target(name, "/remove"),
                                                                          Value::Map{{"at_once", true}});
        if (!removed && removed.failure().exit == Exit::storage) {
          deadline = steady_clock::now();  // The disk is full: nothing can be decided.
        }
      }
      if (live > 0 && !std::exchange(printed, true)) {
        run.view.say("canceling " + counted(live, "allocation"), true);
      }
    }
    if (!hurried && run.interrupts.count() > 1) {
      hurried = true;
      deadline = std::min(deadline, steady_clock::now() + patience_in_a_hurry);
    }
    if (!run.cluster->look_after(run.say())) {
      break;
    }
    nap(between_looks);
  }
  run.output.message(
      counted(live, "allocation") +
      " of this search may not have ended; squeue --me lists them. Their workers end within 10 "
      "minutes if the search does not continue");
}

}  // namespace hpsearch::cli
