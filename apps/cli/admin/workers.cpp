#include "hpsearch/proto/api/workers.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/client/answers.hpp"
#include "cli/client/server.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/jobs/contract/device_kinds.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

/// The most important fact about it for operators.
std::string state_text(const api::Worker& worker) {
  if (!worker.present) {
    return "lost";
  }
  if (worker.quarantined) {
    return "quarantined";
  }
  if (worker.draining) {
    return worker.attempts.empty() ? "drained" : "draining";
  }
  if (!worker.connected) {
    return "away";
  }
  if (worker.suspect) {
    return "suspect";
  }
  return worker.resting ? "resting" : "ready";
}

std::string attempt_text(const api::AttemptName& attempt) {
  return std::to_string(attempt.experiment.number()) + "/" + std::to_string(attempt.trial.number()) + "/" +
         std::to_string(attempt.attempt.number());
}

/// An attempt on hold; several may have the same number.
std::string held_text(const api::HeldAttempt& attempt) {
  return std::to_string(attempt.experiment.number()) + "/" + std::to_string(attempt.trial.number()) + "/" +
         printable(attempt.label);
}

std::string slots_text(const std::vector<engine::SlotIndex>& slots) {
  std::string text = slots.size() == 1 ? "slot" : "slots";
  for (const engine::SlotIndex slot : slots) {
    text += " " + std::to_string(slot.number());
  }
  return text;
}

/// "2 x NVIDIA H200, 4 slots each", or "" if slots are shares of the processors.
std::string devices_text(const api::Worker& worker) {
  std::map<std::string, std::set<std::string>> by_name;
  std::size_t slots = 0;
  std::size_t devices = 0;
  for (const api::Device& device : worker.devices) {
    devices += by_name[device.name].insert(device.uuid).second ? 1U : 0U;
    ++slots;
  }
  std::string text;
  for (const auto& [name, uuids] : by_name) {
    text += (text.empty() ? "" : ", ") + std::to_string(uuids.size()) + " x " + printable(name);
  }
  if (devices > 0 && slots > devices) {
    text += slots % devices == 0 ? ", " + std::to_string(slots / devices) + " slots each" : ", shared";
  }
  return text;
}

/// One line per device, with its slots.
std::string device_lines(const api::Worker& worker) {
  struct Line {
    std::string slots;
    std::string rest;
  };
  const std::string noun(jobs::noun_of_slot(worker.slot_kind));
  std::map<std::string, Line> lines;
  std::vector<std::string> order;
  std::uint64_t slot = 0;
  for (const api::Device& device : worker.devices) {
    Line& line = lines[device.uuid];
    if (line.slots.empty()) {
      order.push_back(device.uuid);
      line.rest = " is " + noun + " " + std::to_string(device.index) + ", " + printable(device.name) + ", " +
                  (device.memory_bytes > 0 ? std::to_string(device.memory_bytes >> 20U) + " MiB, " : "") +
                  printable(device.uuid) + "\n";
    }
    line.slots += (line.slots.empty() ? " " : ", ") + std::to_string(slot++);
  }
  std::string text;
  for (const std::string& uuid : order) {
    const Line& line = lines.at(uuid);
    text += "worker " + printable(worker.name) + ": slot" + line.slots + line.rest;
  }
  return text;
}

/// "pool" or "pool, zone=b"
std::string pool_text(const api::Worker& worker, double now) {
  std::string text = worker.pool;
  for (const auto& [key, value] : worker.labels) {
    text += ", " + key + "=" + value;
  }
  text += worker.allocation ? ", allocation " + *worker.allocation : "";
  if (worker.ends_at && worker.present) {
    text += ", ends in " + duration_text(std::max(0.0, *worker.ends_at - now));
  }
  return printable(text);
}

/// How long ago its last message arrived; "-": none has since the daemon was started.
std::string heard_text(const api::Worker& worker, double now) {
  return worker.heard_at ? duration_text(std::max(0.0, now - *worker.heard_at)) : "-";
}

