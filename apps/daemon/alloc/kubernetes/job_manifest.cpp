#include "daemon/alloc/kubernetes/job_manifest.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/alloc/worker_script.hpp"
#include "hpsearch/engine/base/digits.hpp"

namespace hpsearch::daemon::kubernetes {
namespace {

using engine::Value;

constexpr std::int64_t kept_after_end = 300;  ///< Seconds; the daemon looks every 10.
/// The deadline of a pod counts from before its image is pulled, its worker's time limit from the worker's
/// start. The deadline is for workers that don't end in time.
constexpr std::int64_t late_end = 15 * 60;
constexpr std::int64_t grace_after_give_back = 30;
constexpr std::size_t longest_queue_in_name =
    24;  ///< With all else, a name of a pod is a DNS label of at most 63.
constexpr std::int64_t usual_user = 1'000;

constexpr const char* home = "/hpsearch";
constexpr const char* invite_directory = "/run/hpsearch";

std::string without_last_dashes(std::string text) {
  text.erase(text.find_last_not_of('-') + 1);
  return text;
}

std::string cluster_text(std::uint64_t cluster) {
  return engine::hex_of(cluster);
}

Value::Map labels_of(const JobOrder& order) {
  Value::Map labels{{"app.kubernetes.io/managed-by", "hpsearch"},
                    {cluster_label, cluster_text(order.mark.cluster)}};
  labels[queue_label] = without_last_dashes(order.mark.name.queue);
  return labels;
}

Value::Map metadata_of(const JobOrder& order) {
  return {{"name", job_name(order.mark)}, {"labels", labels_of(order)}};
}

std::int64_t whole_seconds(engine::Duration duration) {
  return duration.in_micros() / 1'000'000;
}

/// A word that Kubernetes does not expand: "$(NAME)" would be a variable.
std::string literal(const std::string& word) {
  std::string text;
  for (const char c : word) {
    text += c == '$' ? "$$" : std::string(1, c);
  }
  return text;
}

Value::List worker_command(const JobOrder& order, const PodRequest& pod) {
  const std::string name = worker_name(order.mark.name);
  std::vector<std::string> words;
  if (order.needs_invite) {
    words = {"join", std::string("@") + invite_directory + "/" + invite_file};
  } else {
    words = {"--daemon", order.daemon};
  }
  for (const std::string& word : worker_arguments(order)) {
    words.push_back(word == "auto" && words.back() == "--slots" ? usual_slots(pod) : word);
  }
  const std::vector<std::string> rest{"--state-dir", std::string(home) + "/state", "--stop-within",
                                      std::to_string(whole_seconds(order.settings.give_back))};
  words.insert(words.end(), rest.begin(), rest.end());
  Value::List all;
  for (const std::string& word : words) {
    all.emplace_back(literal(word));
  }
  all.emplace_back("--name");
  all.emplace_back(order.workers == 1 ? name : name + "-$(JOB_COMPLETION_INDEX)");
  return all;
}

/// Sets what is not set.
void add_missing(Value::Map& to, const Value::Map& usual) {
  for (const auto& [key, value] : usual) {
    if (!to.contains(key)) {
      to[key] = value;
    }
  }
}

Value::Map& map_in(Value::Map& map, std::string_view key) {
  if (Value& found = map[key]; found.as_map() == nullptr) {
    found = Value::Map{};
  }
  return *map[key].as_map();
}

Value::List& list_in(Value::Map& map, std::string_view key) {
  if (Value& found = map[key]; found.as_list() == nullptr) {
    found = Value::List{};
  }
  return *map[key].as_list();
}

bool mounts(Value::Map& container, std::string_view path) {
  const Value::List& mounted = list_in(container, "volumeMounts");
  return std::any_of(mounted.begin(), mounted.end(), [&](const Value& one) {
    const Value* place = one.at_path("mountPath");
    return place != nullptr && place->as_text() != nullptr && *place->as_text() == path;
  });
}

/// A directory that the template does not mount itself.
void add_volume(Value::Map& spec, Value::Map& container, const std::string& name, const char* path,
                Value::Map kind) {
  if (mounts(container, path)) {
    return;
  }
  kind["name"] = name;
  list_in(spec, "volumes").emplace_back(std::move(kind));
  list_in(container, "volumeMounts").emplace_back(Value::Map{{"name", name}, {"mountPath", path}});
}

void add_volumes(Value::Map& spec, Value::Map& container, const JobOrder& order) {
  add_volume(spec, container, "hpsearch-state", home, {{"emptyDir", Value::Map{}}});
  add_volume(spec, container, "hpsearch-tmp", "/tmp", {{"emptyDir", Value::Map{}}});
  add_volume(spec, container, "hpsearch-shm", "/dev/shm", {{"emptyDir", Value::Map{{"medium", "Memory"}}}});
  if (!order.needs_invite) {
    return;
  }
  // The pod waits for the Secret, which is created when the Job has a uid.
  list_in(spec, "volumes")
      .emplace_back(
          Value::Map{{"name", "hpsearch-invite"},
                     {"secret", Value::Map{{"secretName", job_name(order.mark)}, {"defaultMode", 0440}}}});
  list_in(container, "volumeMounts")
      .emplace_back(
          Value::Map{{"name", "hpsearch-invite"}, {"mountPath", invite_directory}, {"readOnly", true}});
}

void add_resources(Value::Map& container, const PodRequest& pod) {
  Value::Map& resources = map_in(container, "resources");
  if (pod.gpus) {
    map_in(resources, "limits")[pod.gpu_resource] = std::to_string(*pod.gpus);
  }
  if (!pod.memory.empty()) {  // Without the same limit, the node may kill the pod for the memory of others.
    map_in(resources, "limits")["memory"] = pod.memory;
    map_in(resources, "requests")["memory"] = pod.memory;
  }
  if (!pod.cpu.empty()) {  // A limit would slow trials down although the node has idle CPUs.
    map_in(resources, "requests")["cpu"] = pod.cpu;
  }
  if (resources.empty()) {
    container.erase("resources");
  }
}

/// Settings that the "restricted" standard of pod security asks for, unless the template says otherwise.
void add_security(Value::Map& spec, Value::Map& container) {
  Value::Map& of_pod = map_in(spec, "securityContext");
  Value::Map& of_container = map_in(container, "securityContext");
  const auto is_root = [](const Value::Map& context) {
    const Value* user = context.find("runAsUser");
    return user != nullptr && user->as_integer() != nullptr && *user->as_integer() == 0;
  };
  if (!is_root(of_pod) && !is_root(of_container)) {
    add_missing(of_pod, {{"runAsNonRoot", true}});
  }
  add_missing(of_pod, {{"runAsUser", usual_user}});
  add_missing(of_pod, {{"runAsGroup", usual_user},
                       {"fsGroup", usual_user},
                       {"seccompProfile", Value::Map{{"type", "RuntimeDefault"}}}});
  const Value* privileged = of_container.find("privileged");
  const bool is_privileged =
      privileged != nullptr && privileged->as_bool() != nullptr && *privileged->as_bool();
  if (!is_privileged) {
    add_missing(of_container, {{"allowPrivilegeEscalation", false}});
  }
  add_missing(of_container,
              {{"readOnlyRootFilesystem", true}, {"capabilities", Value::Map{{"drop", Value::List{"ALL"}}}}});
}

Value::Map container_of(Value::Map& spec, const JobOrder& order, const PodRequest& pod) {
  const Value::List& given = list_in(spec, "containers");
  Value::Map container = given.empty() ? Value::Map{} : *given.front().as_map();
  add_missing(container, {{"name", "worker"}});
  if (!pod.image.empty()) {
    container["image"] = pod.image;
  }
  container["command"] = Value::List{literal(pod.worker)};
  container["args"] = worker_command(order, pod);
  container["workingDir"] = home;
  Value::List& variables = list_in(container, "env");
  const bool has_home = std::any_of(variables.begin(), variables.end(), [](const Value& one) {
    const Value* name = one.at_path("name");
    return name != nullptr && *name == Value("HOME");
  });
  if (!has_home) {  // That of the image is read-only.
    variables.emplace_back(Value::Map{{"name", "HOME"}, {"value", home}});
  }
  add_resources(container, pod);
  return container;
}

Value::Map pod_spec(const JobOrder& order, const PodRequest& pod) {
  const Value* given = pod.pod_template.find("spec");
  Value::Map spec = given == nullptr ? Value::Map{} : *given->as_map();
  Value::Map container = container_of(spec, order, pod);
  add_security(spec, container);
  add_volumes(spec, container, order);
  spec["containers"] = Value::List{std::move(container)};
  spec["restartPolicy"] = "Never";
  spec["activeDeadlineSeconds"] = whole_seconds(order.settings.time_limit) + late_end;
  spec["terminationGracePeriodSeconds"] = whole_seconds(order.settings.give_back) + grace_after_give_back;
  add_missing(spec, {{"automountServiceAccountToken", false}, {"enableServiceLinks", false}});
  if (!pod.scheduler.empty()) {
    spec["schedulerName"] = pod.scheduler;
  }
  return spec;
}

}  // namespace

std::string label_selector(std::uint64_t cluster) {
  return std::string("app.kubernetes.io/managed-by=hpsearch,") + cluster_label + "=" + cluster_text(cluster);
}

std::string job_name(const JobMark& mark) {
  return "hpsearch-" + without_last_dashes(mark.name.queue.substr(0, longest_queue_in_name)) + "-" +
         std::to_string(mark.name.number) + "-" + cluster_text(mark.cluster).substr(0, 8);
}

Value job_manifest(const JobOrder& order, const PodRequest& pod) {
  const Value* given = pod.pod_template.find("metadata");
  Value::Map pod_metadata = given == nullptr ? Value::Map{} : *given->as_map();
  add_missing(map_in(pod_metadata, "labels"), labels_of(order));
  const auto workers = static_cast<std::int64_t>(order.workers);
  Value::Map spec{
      {"completionMode", "Indexed"},
      {"completions", workers},
      {"parallelism", workers},
      {"backoffLimitPerIndex", 0},
      {"podReplacementPolicy", "Failed"},
      {"ttlSecondsAfterFinished", kept_after_end},
      {"template", Value::Map{{"metadata", std::move(pod_metadata)}, {"spec", pod_spec(order, pod)}}}};
  Value::Map metadata = metadata_of(order);
  metadata["annotations"] =
      Value::Map{{key_annotation, order.mark.key}, {"hpsearch/allocation", engine::text_of(order.mark.name)}};
  if (!pod.kueue_queue.empty()) {
    map_in(metadata, "labels")["kueue.x-k8s.io/queue-name"] = pod.kueue_queue;
    spec["suspend"] = true;
  }
  return Value::Map{{"apiVersion", "batch/v1"},
                    {"kind", "Job"},
                    {"metadata", std::move(metadata)},
                    {"spec", std::move(spec)}};
}

Value secret_manifest(const JobOrder& order, const std::string& job_uid, const std::string& invite) {
  Value::Map metadata = metadata_of(order);
  metadata["ownerReferences"] = Value::List{Value::Map{
      {"apiVersion", "batch/v1"}, {"kind", "Job"}, {"name", job_name(order.mark)}, {"uid", job_uid}}};
  return Value::Map{
      {"apiVersion", "v1"}, {"kind", "Secret"},  {"metadata", std::move(metadata)},
      {"type", "Opaque"},   {"immutable", true}, {"stringData", Value::Map{{invite_file, invite}}}};
}

}  // namespace hpsearch::daemon::kubernetes
