#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/client/server.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

bool is_set(const Value& worker, std::string_view name) {
  const bool* held = member(worker, name).as_bool();
  return held != nullptr && *held;
}

/// The most important fact about it for an operator.
std::string state_text(const Value& worker) {
  if (!is_set(worker, "present")) {
    return "lost";
  }
  if (!text_at(worker, "quarantined").empty()) {
    return "quarantined";
  }
  if (is_set(worker, "draining")) {
    return list_at(worker, "attempts").empty() ? "drained" : "draining";
  }
  if (!is_set(worker, "connected")) {
    return "away";
  }
  if (is_set(worker, "suspect")) {
    return "suspect";
  }
  return text_at(worker, "resting").empty() ? "ready" : "resting";
}

std::string attempt_text(const Value& attempt) {
  return std::to_string(count_at(attempt, "experiment")) + "/" + std::to_string(count_at(attempt, "trial")) +
         "/" + std::to_string(count_at(attempt, "attempt"));
}

/// One on hold: there may be several of a number.
std::string held_text(const Value& attempt) {
  return std::to_string(count_at(attempt, "experiment")) + "/" + std::to_string(count_at(attempt, "trial")) +
         "/" + printable(text_at(attempt, "label"));
}

std::string slots_text(const Value::List& slots) {
  std::string text = slots.size() == 1 ? "slot" : "slots";
  for (const Value& slot : slots) {
    text += " " + std::to_string(static_cast<std::uint64_t>(slot.number_or(0)));
  }
  return text;
}