std::string remarks_on(const api::Worker& worker) {
  std::string text;
  if (worker.quarantined) {
    text +=
        "worker " + printable(worker.name) + " is in quarantine: " + printable(*worker.quarantined) +
        (worker.probation ? "; " + printable(*worker.probation) + ", or use hpsearch worker release" : "") +
        "\n";
  }
  if (worker.draining) {
    text += "worker " + printable(worker.name) +
            " gets no new trials until hpsearch worker release; trials that run there: " +
            std::to_string(worker.attempts.size()) + "\n";
  }
  if (worker.resting) {
    text += "worker " + printable(worker.name) + " gets no leases now: " + printable(*worker.resting) +
            ", or after hpsearch release\n";
  }
  if (worker.checkpoint_problem && worker.connected) {
    text += "worker " + printable(worker.name) +
            " cannot store checkpoints of experiments without checkpoint_storage: " +
            printable(*worker.checkpoint_problem) + "\n";
  }
  for (const api::WithdrawnSlot& slot : worker.withdrawn) {
    text += "worker " + printable(worker.name) + ": slot " + std::to_string(slot.slot.number()) + ": " +
            printable(slot.why) +
            (slot.released ? "; released, it is used nevertheless\n"
                           : "; out of use until it is healthy, or until hpsearch release\n");
  }
  for (const api::TakenSlot& slot : worker.taken) {
    text += "worker " + printable(worker.name) + ": slot " + std::to_string(slot.slot.number()) + ": " +
            printable(slot.why) + "\n";
  }
  for (const api::LeakedProcesses& leaked_processes : worker.leaked_processes) {
    text += "worker " + printable(worker.name) + ": processes of " + attempt_text(leaked_processes) +
            " survive SIGKILL in " + slots_text(leaked_processes.slots) +
            (leaked_processes.released ? "; released, the slots are used nevertheless\n"
                                       : "; out of use until they have ended, or until hpsearch release\n");
  }
  for (const api::HeldAttempt& attempt : worker.on_hold) {
    text += "worker " + printable(worker.name) + " holds " + held_text(attempt) +
            (attempt.exited ? " (ended)" : " (running)") +
            ", which is not in this store: run hpsearch adopt or hpsearch disown\n";
  }
  return text;
}

/// The worker with this number or name, as GET /workers shows it.
Outcome<api::Worker> find_worker(const Server& server, const std::string& wanted, bool wants_present) {
  const auto workers = every_entry(server.client(), "/api/v1/workers", &api::WorkerPage::workers);
  if (!workers) {
    return workers.failure();
  }
  std::optional<api::Worker> found;
  for (const api::Worker& worker : *workers) {
    if (std::to_string(worker.id.number()) == wanted) {
      return worker;
    }
    if (worker.name == wanted) {
      const bool here = worker.present;
      // Another worker of this name has joined since the first was lost.
      if (found && found->present != here) {
        found = here == wants_present ? worker : *found;
        continue;
      }
      if (found) {
        return Failure{Exit::usage, engine::Errc::bad_request,
                       "several workers are called \"" + wanted + "\"; use its number (hpsearch workers)"};
      }
      found = worker;
    }
  }
  if (!found) {
    return Failure{Exit::not_found, engine::Errc::not_found,
                   "there is no worker \"" + wanted + "\"; hpsearch workers lists them"};
  }
  return *found;
}

/// The attempts on hold that `which` names: EXPERIMENT/TRIAL/ATTEMPT or all.
Outcome<std::vector<api::HeldAttempt>> meant(const api::Worker& worker, const std::string& which) {
  std::vector<api::HeldAttempt> all;
  for (const api::HeldAttempt& attempt : worker.on_hold) {
    if (which == "all" || which == attempt_text(attempt) || which == held_text(attempt)) {
      all.push_back(attempt);
    }
  }
  if (which != "all" && all.size() > 1) {
    std::string names;
    for (const api::HeldAttempt& attempt : all) {
      names += (names.empty() ? "" : ", ") + held_text(attempt);
    }
    return Failure{
        Exit::usage, engine::Errc::bad_request,
        "worker \"" + printable(worker.name) + "\" holds several attempts " + which + ": " + names};
  }
  if (all.empty()) {
    return Failure{Exit::not_found, engine::Errc::not_found,
                   "worker \"" + printable(worker.name) + "\" holds no unknown attempt" +
                       (which == "all" ? std::string()
                                       : " " + which + "; they are named EXPERIMENT/TRIAL/ATTEMPT, or all")};
  }
  return all;
}

}  // namespace

