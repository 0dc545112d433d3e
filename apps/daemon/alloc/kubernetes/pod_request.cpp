#include "daemon/alloc/kubernetes/pod_request.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::daemon::kubernetes {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using engine::Value;

constexpr std::array<std::string_view, 10> known_arguments{
    "--image",       "--gpus",           "--cpu",    "--memory",   "--pod-template", "--gpu-resource",
    "--kueue-queue", "--scheduler-name", "--worker", "--namespace"};

Error wrong_argument(const std::string& name, const std::string& value, const std::string& allowed) {
  return Error{Errc::bad_request, "the argument " + name + " is \"" + value + "\"; it must be " + allowed};
}

/// "8", "500m", "64Gi", "1.5", "1e3": a quantity above 0 as Kubernetes has them.
bool is_quantity(std::string_view text) {
  const std::size_t end = std::min(text.size(), text.find_first_not_of("0123456789."));
  const auto number = engine::number_in<double>(text.substr(0, end));
  const std::string_view unit = text.substr(end);
  constexpr std::array<std::string_view, 14> units{"",  "m",  "k",  "M",  "G",  "T",  "P",
                                                   "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  const bool is_power =
      (unit.starts_with('e') || unit.starts_with('E')) &&
      engine::number_in<int>(unit.substr(std::min<std::size_t>(1, unit.size()))).has_value();
  return number && *number > 0 && (is_power || std::find(units.begin(), units.end(), unit) != units.end());
}

/// "nvidia.com/gpu", "high", "team-a": the letters that names of resources, queues and schedulers have.
bool is_plain_name(std::string_view text) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/";
  return !text.empty() && text.size() <= 253 && text.find_first_not_of(letters) == std::string_view::npos;
}

const Value* member(const Value::Map& map, std::string_view key) {
  return map.find(key);
}

Error own_field(const std::string& path, const std::string& instead) {
  return Error{Errc::bad_request, "--pod-template has " + path + ", which the queue sets itself; " + instead};
}

struct OwnField {
  std::string_view name;
  std::string_view instead;
};
constexpr std::string_view leave_out = "leave it out";
constexpr std::array own_in_spec{OwnField{"restartPolicy", leave_out},
                                 OwnField{"activeDeadlineSeconds", "use --time-limit before --"},
                                 OwnField{"terminationGracePeriodSeconds", "use --give-back before --"},
                                 OwnField{"hostname", leave_out}, OwnField{"subdomain", leave_out}};
constexpr std::array own_in_container{
    OwnField{"command", "the container runs hpsearch-worker, which starts the trials"},
    OwnField{"args", "the container runs hpsearch-worker, which starts the trials"},
    OwnField{"workingDir", leave_out},
    OwnField{"lifecycle", leave_out},
    OwnField{"livenessProbe", leave_out},
    OwnField{"readinessProbe", leave_out},
    OwnField{"startupProbe", leave_out},
    OwnField{"stdin", leave_out},
    OwnField{"tty", leave_out}};

Status has_no_own_fields(const Value::Map& map, const std::string& path, const auto& own) {
  for (const OwnField& field : own) {
    if (map.contains(field.name)) {
      return own_field(path + "." + std::string(field.name), std::string(field.instead));
    }
  }
  return Done{};
}

/// Lists of things with names: none may have a name of ours.
Status has_no_own_names(const Value::Map& map, const std::string& key, const std::string& path) {
  const Value* list = member(map, key);
  if (list == nullptr || list->is_null()) {
    return Done{};
  }
  if (list->as_list() == nullptr) {
    return Error{Errc::bad_request, "--pod-template has " + path + "." + key + " " + engine::quoted(*list) +
                                        "; it must be a list"};
  }
  for (const Value& one : *list->as_list()) {
    const Value* name = one.at_path("name");
    if (name != nullptr && name->as_text() != nullptr && name->as_text()->starts_with("hpsearch-")) {
      return own_field("the name \"" + *name->as_text() + "\" in " + path + "." + key,
                       "names must not begin with hpsearch-");
    }
  }
  return Done{};
}

