#include <algorithm>
#include <array>

#include "fields/sections.hpp"
#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::jobs {

namespace {

class VariablesReader {
 public:
  VariablesReader(std::string path, Findings& findings, std::map<std::string, std::string>& variables)
      : path_(std::move(path)), findings_(findings), variables_(variables) {}

  void read(const Value& value) {
    if (const Value::List* list = value.as_list()) {
      read_list(*list, path_, {});
      return;
    }
    const Value::Map* map = value.as_map();
    if (map == nullptr) {
      problem(path_, "is " + quoted(value), "a list of NAME=VALUE, or a map");
      return;
    }
    for (const auto& [key, item] : *map) {
      const std::string path = path_below(path_, key);
      if (is_device_kind(key) && item.as_list() != nullptr) {
        read_list(*item.as_list(), path, key);
      } else if (item.as_text() != nullptr || item.is_number()) {
        set(key, python_text(item), path, {});
      } else if (!item.is_null()) {
        problem(path, "is " + quoted(item), "a string; put it in quotes");
      }
    }
  }

 private:
  // Lists by kind of device: {cpu: [A=1], cuda: [A=1]}.
  static bool is_device_kind(std::string_view key) {
    return key == "cpu" || key == "cuda" || key == "gpu" || key == "rocm";
  }

  void read_list(const Value::List& list, const std::string& at, std::string_view device_kind) {
    if (!device_kind.empty() && !list.empty()) {
      findings_.notes.push_back(
          {at, "applies to every kind of device: hpsearch does not distinguish kinds of devices", ""});
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string path = at + "[" + std::to_string(i) + "]";
      const std::string* text = list[i].as_text();
      const std::size_t equals = text != nullptr ? text->find('=') : std::string::npos;
      if (equals == std::string::npos) {
        problem(path, "is " + quoted(list[i]), "NAME=VALUE");
        continue;
      }
      set(text->substr(0, equals), text->substr(equals + 1), path, device_kind);
    }
  }

  void set(const std::string& name, std::string value, const std::string& path,
           std::string_view device_kind) {
    if (!is_variable_name(name)) {
      problem(path, "has the name " + quoted(Value(name)),
              "letters, digits and _, not starting with a digit");
      return;
    }
    if (is_reserved_variable(name)) {
      problem(path, "sets " + name,
              "any name but the loader's (LD_…) and the worker's own (HPSEARCH_…, DET_…, PAI_…, "
              "CUDA_VISIBLE_DEVICES and its kin)");
      return;
    }
    if (value.find('\0') != std::string::npos) {
      problem(path, "holds a zero byte", "text");
      return;
    }
    const auto [place, is_new] = variables_.emplace(name, value);
    if (is_new || place->second == value) {
      return;
    }
    if (!device_kind.empty()) {
      problem(path, "sets " + name + " to another value than a list above",
              "one value for all kinds of devices; hpsearch does not distinguish them");
      return;
    }
    findings_.notes.push_back({path, "sets " + name + " again; the last value is used", ""});
    place->second = std::move(value);
  }

  void problem(std::string path, std::string what, std::string allowed) {
    findings_.problems.push_back({std::move(path), std::move(what), std::move(allowed)});
  }

  std::string path_;
  Findings& findings_;
  std::map<std::string, std::string>& variables_;
};

// Lists, maps and strings that say nothing.
bool is_idle(const Value& value) {
  if (const Value::List* list = value.as_list()) {
    return list->empty();
  }
  if (const Value::Map* map = value.as_map()) {
    return std::all_of(map->begin(), map->end(), [](const auto& member) { return is_idle(member.second); });
  }
  return value.is_null() || value == Value(false) || value == Value("");
}

/// One name for all devices, or a map of kinds of devices.
void read_image(Section& section, JobContract& images) {
  const Value* image = section.any("image");
  if (image == nullptr || image->is_null()) {
    return;
  }
  const auto check = [&section](const std::string& name) {
    if (!name.empty() && (name.front() == '-' || name.find_first_of(" \t\n") != std::string::npos)) {
      section.problem("image", "is " + quoted(Value(name)), "the name of an image");
    }
    return name;
  };
  if (const std::string* name = image->as_text()) {
    images.image = images.gpu_image = check(*name);
    return;
  }
  if (image->as_map() == nullptr) {
    section.problem("image", "is " + quoted(*image), "the name of an image, or a map of names");
    return;
  }
  for (const auto& [kind, value] : *image->as_map()) {
    const std::string* name = value.as_text();
    if (name != nullptr && kind == "cpu") {
      images.image = check(*name);
    } else if (name != nullptr && (kind == "cuda" || kind == "gpu")) {
      images.gpu_image = check(*name);
    } else if (!value.is_null() && kind != "rocm") {
      section.note("image." + kind,
                   "is " + quoted(value) + ", which has no effect: names of images stand under cpu and cuda");
    }
  }
  // Who names one only means it wherever the program runs.
  images.image = images.image.empty() ? images.gpu_image : images.image;
  images.gpu_image = images.gpu_image.empty() ? images.image : images.gpu_image;
}

/// Names of trackers, each once.
/// Names of letters, digits and _, with dots between them.
bool is_module_name(std::string_view name) noexcept {
  const std::size_t dot = name.find('.');
  const bool is_good = is_variable_name(name.substr(0, dot));
  return is_good && (dot == std::string_view::npos || is_module_name(name.substr(dot + 1)));
}

/// A list of names, each once.
void read_names(Section& section, std::string_view field, bool (*is_allowed)(std::string_view),
                const char* allowed, std::vector<std::string>& names) {
  const Value* value = section.any(field);
  if (value == nullptr || value->is_null()) {
    return;
  }
  const Value::List* list = value->as_list();
  bool is_good = list != nullptr;
  for (std::size_t i = 0; is_good && i < list->size(); ++i) {
    const std::string* name = (*list)[i].as_text();
    is_good = name != nullptr && is_allowed(*name);
    if (is_good && std::find(names.begin(), names.end(), *name) == names.end()) {
      names.push_back(*name);
    }
  }
  if (!is_good) {
    section.problem(field, "is " + quoted(*value), allowed);
  }
}

bool is_mirror(std::string_view name) noexcept {
  return name == "mlflow" || name == "tensorboard" || name == "wandb";
}

}  // namespace