int workers(const ServerOptions& options, bool devices, const Output& output) {
  const Outcome<Server> server = Server::reach(options, Server::Need::readable, output);
  if (!server) {
    return output.fail(server.failure());
  }
  if (output.json()) {
    const Outcome<Value> answer = server->client().get_list("/api/v1/workers", "workers");
    if (!answer) {
      return output.fail(answer.failure());
    }
    output.data(*answer);
    return 0;
  }
  const auto all = every_entry(server->client(), "/api/v1/workers", &api::WorkerPage::workers);
  if (!all) {
    return output.fail(all.failure());
  }
  using Align = Table::Align;
  Table table({{"ID", Align::right},
               {"STATE"},
               {"SLOTS", Align::right},
               {"IN USE", Align::right},
               {"KIND"},
               {"DEVICES"},
               {"POOL"},
               {"HOST"},
               {"VERSION"},
               {"HEARD", Align::right},
               {"NAME"}});
  std::string remarks;
  for (const api::Worker& worker : *all) {
    table.add({std::to_string(worker.id.number()), state_text(worker), std::to_string(worker.slots),
               std::to_string(worker.slots_held), worker.slot_kind, devices_text(worker),
               pool_text(worker, seconds_now()), printable(worker.host.value_or("")),
               printable(worker.version.value_or("")), heard_text(worker, seconds_now()), worker.name});
    remarks += (devices ? device_lines(worker) : "") + remarks_on(worker);
  }
  output.print(table.empty() ? std::string("no workers yet\n") : table.text(output.width()) + remarks);
  return 0;
}

int change_worker(const std::string& what, const WorkerOptions& options, const Output& output) {
  const Outcome<Server> server = Server::reach(options.server, Server::Need::running, output);
  if (!server) {
    return output.fail(server.failure());
  }
  const Outcome<api::Worker> worker = find_worker(*server, options.worker, what != "forget");
  if (!worker) {
    return output.fail(worker.failure());
  }
  const std::string target = "/api/v1/workers/" + std::to_string(worker->id.number()) + "/";
  Value answer;
  if (what == "adopt" || what == "disown") {
    const Outcome<std::vector<api::HeldAttempt>> attempts = meant(*worker, options.attempt);
    if (!attempts) {
      return output.fail(attempts.failure());
    }
    for (const api::HeldAttempt& attempt : *attempts) {
      const std::string path = target + "attempts/" + attempt_text(attempt) + "/" + what;
      const Outcome<Value> one =
          server->client().post(path + "?lease=" + std::to_string(attempt.lease), Value::Map{});
      if (!one) {
        return output.fail(one.failure());
      }
      if (!output.json()) {
        output.print(held_text(attempt) + (what == "adopt" ? " has its trial again\n" : " is being ended\n"));
      }
      answer = *one;
    }
  } else {
    Value::Map body;
    if (!options.why.empty()) {
      body["why"] = options.why;
    }
    const Outcome<Value> one = server->client().post(target + what, body);
    if (!one) {
      return output.fail(one.failure());
    }
    answer = *one;
    if (!output.json() && what == "forget") {
      output.print("worker " + printable(worker->name) + " is forgotten; history keeps its name\n");
    } else if (!output.json()) {
      const auto now = read_as<api::Worker>(answer);
      if (!now) {
        return output.fail(now.failure());
      }
      output.print("worker " + printable(now->name) +
                   (now->quarantined || now->draining ? " gets no new trials; its running trials continue\n"
                                                      : " gets new work\n"));
    }
  }
  if (output.json()) {
    output.data(answer);
  }
  return 0;
}

}  // namespace hpsearch::cli