Status check_container(const Value::Map& spec) {
  const Value* containers = member(spec, "containers");
  if (containers == nullptr) {
    return Done{};
  }
  const Value::List* list = containers->as_list();
  if (list == nullptr || list->size() != 1 || list->front().as_map() == nullptr) {
    return Error{Errc::bad_request,
                 "--pod-template has spec.containers " + engine::quoted(*containers) +
                     "; it must be a list of one container, the worker's, because the pod ends when all its "
                     "containers have ended: others are initContainers with restartPolicy: Always"};
  }
  const Value::Map& container = *list->front().as_map();
  Status fine = has_no_own_fields(container, "spec.containers[0]", own_in_container);
  return fine ? has_no_own_names(container, "volumeMounts", "spec.containers[0]") : fine;
}

Status check_metadata(const Value::Map& metadata) {
  for (const auto& [key, value] : metadata) {
    if (key != "labels" && key != "annotations") {
      return own_field("metadata." + key, "metadata has labels and annotations only");
    }
    if (value.as_map() == nullptr) {
      return Error{Errc::bad_request,
                   "--pod-template has metadata." + key + " " + engine::quoted(value) + "; it must be a map"};
    }
    for (const auto& [name, text] : *value.as_map()) {
      if (name.starts_with("hpsearch/") || name == "app.kubernetes.io/managed-by") {
        return own_field("metadata." + key + "." + name, std::string(leave_out));
      }
    }
  }
  return Done{};
}

Result<Value::Map> read_pod_template(const std::string& text) {
  const auto tree = proto::parse_json(text, {.bytes = 256UL * 1024});
  if (!tree || tree->as_map() == nullptr) {
    return Error{Errc::bad_request,
                 "the argument --pod-template is no JSON of a PodTemplateSpec" +
                     (tree ? ": " + engine::quoted(*tree) : " (" + tree.error().message + ")") +
                     "; hpsearch alloc add reads the file and sends its content"};
  }
  Value::Map given = *tree->as_map();
  for (const auto& [key, value] : given) {
    if ((key != "metadata" && key != "spec") || value.as_map() == nullptr) {
      return Error{Errc::bad_request,
                   "--pod-template has " + key + " " + engine::quoted(value) +
                       "; it must have the maps metadata and spec only, as the template of a Job"};
    }
  }
  const Value none = Value::Map{};
  const Value* spec = given.contains("spec") ? given.find("spec") : &none;
  const Value* metadata = given.contains("metadata") ? given.find("metadata") : &none;
  Status fine = has_no_own_fields(*spec->as_map(), "spec", own_in_spec);
  fine = fine ? check_container(*spec->as_map()) : fine;
  fine = fine ? has_no_own_names(*spec->as_map(), "volumes", "spec") : fine;
  fine = fine ? check_metadata(*metadata->as_map()) : fine;
  return fine ? Result<Value::Map>(std::move(given)) : Result<Value::Map>(fine.error());
}

Status take_argument(PodRequest& request, const std::string& name, const std::string& value) {
  const auto take_name = [&](std::string& to, const std::string& allowed) -> Status {
    if (!is_plain_name(value)) {
      return wrong_argument(name, value, allowed);
    }
    to = value;
    return Done{};
  };
  if (name == "--image" || name == "--worker") {
    if (value.empty() || value.find_first_of(" \t\r\n") != std::string::npos) {
      return wrong_argument(name, value,
                            name == "--image" ? "an image, as registry.example.org/team/train:3"
                                              : "a program in the image, as /opt/venv/bin/hpsearch-worker");
    }
    (name == "--image" ? request.image : request.worker) = value;
    return Done{};
  }
  if (name == "--gpus") {
    request.gpus = engine::number_in<std::uint64_t>(value);
    return request.gpus && *request.gpus <= 1024
               ? Status(Done{})
               : wrong_argument(name, value, "a whole number from 0 to 1024");
  }
  if (name == "--cpu" || name == "--memory") {
    if (!is_quantity(value)) {
      return wrong_argument(name, value,
                            name == "--cpu" ? "a number of CPUs, as 8 or 500m" : "a size, as 64Gi or 500M");
    }
    (name == "--cpu" ? request.cpu : request.memory) = value;
    return Done{};
  }
  if (name == "--gpu-resource") {
    return take_name(request.gpu_resource, "a resource of the nodes, as nvidia.com/gpu");
  }
  if (name == "--kueue-queue") {
    return take_name(request.kueue_queue, "the name of a LocalQueue");
  }
  if (name == "--scheduler-name") {
    return take_name(request.scheduler, "the name of a scheduler, as volcano");
  }
  if (name == "--pod-template") {
    auto pod_template = read_pod_template(value);
    if (!pod_template) {
      return pod_template.error();
    }
    request.pod_template = *std::move(pod_template);
    return Done{};
  }
  if (name == "--namespace") {
    return Error{Errc::bad_request,
                 "the argument --namespace is part of the backend's name: hpsearch alloc add kubernetes/" +
                     value + " …"};
  }
  const std::string_view near = engine::nearest(name, known_arguments);
  return Error{
      Errc::bad_request,
      "the argument " + name + " is not known" +
          (near.empty() ? "; it must be --image, --gpus, --gpu-resource, --cpu, --memory, --pod-template, "
                          "--worker, --kueue-queue or --scheduler-name"
                        : "; " + std::string(near) + " is")};
}

}  // namespace

