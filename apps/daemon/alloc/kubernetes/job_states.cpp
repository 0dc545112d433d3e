#include "daemon/alloc/kubernetes/job_states.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "daemon/alloc/kubernetes/job_manifest.hpp"

namespace hpsearch::daemon::kubernetes {
namespace {

using engine::AllocationEnd;
using engine::Value;
using Phase = Standing::Phase;

constexpr std::size_t longest_message = 300;

const Value& under(const Value& value, std::initializer_list<std::string> keys) {
  static const Value nothing;
  const Value* found = value.at_keys(std::span(keys.begin(), keys.size()));
  return found == nullptr ? nothing : *found;
}

std::string text_in(const Value& value, std::initializer_list<std::string> keys) {
  const std::string* text = under(value, keys).as_text();
  return text == nullptr ? "" : *text;
}

const Value::List& list_in_status(const Value& value, const std::string& key) {
  static const Value::List none;
  const Value::List* list = under(value, {"status", key}).as_list();
  return list == nullptr ? none : *list;
}

/// The condition if it holds; nothing: it doesn't.
const Value* condition_of(const Value& value, std::string_view type, std::string_view status = "True") {
  for (const Value& one : list_in_status(value, "conditions")) {
    if (text_in(one, {"type"}) == type && text_in(one, {"status"}) == status) {
      return &one;
    }
  }
  return nullptr;
}

/// "ImagePullBackOff: Back-off pulling image …", on one line.
std::string reason_with(const std::string& word, const std::string& message) {
  std::string text = word + (word.empty() || message.empty() ? "" : ": ") + message;
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() > longest_message) {
    text.resize(longest_message);
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80U) != 0) {
      text.pop_back();  // Not in the middle of a letter.
    }
    text += " …";
  }
  return text;
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [text](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// --- why a pod or a Job waits ---

struct Waiting {
  std::string reason;
  bool will_not_start = false;
};

/// A registry that is away or busy answers later; an image that it does not have, or does not give, never
/// comes.
bool is_hopeless_pull(const std::string& message) {
  return !has_any(message, {"timeout", "timed out", "deadline exceeded", "connection refused",
                            "connection reset", "no such host", "temporary", "temporarily", "toomanyrequests",
                            "Too Many Requests", "EOF", "50", "registry is unavailable"}) ||
         has_any(message, {"not found", "unauthorized", "denied"});
}

std::optional<Waiting> waiting_in(const Value& status) {
  const std::string word = text_in(status, {"state", "waiting", "reason"});
  const std::string message = text_in(status, {"state", "waiting", "message"});
  if (word.empty()) {
    return std::nullopt;
  }
  constexpr std::array<std::string_view, 5> never{"InvalidImageName", "ErrImageNeverPull",
                                                  "CreateContainerConfigError", "CreateContainerError",
                                                  "RunContainerError"};
  const bool is_pull = word == "ErrImagePull" || word == "ImagePullBackOff" || word == "ErrImagePullBackOff";
  return Waiting{reason_with(word, message), std::find(never.begin(), never.end(), word) != never.end() ||
                                                 (is_pull && is_hopeless_pull(message))};
}

/// The message of the last event about that object with that reason.
std::string event_about(const Value::List& events, const std::string& uid, std::string_view reason) {
  std::string last;
  std::string message;
  for (const Value& event : events) {
    if (text_in(event, {"involvedObject", "uid"}) != uid || text_in(event, {"reason"}) != reason) {
      continue;
    }
    const std::string at = text_in(event, {"lastTimestamp"});
    if (message.empty() || at >= last) {
      last = at;
      message = text_in(event, {"message"});
    }
  }
  return message;
}

Waiting why_pod_waits(const Value& pod, const Value::List& events) {
  for (const char* key : {"initContainerStatuses", "containerStatuses"}) {
    for (const Value& status : list_in_status(pod, key)) {
      auto waiting = waiting_in(status);
      if (waiting && waiting->reason == "ContainerCreating") {
        waiting->reason = reason_with("ContainerCreating",
                                      event_about(events, text_in(pod, {"metadata", "uid"}), "FailedMount"));
      }
      if (waiting && waiting->reason != "PodInitializing") {
        return *std::move(waiting);
      }
    }
  }
  // Nodes may become free, and an autoscaler may add some.
  const Value* unscheduled = condition_of(pod, "PodScheduled", "False");
  return unscheduled == nullptr
             ? Waiting{}
             : Waiting{reason_with(text_in(*unscheduled, {"reason"}), text_in(*unscheduled, {"message"}))};
}

/// The API refuses the Job's pods. A quota may have room later; all else it forbids is to be changed by
/// people.
Waiting why_no_pod(const Value& job, const Value::List& events) {
  const std::string message = event_about(events, text_in(job, {"metadata", "uid"}), "FailedCreate");
  if (message.empty()) {
    return {};
  }
  return {
      reason_with("FailedCreate", message),
      has_any(message, {"is forbidden", "is invalid", "not found"}) && !has_any(message, {"exceeded quota"})};
}

// --- how it ended ---

struct PodEnd {
  AllocationEnd end = AllocationEnd::completed;
  std::string reason;
};

PodEnd end_of_disrupted(const std::string& reason) {
  const bool of_node = reason == "DeletionByTaintManager" || reason == "DeletionByPodGC";
  return {of_node ? AllocationEnd::node_failed : AllocationEnd::preempted, reason};
}

PodEnd end_of_pod(const Value& pod) {
  if (const Value* disrupted = condition_of(pod, "DisruptionTarget")) {
    return end_of_disrupted(text_in(*disrupted, {"reason"}));
  }
  const std::string reason = text_in(pod, {"status", "reason"});
  const std::string message = text_in(pod, {"status", "message"});
  if (reason == "DeadlineExceeded") {
    return {AllocationEnd::time_limit, reason};
  }
  if (reason == "NodeLost") {
    return {AllocationEnd::node_failed, reason};
  }
  if (reason == "Evicted" || reason == "Preempting" || reason == "Terminated" || reason == "NodeShutdown" ||
      reason == "Shutdown") {
    return {AllocationEnd::preempted, reason_with(reason, message)};
  }
  if (text_in(pod, {"status", "phase"}) != "Failed") {
    return {};
  }
  for (const char* key : {"initContainerStatuses", "containerStatuses"}) {
    for (const Value& status : list_in_status(pod, key)) {
      const Value& terminated = under(status, {"state", "terminated"});
      const std::int64_t* code = under(terminated, {"exitCode"}).as_integer();
      if (code != nullptr && *code != 0) {
        const std::string word = text_in(terminated, {"reason"});
        return {AllocationEnd::failed,
                reason_with((word.empty() ? "Error" : word) + ", exit code " + std::to_string(*code),
                            text_in(terminated, {"message"}))};
      }
    }
  }
  return {AllocationEnd::failed, reason_with(reason, message)};
}

/// How all pods of the Job ended: the cause that is not its program's, if any pod has one.
PodEnd end_of_all(const std::vector<const Value*>& pods) {
  PodEnd all;
  for (const Value* pod : pods) {
    const PodEnd one = end_of_pod(*pod);
    if (all.end == AllocationEnd::completed ||
        (all.end == AllocationEnd::failed && one.end != AllocationEnd::completed &&
         one.end != AllocationEnd::failed)) {
      all = one;
    }
  }
  return all;
}

/// The kubelet has seen each container end. It has not where a node was lost: then a container may still run.
bool are_all_terminated(const std::vector<const Value*>& pods, std::int64_t wanted) {
  const auto is_terminated = [](const Value& status) {
    const Value& terminated = under(status, {"state", "terminated"});
    return !terminated.is_null() && text_in(terminated, {"reason"}) != "ContainerStatusUnknown";
  };
  return static_cast<std::int64_t>(pods.size()) >= wanted &&
         std::all_of(pods.begin(), pods.end(), [&](const Value* pod) {
           const Value::List& statuses = list_in_status(*pod, "containerStatuses");
           return !statuses.empty() && std::all_of(statuses.begin(), statuses.end(), is_terminated);
         });
}

std::int64_t completions_of(const Value& job) {
  const std::int64_t* count = under(job, {"spec", "completions"}).as_integer();
  return count == nullptr ? 1 : *count;
}

std::vector<const Value*> pods_of_owner(const Value::List& pods, const std::string& uid) {
  std::vector<const Value*> own;
  for (const Value& pod : pods) {
    const Value::List* owners = under(pod, {"metadata", "ownerReferences"}).as_list();
    if (owners != nullptr && std::any_of(owners->begin(), owners->end(), [&](const Value& owner) {
          return text_in(owner, {"uid"}) == uid;
        })) {
      own.push_back(&pod);
    }
  }
  return own;
}

bool has_ended(const Value& job) {
  return condition_of(job, "Complete") != nullptr || condition_of(job, "Failed") != nullptr;
}

/// State and reason of a Job that has ended.
void take_end(const Value& job, const std::vector<const Value*>& pods, BackendJob& into) {
  const Value* failed = condition_of(job, "Failed");
  PodEnd end = end_of_all(pods);
  into.state = failed == nullptr ? "Complete" : "Failed";
  if (failed != nullptr && text_in(*failed, {"reason"}) == "DeadlineExceeded") {
    end = {AllocationEnd::time_limit, "DeadlineExceeded"};
  } else if (failed != nullptr && pods.empty()) {
    // Pods that have failed stay as long as their Job: these were deleted, as those of a drained node are.
    end = {AllocationEnd::preempted, "its pods were deleted"};
  } else if (failed != nullptr && end.end == AllocationEnd::completed) {
    end = {AllocationEnd::failed, reason_with(text_in(*failed, {"reason"}), text_in(*failed, {"message"}))};
  }
  into.reason = end.reason;
  into.standing = {Phase::ended, false, end.end, are_all_terminated(pods, completions_of(job))};
}

void take_standing(const Value& job, const Listed& listed, BackendJob& into) {
  const std::vector<const Value*> pods = pods_of_owner(listed.pods, text_in(job, {"metadata", "uid"}));
  if (has_ended(job)) {
    take_end(job, pods, into);
    return;
  }
  const auto in_phase = [&pods](std::string_view phase) {
    return std::any_of(pods.begin(), pods.end(), [&](const Value* pod) {
      return text_in(*pod, {"status", "phase"}) == phase;
    });
  };
  if (!under(job, {"metadata", "deletionTimestamp"}).is_null()) {
    into.state = "Terminating";
    into.standing.phase = Phase::unclear;
  } else if (in_phase("Running")) {
    into.state = "Running";
    into.standing.phase = Phase::runs;
  } else if (under(job, {"spec", "suspend"}) == Value(true)) {
    into.state = "Suspended";
    into.reason = "Suspended";
  } else if (pods.empty()) {
    into.state = "Pending";
    Waiting waiting = why_no_pod(job, listed.events);
    into.reason = std::move(waiting.reason);
    into.standing.will_not_start = waiting.will_not_start;
  } else if (in_phase("Pending")) {
    into.state = "Pending";
    for (const Value* pod : pods) {
      Waiting waiting = why_pod_waits(*pod, listed.events);
      if (into.reason.empty() || (waiting.will_not_start && !into.standing.will_not_start)) {
        into.reason = std::move(waiting.reason);
        into.standing.will_not_start = waiting.will_not_start;
      }
    }
  } else {  // Its pods have ended, and it will say so.
    into.state = "Ending";
    into.standing.phase = Phase::unclear;
  }
}

}  // namespace

