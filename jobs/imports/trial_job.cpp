#include "imports/trial_job.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "hpsearch/engine/space/numbers.hpp"
#include "imports/draft.hpp"

namespace hpsearch::jobs {
namespace {

const Value::List* containers_of(const Value& pod_template) noexcept {
  const Value::List* containers = member_of(member_of(pod_template, "spec"), "containers").as_list();
  return containers == nullptr || containers->empty() ? nullptr : containers;
}

constexpr std::int64_t most_pods = 1 << 20;

std::int64_t number_of_pods(const Value& group) {
  for (const char* key : {"replicas", "parallelism"}) {
    if (const auto pods = engine::whole_number(member_of(group, key)); pods && *pods >= 0) {
      return std::min(*pods, most_pods);
    }
  }
  return 1;
}

/// Collects the pod templates of a resource of any kind.
void collect(const Value& node, const std::string& role, std::int64_t pods, std::vector<PodGroup>& groups) {
  if (containers_of(node) != nullptr) {
    groups.push_back({role, pods, node});
    return;
  }
  if (node.as_map() == nullptr) {
    return;
  }
  for (const auto& [key, member] : *node.as_map()) {
    if (key == "template") {
      collect(member, role, number_of_pods(node), groups);
    } else {
      collect(member, key, 1, groups);
    }
  }
}

const Value* container_named(const PodGroup& group, std::string_view name) {
  for (const Value& container : *containers_of(group.pod_template)) {
    if (container.as_map() != nullptr && text_member(container, "name") == name) {
      return &container;
    }
  }
  return nullptr;
}

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

/// Pods of roles with a higher rank start the training of the whole job.
int rank_of(const PodGroup& group, std::string_view preferred) {
  if (!preferred.empty() && same_letters(group.role, preferred)) {
    return 3;
  }
  constexpr std::array<std::string_view, 3> leaders{"launcher", "master", "chief"};
  const bool leads = std::any_of(leaders.begin(), leaders.end(),
                                 [&](std::string_view leader) { return same_letters(group.role, leader); });
  return leads ? 2 : same_letters(group.role, "worker") ? 1 : 0;
}

constexpr std::array<std::string_view, 9> device_resources{
    "nvidia.com/gpu",       "amd.com/gpu",     "gpu.intel.com/i915",
    "gpu.intel.com/xe",     "habana.ai/gaudi", "huawei.com/Ascend910",
    "huawei.com/Ascend310", "google.com/tpu",  "aws.amazon.com/neuron"};

}  // namespace

TrialJob trial_job(const Value& job, std::string_view primary, std::string_view role) {
  TrialJob found{.kind = text_member(job, "kind"), .spec = member_of(job, "spec")};
  collect(job, "", 1, found.groups);
  std::stable_sort(found.groups.begin(), found.groups.end(), [&](const PodGroup& a, const PodGroup& b) {
    const auto rank = [&](const PodGroup& group) {
      return container_named(group, primary) == nullptr ? -1 : rank_of(group, role);
    };
    return rank(a) > rank(b);
  });
  if (!found.groups.empty()) {
    if (const Value* container = container_named(found.groups[0], primary)) {
      found.container = *container;
    }
  }
  return found;
}

TrialJob train_job(const Value& spec) {
  const Value& trainer = member_of(spec, "trainer");
  Value::Map container{{"name", "node"}};
  for (const char* key : {"image", "command", "args", "env"}) {
    if (const Value& given = member_of(trainer, key); !given.is_null()) {
      container[key] = given;
    }
  }
  if (const Value& resources = member_of(trainer, "resourcesPerNode"); !resources.is_null()) {
    container["resources"] = resources;
  }
  const auto nodes = engine::whole_number(member_of(trainer, "numNodes"));
  TrialJob job{.kind = "TrainJob", .spec = spec};
  job.groups.push_back({"node", nodes && *nodes > 0 ? std::min(*nodes, most_pods) : 1,
                        Value::Map{{"spec", Value::Map{{"containers", Value::List{Value(container)}}}}}});
  job.container = std::move(container);
  job.runtime = text_member(member_of(spec, "runtimeRef"), "name");
  return job;
}

std::string container_names(const TrialJob& job) {
  std::string names;
  for (const PodGroup& group : job.groups) {
    for (const Value& container : *containers_of(group.pod_template)) {
      names += (names.empty() ? "" : ", ") + text_member(container, "name");
    }
  }
  return names;
}

std::string counted_pods(const TrialJob& job) {
  std::string text;
  for (std::size_t i = 0; i < job.groups.size(); ++i) {
    text += i == 0 ? "" : i + 1 == job.groups.size() ? " and " : ", ";
    text += std::to_string(job.groups[i].pods) + " " + job.groups[i].role;
  }
  return text;
}

std::int64_t accelerators_of(const Value& container) {
  const Value& resources = member_of(container, "resources");
  std::int64_t sum = 0;
  for (const std::string_view device : device_resources) {
    const Value& limit = member_of(member_of(resources, "limits"), device);
    const auto number =
        number_in(limit.is_null() ? member_of(member_of(resources, "requests"), device) : limit);
    const auto whole = number ? engine::whole_number(Value(*number)) : std::nullopt;
    constexpr std::int64_t most = 1 << 20;
    sum += whole ? std::clamp<std::int64_t>(*whole, 0, most) : 0;
  }
  return sum;
}

Value pod_template_of(const TrialJob& job) {
  const Value& given = job.groups[0].pod_template;
  Value::Map spec = *member_of(given, "spec").as_map();
  for (const char* key :
       {"restartPolicy", "activeDeadlineSeconds", "terminationGracePeriodSeconds", "hostname", "subdomain"}) {
    spec.erase(key);  // A queue sets them.
  }
  Value::List containers;
  for (const Value& one : *containers_of(given)) {
    if (!(one == job.container)) {
      containers.push_back(one);
      continue;
    }
    Value::Map container = *one.as_map();
    for (const char* key : {"command", "args", "workingDir", "lifecycle", "livenessProbe", "readinessProbe",
                            "startupProbe", "stdin", "tty"}) {
      container.erase(key);
    }
    Value::List from_elsewhere;  // The values of other variables are in the experiment.
    if (const Value::List* variables = member_of(one, "env").as_list()) {
      std::copy_if(variables->begin(), variables->end(), std::back_inserter(from_elsewhere),
                   [](const Value& variable) { return !member_of(variable, "valueFrom").is_null(); });
    }
    container.erase("env");
    if (!from_elsewhere.empty()) {
      container["env"] = std::move(from_elsewhere);
    }
    containers.emplace_back(std::move(container));
  }
  spec["containers"] = std::move(containers);
  Value::Map metadata;
  for (const char* key : {"annotations", "labels"}) {
    if (const Value& kept = member_of(member_of(given, "metadata"), key); !kept.is_null()) {
      metadata[key] = kept;
    }
  }
  Value::Map pod{{"spec", std::move(spec)}};
  if (!metadata.empty()) {
    pod["metadata"] = std::move(metadata);
  }
  return pod;
}

}  // namespace hpsearch::jobs