/// "2 x NVIDIA H200, 4 slots each", or "" where slots are shares of the processors.
std::string devices_text(const Value& worker) {
  std::map<std::string, std::set<std::string>> by_name;
  std::size_t slots = 0;
  std::size_t devices = 0;
  for (const Value& device : list_at(worker, "devices")) {
    devices += by_name[text_at(device, "name")].insert(text_at(device, "uuid")).second ? 1U : 0U;
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
std::string device_lines(const Value& worker) {
  struct Line {
    std::string slots;
    std::string rest;
  };
  std::map<std::string, Line> lines;
  std::vector<std::string> order;
  std::uint64_t slot = 0;
  for (const Value& device : list_at(worker, "devices")) {
    const std::string uuid = text_at(device, "uuid");
    Line& line = lines[uuid];
    if (line.slots.empty()) {
      order.push_back(uuid);
      line.rest = " is GPU " + std::to_string(count_at(device, "index")) + ", " +
                  printable(text_at(device, "name")) + ", " +
                  std::to_string(count_at(device, "memory_bytes") >> 20U) + " MiB, " + printable(uuid) + "\n";
    }
    line.slots += (line.slots.empty() ? " " : ", ") + std::to_string(slot++);
  }
  std::string text;
  for (const std::string& uuid : order) {
    const Line& line = lines.at(uuid);
    text += "worker " + printable(text_at(worker, "name")) + ": slot" + line.slots + line.rest;
  }
  return text;
}

/// "pool" or "pool, zone=b"
std::string pool_text(const Value& worker) {
  std::string text = text_at(worker, "pool");
  if (const Value::Map* labels = member(worker, "labels").as_map()) {
    for (const auto& [key, value] : *labels) {
      text += ", " + key + "=" + (value.as_text() != nullptr ? *value.as_text() : "");
    }
  }
  return printable(text);
}

/// How long ago its last message came; "-": not since the daemon was started.
std::string heard_text(const Value& worker, double now) {
  const double heard = number_at(worker, "heard_at");
  return heard > 0 ? duration_text(std::max(0.0, now - heard)) : "-";
}

std::string remarks_on(const Value& worker) {
  std::string text;
  if (const std::string why = text_at(worker, "quarantined"); !why.empty()) {
    const std::string probation = text_at(worker, "probation");
    text += "worker " + printable(text_at(worker, "name")) + " is in quarantine: " + printable(why) +
            (probation.empty() ? "" : "; " + printable(probation) + ", or use hpsearch worker release") +
            "\n";
  }
  if (is_set(worker, "draining")) {
    text += "worker " + printable(text_at(worker, "name")) +
            " gets no new trials until hpsearch worker release; trials that run there: " +
            std::to_string(list_at(worker, "attempts").size()) + "\n";
  }
  if (const std::string why = text_at(worker, "resting"); !why.empty()) {
    text += "worker " + printable(text_at(worker, "name")) + " gets no leases now: " + printable(why) +
            ", or after hpsearch release\n";
  }
  if (const std::string why = text_at(worker, "checkpoint_problem");
      !why.empty() && is_set(worker, "connected")) {
    text += "worker " + printable(text_at(worker, "name")) +
            " cannot store checkpoints of experiments without checkpoint_storage: " + printable(why) + "\n";
  }
  for (const Value& slot : list_at(worker, "withdrawn")) {
    text += "worker " + printable(text_at(worker, "name")) + ": slot " +
            std::to_string(count_at(slot, "slot")) + ": " + printable(text_at(slot, "why")) +
            (is_set(slot, "released") ? "; released, it is used nevertheless\n"
                                      : "; out of use until it is healthy, or until hpsearch release\n");
  }
  for (const Value& leaked_processes : list_at(worker, "leaked_processes")) {
    text +=
        "worker " + printable(text_at(worker, "name")) + ": something of " + attempt_text(leaked_processes) +
        " survives SIGKILL in " + slots_text(list_at(leaked_processes, "slots")) +
        (is_set(leaked_processes, "released") ? "; released, it is used nevertheless\n"
                                              : "; out of use until it is gone, or until hpsearch release\n");
  }
  for (const Value& attempt : list_at(worker, "on_hold")) {
    text += "worker " + printable(text_at(worker, "name")) + " holds " + held_text(attempt) +
            (is_set(attempt, "exited") ? " (ended)" : " (running)") +
            ", which is not in this store: run hpsearch adopt or hpsearch disown\n";
  }
  return text;
}

/// The worker meant by its number or its name, as GET /workers shows it.
Outcome<Value> find_worker(const Server& server, const std::string& wanted, bool wants_present) {
  const Outcome<Value> answer = server.client().get_list("/api/v1/workers", "workers");
  if (!answer) {
    return answer.failure();
  }
  std::optional<Value> found;
  for (const Value& worker : list_at(*answer, "workers")) {
    if (std::to_string(count_at(worker, "id")) == wanted) {
      return worker;
    }
    if (text_at(worker, "name") == wanted) {
      const bool here = is_set(worker, "present");
      if (found && is_set(*found, "present") != here) {  // Another one has the place of the lost one.
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
Outcome<Value::List> meant(const Value& worker, const std::string& which) {
  Value::List all;
  for (const Value& attempt : list_at(worker, "on_hold")) {
    if (which == "all" || which == attempt_text(attempt) || which == held_text(attempt)) {
      all.push_back(attempt);
    }
  }
  if (which != "all" && all.size() > 1) {
    std::string names;
    for (const Value& attempt : all) {
      names += (names.empty() ? "" : ", ") + held_text(attempt);
    }
    return Failure{Exit::usage, engine::Errc::bad_request,
                   "worker \"" + printable(text_at(worker, "name")) + "\" holds several attempts " + which +
                       ": " + names};
  }
  if (all.empty()) {
    return Failure{Exit::not_found, engine::Errc::not_found,
                   "worker \"" + printable(text_at(worker, "name")) + "\" holds no unknown attempt" +
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
  const Outcome<Value> answer = server->client().get_list("/api/v1/workers", "workers");
  if (!answer) {
    return output.fail(answer.failure());
  }
  if (output.json()) {
    output.data(*answer);
    return 0;
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
  for (const Value& worker : list_at(*answer, "workers")) {
    table.add({std::to_string(count_at(worker, "id")), state_text(worker),
               std::to_string(count_at(worker, "slots")), std::to_string(count_at(worker, "slots_held")),
               text_at(worker, "slot_kind"), devices_text(worker), pool_text(worker),
               printable(text_at(worker, "host")), printable(text_at(worker, "version")),
               heard_text(worker, seconds_now()), text_at(worker, "name")});
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
  const Outcome<Value> worker = find_worker(*server, options.worker, what != "forget");
  if (!worker) {
    return output.fail(worker.failure());
  }
  const std::string target = "/api/v1/workers/" + std::to_string(count_at(*worker, "id")) + "/";
  Value answer;
  if (what == "adopt" || what == "disown") {
    const Outcome<Value::List> attempts = meant(*worker, options.attempt);
    if (!attempts) {
      return output.fail(attempts.failure());
    }
    for (const Value& attempt : *attempts) {
      const std::string path = target + "attempts/" + attempt_text(attempt) + "/" + what;
      const Outcome<Value> one =
          server->client().post(path + "?lease=" + std::to_string(count_at(attempt, "lease")), Value::Map{});
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
    if (!output.json()) {
      output.print("worker " + printable(text_at(answer, "name")) +
                   (what == "forget" ? " is forgotten; history keeps its name\n"
                    : text_at(answer, "quarantined").empty() && !is_set(answer, "draining")
                        ? " gets new work\n"
                        : " gets no new trials; its running trials continue\n"));
    }
  }
  if (output.json()) {
    output.data(answer);
  }
  return 0;
}

}  // namespace hpsearch::cli