bool is_variable_name(std::string_view name) noexcept {
  const auto is_letter = [](char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !name.empty() && is_letter(name.front()) && std::all_of(name.begin(), name.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9');
  });
}

bool is_reserved_variable(std::string_view name) noexcept {
  constexpr std::string_view prefixes[] = {"DET_", "HPSEARCH_", "LD_", "PAI_"};
  constexpr std::string_view names[] = {"CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES",
                                        "NVIDIA_VISIBLE_DEVICES"};
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&](std::string_view prefix) { return name.substr(0, prefix.size()) == prefix; }) ||
         std::find(std::begin(names), std::end(names), name) != std::end(names);
}

void read_environment(Section& section, Program& program) {
  const bool harness = program.needs_harness;
  if (const Value* value = section.any("environment_variables")) {
    VariablesReader(section.path_of("environment_variables"), section.findings(),
                    program.environment_variables)
        .read(*value);
  }

  const bool pull = section.boolean("force_pull_image").value_or(false);
  JobContract images;
  read_image(section, images);
  if (!harness) {
    program.contract.image = std::move(images.image);
    program.contract.gpu_image = std::move(images.gpu_image);
    program.contract.pull_image = pull;
  }
  section.map("pod_spec");
  section.list("add_capabilities");
  section.list("drop_capabilities");

  program.contract.terminal = section.boolean("terminal").value_or(false);
  if (harness && program.contract.terminal) {
    section.note("terminal", "has no effect here: the Determined harness reads the output by itself");
    program.contract.terminal = false;
  }

  Value::Map kept;
  static constexpr std::array<std::string_view, 2> requirements = {"install", "ignore"};
  if (const auto what = section.text_in("requirements", requirements)) {
    kept["requirements"] = *what;
    if (harness && *what == "install") {
      section.problem("requirements", "is \"install\"",
                      "nothing with the Determined harness: startup-hook.sh can install packages");
    }
  }
  static constexpr std::array<std::string_view, 2> checkpoint_signals = {"SIGUSR1", "SIGUSR2"};
  if (const auto signal = section.text_in("checkpoint_signal", checkpoint_signals)) {
    program.checkpoint_signal = *signal;
  }
  program.finish_within = section.time("finish_within").value_or(program.finish_within);
  read_names(section, "mirrors", is_mirror, "a list of mlflow, tensorboard and wandb", program.mirrors);
  read_names(section, "preload", is_module_name, "a list of modules of Python, as [torch]", program.preload);
  static constexpr std::array<std::string_view, 7> containers = {
      "add_capabilities", "drop_capabilities", "force_pull_image", "image", "pod_spec", "ports",
      "proxy_ports",
  };
  for (const std::string_view key : containers) {
    if (const Value* value = section.any(key)) {
      kept[key] = *value;
      const bool is_meant = !harness && (key == "image" || key == "force_pull_image");
      if (!is_meant && !is_idle(*value)) {
        section.note(key,
                     harness ? std::string(no_harness_container)
                             : "has no effect here: containers run with the worker's rights, in its network");
      }
    }
  }
  std::string_view used;
  if (const Value* auth = section.any("registry_auth", "registrt_auth", used)) {
    if (auth->as_map() == nullptr) {
      section.problem(used, "is " + quoted(*auth), "a map");
    }
    kept["registry_auth"] = *auth;
    section.note(used, "has no effect here: the container runtime's own login on each worker counts");
  }
  if (!kept.empty()) {
    program.other_sections["environment"] = std::move(kept);
  }
}

}  // namespace hpsearch::jobs
