#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/admin/queue_settings.hpp"
#include "cli/client/answers.hpp"
#include "cli/client/queues.hpp"
#include "cli/client/server.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/proto/api/queues.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;
using Align = Table::Align;

std::string allocation_text(const api::Allocation& allocation) {
  if (allocation.end) {
    return *allocation.end + (allocation.detail.empty() ? "" : ": " + printable(allocation.detail));
  }
  if (allocation.canceling) {
    return "canceling: " + printable(*allocation.canceling);
  }
  return allocation.state;
}

std::string since(std::optional<double> at) {
  return at ? duration_text(std::max(0.0, seconds_now() - *at)) : "-";
}

/// Why the queue does not ask for more, or that it does.
std::string explanation_of(const api::Queue& queue) {
  std::string text = "queue " + queue.name + " has " + std::to_string(queue.workers) + " of " +
                     counted(queue.settings.max_workers, "worker") + "; " +
                     counted(queue.trials_waiting, "trial") +
                     (queue.trials_waiting == 1 ? " waits" : " wait") + " and would run on its workers\n";
  if (queue.trials_too_long > 0) {
    text += counted(queue.trials_too_long, "trial") +
            (queue.trials_too_long == 1 ? " does not run there: it needs "
                                        : " do not run there: one needs at least ") +
            duration_text(queue.time_needed.value_or(0)) + " and its workers take trials for " +
            duration_text(queue.settings.time_limit - queue.settings.give_back) +
            " (time-limit less give-back)\n";
  }
  for (const api::Allocation& allocation : queue.allocations) {
    if (!allocation.end && !allocation.started) {
      text += "allocation " + allocation.name + " waits for its start for " + since(allocation.wanted) +
              (allocation.job ? ", as job " + printable(*allocation.job) : "") +
              (allocation.waits_for ? ": " + printable(*allocation.waits_for) : "") + "\n";
    }
  }
  const std::string next = queue.state == "removed" ? "it is being removed: its allocations end"
                           : queue.state == "paused"
                               ? "it is paused" + (queue.why ? ": " + printable(*queue.why) : "") +
                                     "; hpsearch alloc resume " + queue.name
                           : queue.rests_until && *queue.rests_until > seconds_now()
                               ? "it asks again in " + duration_text(*queue.rests_until - seconds_now()) +
                                     (queue.last_failure.empty()
                                          ? ""
                                          : "; the last allocation failed: " + printable(queue.last_failure))
                           : queue.trials_waiting == 0 ? "it asks for nothing: no trial waits for its workers"
                           : queue.workers + queue.settings.workers > queue.settings.max_workers
                               ? "it asks for no more: max-workers"
                           : queue.pending >= queue.settings.backlog
                               ? "it asks for no more before one of these has started: backlog"
                               : "it asks for more if these would be busy enough: min-utilization";
  return text + next + "\n";
}

void show_queue(const api::Queue& queue, const Output& output) {
  output.print(explanation_of(queue));
  Table table({{"ALLOCATION"}, {"JOB"}, {"WORKERS", Align::right}, {"WANTED", Align::right}, {"STATE"}});
  for (const api::Allocation& allocation : queue.allocations) {
    table.add({allocation.name, printable(allocation.job.value_or("-")),
               std::to_string(allocation.joined) + " of " + std::to_string(allocation.workers),
               since(allocation.wanted), allocation_text(allocation)});
  }
  if (!table.empty()) {
    output.print(table.text(output.width()));
  }
}

int finish(const Outcome<Value>& answer, const Output& output, const std::string& said) {
  if (!answer) {
    return output.fail(answer.failure());
  }
  if (output.json()) {
    output.data(*answer);
  } else {
    output.print(said);
  }
  return 0;
}

int print_text(const Outcome<Value>& answer, const Output& output) {
  if (!answer) {
    return output.fail(answer.failure());
  }
  if (output.json()) {
    output.data(*answer);
    return 0;
  }
  const std::string text = text_at(*answer, "text");
  output.print(text.empty() || text.back() == '\n' ? text : text + "\n");
  return 0;
}