Result<PodRequest> read_pod_request(const std::vector<std::string>& arguments) {
  PodRequest request{.worker = "hpsearch-worker", .gpu_resource = "nvidia.com/gpu"};
  std::vector<std::string> seen;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::size_t equals = arguments[i].find('=');
    const std::string name = arguments[i].substr(0, equals);
    if (!name.starts_with("--") || name.size() < 3) {
      return Error{Errc::bad_request,
                   "the argument \"" + arguments[i] + "\" is no option of a queue on Kubernetes, as --image"};
    }
    if (equals == std::string::npos && i + 1 == arguments.size()) {
      return Error{Errc::bad_request, "the argument " + name + " has no value"};
    }
    const std::string value = equals == std::string::npos ? arguments[++i] : arguments[i].substr(equals + 1);
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      return Error{Errc::bad_request, "the argument " + name + " is given twice"};
    }
    seen.push_back(name);
    if (Status taken = take_argument(request, name, value); !taken) {
      return taken.error();
    }
  }
  const Value pod = request.pod_template;
  const Value* spec = pod.at_path("spec");
  const Value* containers = spec == nullptr ? nullptr : spec->at_path("containers");
  const bool has_image = containers != nullptr && containers->as_list()->front().at_path("image") != nullptr;
  if (request.image.empty() && !has_image) {
    return Error{
        Errc::bad_request,
        "no image is given; a queue on Kubernetes needs --image IMAGE after --, or a --pod-template whose "
        "container has an image; the image needs hpsearch-worker beside your program"};
  }
  if (!request.scheduler.empty() && spec != nullptr && spec->at_path("schedulerName") != nullptr) {
    return own_field("spec.schedulerName",
                     "the argument --scheduler-name is given, too; leave one of them out");
  }
  return request;
}

std::string usual_slots(const PodRequest& request) {
  const Value pod = request.pod_template;
  const Value* containers = pod.at_path("spec.containers");
  std::string cpu = request.cpu;
  bool has_gpus = request.gpus.value_or(0) > 0;
  for (const char* kind : {"requests", "limits"}) {
    const Value* amounts = containers == nullptr
                               ? nullptr
                               : containers->as_list()->front().at_path(std::string("resources.") + kind);
    if (amounts == nullptr || amounts->as_map() == nullptr) {
      continue;
    }
    for (const auto& [name, amount] : *amounts->as_map()) {
      has_gpus = has_gpus || name == request.gpu_resource || name.ends_with("/gpu");
      if (name == "cpu" && cpu.empty()) {
        cpu = amount.as_text() != nullptr ? *amount.as_text() : engine::compact_json(amount);
      }
    }
  }
  if (has_gpus) {
    return "auto";
  }
  const auto cpus = engine::number_in<double>(cpu);
  return cpus && *cpus >= 1 && *cpus < 1e6 ? std::to_string(static_cast<std::int64_t>(std::floor(*cpus)))
                                           : "1";
}

}  // namespace hpsearch::daemon::kubernetes
