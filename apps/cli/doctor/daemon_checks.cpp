#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/doctor/checks.hpp"
#include "cli/doctor/samples.hpp"
#include "cli/render/text.hpp"

namespace hpsearch::cli {
namespace {

constexpr double hour = 3'600;

/// All checks but the first are about a daemon that answers.
template <class Judge>
Finding if_it_answers(const Facts& facts, Judge judge) {
  return facts.daemon->problem.empty() ? judge(*facts.daemon) : skipped("the daemon does not answer");
}

std::string milliseconds_text(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g ms", seconds * 1'000);
  return text.data();
}

Finding answers(const Facts& facts) {
  const DaemonFacts& daemon = *facts.daemon;
  return daemon.problem.empty() ? good("the daemon at " + daemon.address + " answers")
                                : error(daemon.problem, "start it, and see its log");
}

Finding ready(const Facts& facts) {
  return if_it_answers(facts, [](const DaemonFacts& daemon) {
    return daemon.not_ready.empty()
               ? good("the daemon takes all requests")
               : error("the daemon does not take all requests: " + some_of(daemon.not_ready),
                       "see its log, and the free space of its disk");
  });
}

Finding version(const Facts& facts) {
  return if_it_answers(facts, [&facts](const DaemonFacts& daemon) {
    const std::string& ours = facts.machine.version;
    return daemon.status.version == ours
               ? good("daemon and command line are " + ours)
               : warning("the daemon is " + daemon.status.version + ", and this command line is " + ours,
                         "install the same release");
  });
}

Finding storage(const Facts& facts) {
  return if_it_answers(facts, [](const DaemonFacts& daemon) {
    const api::Storage& storage = daemon.status.storage;
    const std::string finding =
        "the store's disk has room: " + storage.state + ", " + bytes_text(storage.free_bytes) + " free";
    if (storage.state == "ample") {
      return good(finding);
    }
    const std::string problem = "the store's disk is " + storage.state + ": " +
                                bytes_text(storage.free_bytes) + " free" +
                                (storage.why.empty() ? "" : "; " + storage.why);
    const char* remedy = "make room on that disk; the daemon goes on by itself";
    return storage.state == "low" ? warning(problem, remedy) : error(problem, remedy);
  });
}

Finding descriptors(const Facts& facts) {
  return if_it_answers(facts, [](const DaemonFacts& daemon) {
    const auto open = sample(daemon.metrics, "process_open_fds");
    const auto most = sample(daemon.metrics, "process_max_fds");
    if (!open || !most || *most <= 0) {
      return skipped("the daemon's metrics do not say it");
    }
    const std::string finding = "the daemon has " + std::to_string(static_cast<std::int64_t>(*open)) +
                                " of " + std::to_string(static_cast<std::int64_t>(*most)) +
                                " file descriptors open";
    return *open < 0.8 * *most ? good(finding)
                               : error(finding,
                                       "raise LimitNOFILE= of its unit and restart it: workers and clients "
                                       "will be refused");
  });
}

Finding clock_of_daemon(const Facts& facts) {
  return if_it_answers(facts, [&facts](const DaemonFacts& daemon) {
    const auto start = sample(daemon.metrics, "process_start_time_seconds");
    if (!start) {
      return skipped("the daemon's metrics do not say it");
    }
    const double ahead = *start + daemon.status.uptime_seconds - static_cast<double>(facts.machine.now);
    const std::string finding = "the daemon's clock differs from this machine's by " +
                                std::to_string(static_cast<std::int64_t>(std::abs(ahead))) + " s";
    return std::abs(ahead) <= 30
               ? good(finding)
               : warning(finding, "synchronize both clocks: ages, expiries and logs are wrong else");
  });
}

Finding commit_time(const Facts& facts) {
  return if_it_answers(facts, [](const DaemonFacts& daemon) {
    const auto slow = quantile(daemon.metrics, "hpsearch_store_commit_seconds", 0.99);
    if (!slow) {
      return skipped("the daemon has committed nothing yet");
    }
    const std::string finding = "99 of 100 commits take at most " + milliseconds_text(*slow);
    return *slow <= 0.25
               ? good(finding)
               : warning(std::isinf(*slow) ? "1 of 100 commits takes longer than any bucket" : finding,
                         "use a faster disk for the state directory (hpsearch doctor --state-dir DIR)");
  });
}

Finding loop_lag(const Facts& facts) {
  return if_it_answers(facts, [](const DaemonFacts& daemon) {
    const auto slow = quantile(daemon.metrics, "hpsearch_event_loop_lag_seconds", 0.99);
    if (!slow) {
      return skipped("the daemon's metrics do not say it");
    }
    const std::string finding =
        "99 of 100 timers of the daemon are late by at most " + milliseconds_text(*slow);
    return *slow <= 0.25 ? good(finding)
                         : warning("1 of 100 timers of the daemon is late by more than 250 ms",
                                   "give its machine more processor time, or a faster disk");
  });
}

/// An option that lets others in is off.
Finding open_option(const Facts& facts, const char* key, const char* meaning, const char* remedy) {
  return if_it_answers(facts, [&](const DaemonFacts& daemon) {
    if (!daemon.configuration) {
      return skipped("this user may not read the daemon's configuration");
    }
    const api::ConfiguredOption* option = option_in(*daemon.configuration, key);
    return option == nullptr || option->values != std::vector<std::string>{"true"}
               ? good(std::string(key) + " is off")
               : warning(std::string(key) + " is on (" + option->from + "): " + meaning, remedy);
  });
}

Finding http_open(const Facts& facts) {
  return open_option(
      facts, "http.open", "everyone on its machine may do everything",
      "start it without http.open (--http-open), and give users tokens (hpsearch token create)");
}

Finding workers_open(const Facts& facts) {
  return open_option(facts, "workers.open", "everyone who reaches the port may run a worker",
                     "start it without workers.open (--workers-open), and let workers join with an invite "
                     "(hpsearch worker invite)");
}

Finding tokens(const Facts& facts) {
  return if_it_answers(facts, [](const DaemonFacts& daemon) {
    if (!daemon.tokens) {
      return skipped("this user may not list tokens");
    }
    std::vector<std::string> for_ever;
    for (const api::Token& token : *daemon.tokens) {
      if (!token.expires) {
        for_ever.push_back(token.name);
      }
    }
    return for_ever.empty()
               ? good("all tokens expire")
               : warning("tokens that never expire: " + some_of(for_ever),
                         "replace them: hpsearch token create --expires, then hpsearch token revoke");
  });
}

Finding token_expiry(const Facts& facts) {
  return if_it_answers(facts, [&facts](const DaemonFacts& daemon) {
    if (!daemon.tokens) {
      return skipped("this user may not list tokens");
    }
    std::vector<std::string> soon;
    for (const api::Token& token : *daemon.tokens) {
      const double left = token.expires.value_or(INFINITY) - static_cast<double>(facts.machine.now);
      if (left > 0 && left < 7 * 24 * hour) {
        soon.push_back(token.name);
      }
    }
    return soon.empty() ? good("no token expires within 7 days")
                        : warning("tokens that expire within 7 days: " + some_of(soon),
                                  "create new ones (hpsearch token create), then revoke the old ones");
  });
}

Finding keys_without_workers(const Facts& facts) {
  return if_it_answers(facts, [&facts](const DaemonFacts& daemon) {
    if (!facts.state || !facts.state->worker_keys) {
      return skipped("the daemon's state directory can't be read (--state-dir)");
    }
    std::set<std::string> names;
    for (const api::Worker& worker : daemon.workers) {
      names.insert(worker.name);
    }
    std::vector<std::string> unused;
    for (const std::string& name : *facts.state->worker_keys) {
      if (!names.contains(name)) {
        unused.push_back(name);
      }
    }
    return unused.empty() ? good("each allowed key belongs to a worker")
                          : warning("keys of workers that the daemon does not know: " + some_of(unused),
                                    "hpsearch keys deny STATE_DIR NAME, if these workers don't come back");
  });
}

Finding about_workers(const Facts& facts, bool (*is_meant)(const api::Worker&, const DaemonFacts&),
                      const char* none, const char* some, const char* remedy,
                      Verdict verdict = Verdict::warning) {
  return if_it_answers(facts, [&](const DaemonFacts& daemon) {
    std::vector<std::string> names;
    for (const api::Worker& worker : daemon.workers) {
      if (is_meant(worker, daemon)) {
        names.push_back(worker.name);
      }
    }
    return names.empty() ? good(none) : Finding{verdict, std::string(some) + ": " + some_of(names), remedy};
  });
}

Finding workers_lost(const Facts& facts) {
  return about_workers(
      facts, [](const api::Worker& worker, const DaemonFacts&) { return !worker.present; },
      "no worker is lost", "lost workers", "start them again, or hpsearch worker forget NAME");
}

Finding workers_silent(const Facts& facts) {
  return about_workers(
      facts, [](const api::Worker& worker, const DaemonFacts&) { return worker.present && worker.suspect; },
      "no worker is silent", "workers that are silent or not connected",
      "look at their machines, network and logs");
}

Finding worker_versions(const Facts& facts) {
  return about_workers(
      facts,
      [](const api::Worker& worker, const DaemonFacts& daemon) {
        return worker.version && *worker.version != daemon.status.version;
      },
      "all workers have the daemon's version", "workers of another version than the daemon",
      "install the daemon's release and send them SIGUSR1: their trials go on");
}

Finding withdrawn_slots(const Facts& facts) {
  return about_workers(
      facts, [](const api::Worker& worker, const DaemonFacts&) { return worker.slots_withdrawn > 0; },
      "no slot has a problem with its device", "workers with slots whose devices have a problem",
      "hpsearch workers says what is wrong with them");
}

Finding leaked_processes(const Facts& facts) {
  return about_workers(
      facts, [](const api::Worker& worker, const DaemonFacts&) { return !worker.leaked_processes.empty(); },
      "no process survives its attempt", "workers with processes that survive SIGKILL",
      "hpsearch workers names the attempts; restart these machines if the processes stay");
}

Finding orphans(const Facts& facts) {
  return about_workers(
      facts, [](const api::Worker& worker, const DaemonFacts&) { return !worker.on_hold.empty(); },
      "no worker runs an attempt that is not in the store", "workers with attempts that are not in the store",
      "hpsearch adopt WORKER all, or hpsearch disown WORKER all");
}

Finding checkpoint_place(const Facts& facts) {
  return about_workers(
      facts,
      [](const api::Worker& worker, const DaemonFacts&) { return worker.checkpoint_problem.has_value(); },
      "all workers can store checkpoints", "workers that can't store checkpoints in the checkpoint root",
      "hpsearch workers says why; all machines need that directory at the same path (--checkpoint-root)",
      Verdict::error);
}

Finding process_tables(const Facts& facts) {
  return about_workers(
      facts, [](const api::Worker& worker, const DaemonFacts&) { return worker.kills_by == "process table"; },
      "all workers find processes by control groups", "workers without control groups",
      "use the systemd unit with Delegate=yes: processes that leave their session may escape else");
}

Finding quarantine(const Facts& facts) {
  return if_it_answers(facts, [](const DaemonFacts& daemon) {
    struct Slots {
      std::uint64_t all = 0;
      std::uint64_t quarantined = 0;
    };
    std::map<std::string, Slots> pools;
    for (const api::Worker& worker : daemon.workers) {
      if (worker.present) {
        Slots& pool = pools[worker.pool];
        pool.all += worker.slots;
        pool.quarantined += worker.quarantined ? worker.slots : worker.slots_quarantined;
      }
    }
    std::vector<std::string> some;
    bool is_half = false;
    for (const auto& [name, slots] : pools) {
      if (slots.quarantined > 0) {
        some.push_back(std::to_string(slots.quarantined) + " of " + std::to_string(slots.all) +
                       " slots of pool " + name);
        is_half = is_half || 2 * slots.quarantined >= slots.all;
      }
    }
    const char* remedy = "hpsearch workers says why; hpsearch release WORKER when it is repaired";
    return some.empty() ? good("no slot is in quarantine")
           : is_half    ? error("in quarantine: " + some_of(some), remedy)
                        : warning("in quarantine: " + some_of(some), remedy);
  });
}

Finding queues(const Facts& facts) {
  return if_it_answers(facts, [](const DaemonFacts& daemon) {
    std::vector<std::string> paused;
    std::vector<std::string> failing;
    for (const api::Queue& queue : daemon.queues) {
      if (queue.why) {
        paused.push_back(queue.name + " (" + *queue.why + ")");
      } else if (queue.failures > 0) {
        failing.push_back(queue.name + " (" + queue.last_failure + ")");
      }
    }
    if (!paused.empty()) {
      return error("queues that paused themselves: " + some_of(paused),
                   "correct the reason, then hpsearch alloc resume QUEUE");
    }
    return failing.empty()
               ? good(daemon.queues.empty() ? "there are no queues" : "no allocation of a queue failed last")
               : warning("queues whose last allocation failed: " + some_of(failing),
                         "hpsearch alloc log QUEUE/NUMBER has what it wrote");
  });
}

Finding queue_checks(const Facts& facts) {
  return if_it_answers(facts, [](const DaemonFacts& daemon) {
    std::vector<std::string> refused;
    std::vector<std::string> late;
    for (const auto& [name, check] : daemon.queue_checks) {
      if (!check) {
        late.push_back(name);
      } else if (!check->would_start) {
        refused.push_back(name + " (" + some_of(check->findings) + ")");
      }
    }
    if (!refused.empty()) {
      return error("allocations of queues would not start: " + some_of(refused),
                   "hpsearch alloc set QUEUE changes what a queue asks for");
    }
    return late.empty() ? good(daemon.queue_checks.empty() ? "there are no queues"
                                                           : "an allocation of each queue would start")
                        : skipped("the other scheduler did not answer in time for " + some_of(late) +
                                  "; hpsearch alloc check QUEUE waits longer");
  });
}

Finding backup_age(const Facts& facts) {
  return if_it_answers(facts, [](const DaemonFacts& daemon) {
    const auto age = sample(daemon.metrics, "hpsearch_backup_age_seconds");
    const char* remedy = "make one each day: hpsearch store backup STATE_DIR --to DIR";
    if (!age) {
      return warning("the daemon knows of no backup", remedy);
    }
    const std::string finding = "the newest backup is " + duration_text(*age) + " old";
    return *age <= 26 * hour ? good(finding) : warning(finding, remedy);
  });
}

Finding refused_reports(const Facts& facts) {
  return if_it_answers(facts, [](const DaemonFacts& daemon) {
    const double refused = sum_of(daemon.metrics, "hpsearch_reports_refused_total");
    return refused == 0
               ? good("the daemon has refused no report since its start")
               : warning("the daemon has refused " + std::to_string(static_cast<std::uint64_t>(refused)) +
                             " reports since its start",
                         "its log says why: no room on the disk, or a program of another version");
  });
}

Finding refused_workers(const Facts& facts) {
  return if_it_answers(facts, [](const DaemonFacts& daemon) {
    const double refused = sum_of(daemon.metrics, "hpsearch_worker_refused_total");
    return refused == 0
               ? good("the daemon has refused no worker since its start")
               : warning("the daemon has refused workers " +
                             std::to_string(static_cast<std::uint64_t>(refused)) + " times since its start",
                         "its log names them: a key that is not allowed, another store or another version");
  });
}

constexpr Check checks[] = {
    {"daemon-answers", Part::daemon, "The daemon answers.", answers},
    {"daemon-ready", Part::daemon, "It takes all requests (`/readyz`).", ready},
    {"daemon-version", Part::daemon, "It is of the release of the command line.", version},
    {"daemon-storage", Part::daemon, "The store's disk has room for new experiments.", storage},
    {"daemon-descriptors", Part::daemon, "Less than 80 % of its file descriptors are open.", descriptors},
    {"daemon-clock", Part::daemon, "Its clock and this machine's agree within 30 s.", clock_of_daemon},
    {"commit-time", Part::daemon, "99 of 100 commits take at most 250 ms.", commit_time},
    {"loop-lag", Part::daemon, "99 of 100 timers of its loop are late by at most 250 ms.", loop_lag},
    {"http-open", Part::daemon, "`http.open` is off.", http_open},
    {"workers-open", Part::daemon,
     "`workers.open` is off: workers need a key, and connections are encrypted.", workers_open},
    {"tokens", Part::daemon, "All tokens expire.", tokens},
    {"token-expiry", Part::daemon, "No token expires within 7 days.", token_expiry},
    {"worker-keys", Part::daemon, "Each allowed key belongs to a worker that the daemon knows.",
     keys_without_workers},
    {"workers-lost", Part::daemon, "No worker is lost.", workers_lost},
    {"workers-silent", Part::daemon, "No worker is silent or without a connection.", workers_silent},
    {"worker-versions", Part::daemon, "All workers have the daemon's version.", worker_versions},
    {"withdrawn-slots", Part::daemon, "No slot has a problem with its device.", withdrawn_slots},
    {"leaked-processes", Part::daemon, "No process survives its attempt.", leaked_processes},
    {"orphaned-attempts", Part::daemon, "No worker runs an attempt that is not in the store.", orphans},
    {"checkpoint-place", Part::daemon, "Each worker can write to the checkpoint root.", checkpoint_place},
    {"control-groups", Part::daemon, "All workers find the processes of a trial by control groups.",
     process_tables},
    {"quarantine", Part::daemon, "No slot is in quarantine; half of a pool is an error.", quarantine},
    {"queues", Part::daemon, "No queue paused itself, and no last allocation failed.", queues},
    {"queue-checks", Part::daemon,
     "An allocation of each queue would start, as Slurm or another scheduler says.", queue_checks},
    {"backup-age", Part::daemon, "The newest backup is at most 26 hours old.", backup_age},
    {"refused-reports", Part::daemon, "The daemon has refused no report.", refused_reports},
    {"refused-workers", Part::daemon, "The daemon has refused no worker.", refused_workers},
};

}  // namespace

const api::ConfiguredOption* option_in(const api::Configuration& configuration, std::string_view key) {
  const auto found = std::find_if(configuration.options.begin(), configuration.options.end(),
                                  [key](const api::ConfiguredOption& one) { return one.key == key; });
  return found == configuration.options.end() ? nullptr : &*found;
}

std::span<const Check> daemon_checks() {
  return checks;
}

}  // namespace hpsearch::cli