/// Prints what the other scheduler says; whether an allocation could start.
Outcome<bool> check(const Server& server, const api::QueueRequest& request, const Output& output) {
  const Outcome<Value> answer = check_queue(server.client(), request);
  const auto checked = read_as<api::QueueCheck>(answer);
  if (!checked) {
    return checked.failure();
  }
  if (output.json()) {
    output.data(*answer);
  } else {
    for (const std::string& finding : checked->findings) {
      output.print(printable(finding) + "\n");
    }
  }
  return checked->would_start;
}

/// Why no allocation of the queue would start; nothing: one would.
std::optional<Failure> problem_with(const Server& server, const api::QueueRequest& request,
                                    const Output& output) {
  const Output quiet(Output::Format::table);
  const Outcome<bool> starts = check(server, request, output.json() ? quiet : output);
  if (starts && *starts) {
    return std::nullopt;
  }
  return starts ? Failure{Exit::conflict, engine::Errc::wrong_state,
                          "an allocation of the queue " + request.name +
                              " would not start; change its arguments, or use --no-check"}
                : starts.failure();
}

int add(const Server& server, const AllocOptions& options, const Output& output) {
  const auto request = queue_request(options);
  if (!request) {
    return output.fail(request.failure());
  }
  if (const auto failure = options.no_check ? std::nullopt : problem_with(server, *request, output)) {
    return output.fail(*failure);
  }
  return finish(server.client().post(queue_target(), *proto::encode_value(*request).as_map()), output,
                "queue " + options.queue + " asks for allocations when trials wait\n");
}

int change(const Server& server, const AllocOptions& options, const Output& output) {
  const auto queue = read_as<api::Queue>(server.client().get(queue_target(options.queue)));
  if (!queue) {
    return output.fail(queue.failure());
  }
  api::QueueSettings settings = queue->settings;
  for (const std::string& assignment : options.assignments) {
    const std::size_t equals = assignment.find('=');
    const auto failure =
        equals == std::string::npos
            ? usage_failure("\"" + printable(assignment) + "\" must be SETTING=VALUE")
            : change_setting(settings, assignment.substr(0, equals), assignment.substr(equals + 1));
    if (failure) {
      return output.fail(*failure);
    }
  }
  return finish(server.client().put(queue_target(options.queue) + "/settings", proto::encode_value(settings)),
                output, "queue " + options.queue + " is changed\n");
}

/// Adds the queues of a file that are not there, and changes those that are others there. All of them are
/// checked before the first is changed.
int apply(const Server& server, const AllocOptions& options, const Output& output) {
  const auto wanted = queues_in_file(options.file);
  const auto present = read_as<api::QueueList>(server.client().get(queue_target()));
  if (!wanted || !present) {
    return output.fail(wanted ? present.failure() : wanted.failure());
  }
  const auto now = [&present](const std::string& name) {
    return std::find_if(present->queues.begin(), present->queues.end(),
                        [&name](const api::Queue& queue) { return queue.name == name; });
  };
  const auto is_there = [&](const api::QueueRequest& queue) {
    const auto found = now(queue.name);
    return found != present->queues.end() &&
           proto::encode_value(found->settings) == proto::encode_value(queue.settings);
  };
  for (const api::QueueRequest& queue : *wanted) {
    if (const auto failure =
            options.no_check || is_there(queue) ? std::nullopt : problem_with(server, queue, output)) {
      return output.fail(*failure);
    }
  }
  for (const api::QueueRequest& queue : *wanted) {
    const bool is_new = now(queue.name) == present->queues.end();
    if (is_there(queue)) {
      output.print("queue " + queue.name + " is as in the file\n");
    } else if (const int failed =
                   finish(is_new ? server.client().post(queue_target(), *proto::encode_value(queue).as_map())
                                 : server.client().put(queue_target(queue.name) + "/settings",
                                                       proto::encode_value(queue.settings)),
                          output, "queue " + queue.name + (is_new ? " is added\n" : " is changed\n"))) {
      return failed;
    }
  }
  for (const api::Queue& queue : present->queues) {
    if (std::none_of(wanted->begin(), wanted->end(),
                     [&queue](const api::QueueRequest& one) { return one.name == queue.name; })) {
      output.print("queue " + queue.name + " is not in the file; hpsearch alloc remove " + queue.name +
                   " removes it\n");
    }
  }
  return 0;
}