bool needs_events(const Listed& listed) {
  return std::any_of(listed.jobs.begin(), listed.jobs.end(), [&](const Value& job) {
    if (has_ended(job)) {
      return false;
    }
    const std::vector<const Value*> pods = pods_of_owner(listed.pods, text_in(job, {"metadata", "uid"}));
    return pods.empty() || std::any_of(pods.begin(), pods.end(), [](const Value* pod) {
             return why_pod_waits(*pod, {}).reason == "ContainerCreating";
           });
  });
}

std::vector<BackendJob> read_jobs(const Listed& listed) {
  std::vector<BackendJob> jobs;
  for (const Value& job : listed.jobs) {
    BackendJob read{.id = text_in(job, {"metadata", "name"}),
                    .key = text_in(job, {"metadata", "annotations", key_annotation}),
                    .state = "",
                    .reason = "",
                    .standing = {}};
    if (read.id.empty() || read.key.empty()) {
      continue;
    }
    take_standing(job, listed, read);
    jobs.push_back(std::move(read));
  }
  return jobs;
}

std::vector<std::string> pods_of_job(const Value::List& pods, const std::string& job) {
  std::vector<std::string> names;
  for (const Value& pod : pods) {
    const Value::List* owners = under(pod, {"metadata", "ownerReferences"}).as_list();
    if (owners != nullptr && std::any_of(owners->begin(), owners->end(), [&](const Value& owner) {
          return text_in(owner, {"kind"}) == "Job" && text_in(owner, {"name"}) == job;
        })) {
      names.push_back(text_in(pod, {"metadata", "name"}));
    }
  }
  return names;
}

}  // namespace hpsearch::daemon::kubernetes