int list(const Server& server, const Output& output) {
  const Outcome<Value> answer = server.client().get(queue_target());
  const auto queues = read_as<api::QueueList>(answer);
  if (!queues) {
    return output.fail(queues.failure());
  }
  if (output.json()) {
    output.data(*answer);
    return 0;
  }
  Table table({{"QUEUE"},
               {"STATE"},
               {"WORKERS", Align::right},
               {"PENDING", Align::right},
               {"RUNNING", Align::right},
               {"TRIALS WAITING", Align::right},
               {"ARGUMENTS"}});
  for (const api::Queue& queue : queues->queues) {
    std::string arguments;
    for (const std::string& word : queue.settings.arguments) {
      constexpr std::size_t longest = 60;  // A pod template is one word.
      arguments += (arguments.empty() ? "" : " ") +
                   (word.size() > longest ? printable(word.substr(0, longest)) + "…" : printable(word));
    }
    table.add({queue.name, queue.state,
               std::to_string(queue.joined) + " of " + std::to_string(queue.settings.max_workers),
               std::to_string(queue.pending), std::to_string(queue.running),
               std::to_string(queue.trials_waiting), arguments});
  }
  output.print(table.empty() ? "no queues; hpsearch alloc add adds one\n" : table.text(output.width()));
  return 0;
}

/// "gpu/17" → the target of its log; nothing: it is no name of an allocation.
std::optional<std::string> log_target(const std::string& allocation) {
  const std::size_t slash = allocation.find('/');
  if (slash == std::string::npos || !engine::number_in<std::uint64_t>(allocation.substr(slash + 1))) {
    return std::nullopt;
  }
  return queue_target(allocation.substr(0, slash)) + "/allocations/" + allocation.substr(slash + 1) + "/log";
}

}  // namespace

int alloc(const std::string& what, const AllocOptions& options, const Output& output) {
  const Outcome<Server> server = Server::reach_shared(options.server, output);
  if (!server) {
    return output.fail(server.failure());
  }
  const Client& client = server->client();
  if (what == "add") {
    return add(*server, options, output);
  }
  if (what == "apply") {
    return apply(*server, options, output);
  }
  if (what == "list") {
    return list(*server, output);
  }
  if (what == "set") {
    return change(*server, options, output);
  }
  if (what == "log") {
    const auto target = log_target(options.queue);
    return target ? print_text(client.get(*target), output)
                  : output.fail(usage_failure("\"" + printable(options.queue) +
                                              "\" is no allocation; it must be QUEUE/NUMBER, as hpsearch "
                                              "alloc show lists them"));
  }
  if (what == "script") {
    return print_text(client.get(queue_target(options.queue) + "/script"), output);
  }
  if (what == "pause" || what == "resume") {
    return finish(client.post(queue_target(options.queue) + "/" + what, Value::Map{}), output,
                  "queue " + options.queue +
                      (what == "pause" ? " asks for no more allocations; those that run go on\n"
                                       : " asks for allocations again\n"));
  }
  if (what == "remove") {
    return finish(
        client.post(queue_target(options.queue) + "/remove", Value::Map{{"at_once", options.at_once}}),
        output,
        "queue " + options.queue +
            (options.at_once ? " is removed; its allocations are canceled\n"
                             : " is removed when its allocations have ended\n"));
  }
  const Outcome<Value> answer = client.get(queue_target(options.queue));
  const auto queue = read_as<api::Queue>(answer);
  if (!queue) {
    return output.fail(queue.failure());
  }
  if (what == "check") {
    const auto failure = problem_with(*server, {queue->name, queue->settings}, output);
    return failure ? output.fail(*failure) : 0;
  }
  if (output.json()) {
    output.data(*answer);
  } else if (what == "explain") {
    output.print(explanation_of(*queue));
  } else {
    show_queue(*queue, output);
  }
  return 0;
}

}  // namespace hpsearch::cli
