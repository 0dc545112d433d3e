#include "hpsearch/jobs/fields/environment_fields.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/jobs/contract/device_kinds.hpp"

namespace hpsearch::jobs {

namespace {

using engine::Findings;
using engine::path_below;
using engine::quoted;

constexpr std::array<std::string_view, 3> trackers = {"mlflow", "tensorboard", "wandb"};

class VariablesReader {
 public:
  VariablesReader(std::string path, Findings& findings, Variables& variables)
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
        set(key, engine::python_text(item), path, {});
      } else if (!item.is_null()) {
        problem(path, "is " + quoted(item), "a string; put it in quotes");
      }
    }
  }

 private:
  // The lists may be grouped by kind of device: {cpu: [A=1], cuda: [A=1]}.
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
  Variables& variables_;
};

Value nullable(Value schema) {
  return Value::Map{{"anyOf", Value::List{std::move(schema), Value::Map{{"type", "null"}}}}};
}

/// The beginning of a pattern for the names that aren't reserved.
std::string unreserved() {
  std::string names;
  for (const std::string& name : device_variables()) {
    names += name + "|";
  }
  return "^(?!DET_|HPSEARCH_|LD_|MA_|PAI_|VC_)(?!(" + names + "VK_TASK_INDEX)";
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
  const std::vector<std::string>& names = device_variables();
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&](std::string_view prefix) { return name.substr(0, prefix.size()) == prefix; }) ||
         std::find(names.begin(), names.end(), name) != names.end();
}

bool is_module_name(std::string_view name) noexcept {
  const std::size_t dot = name.find('.');
  return is_variable_name(name.substr(0, dot)) &&
         (dot == std::string_view::npos || is_module_name(name.substr(dot + 1)));
}

bool is_tracker(std::string_view name) noexcept {
  return std::find(trackers.begin(), trackers.end(), name) != trackers.end();
}

namespace kind {

std::optional<Variables> EnvironmentVariables::read(Section& section, std::string_view key) const {
  const Value* value = section.any(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  Variables found;
  VariablesReader(section.path_of(key), section.findings(), found).read(*value);
  return found;
}

Value EnvironmentVariables::write(const Variables& value) const {
  return engine::kind::MapOfTexts{}.write(value);
}

Value EnvironmentVariables::schema() const {
  const std::string name = "[A-Za-z_][A-Za-z0-9_]*";
  const Value list =
      Value::Map{{"type", "array"},
                 {"items", Value::Map{{"type", "string"}, {"pattern", unreserved() + "=)" + name + "="}}}};
  const Value one = Value::Map{{"type", Value::List{"string", "number", "null"}}};
  Value::Map kinds;
  for (const char* kind : {"cpu", "cuda", "gpu", "rocm"}) {
    kinds[kind] = Value::Map{{"anyOf", Value::List{list, one}}};
  }
  Value map = Value::Map{{"type", "object"},
                         {"propertyNames", Value::Map{{"pattern", unreserved() + "$)" + name + "$"}}},
                         {"properties", std::move(kinds)},
                         {"additionalProperties", one}};
  return Value::Map{{"anyOf", Value::List{list, std::move(map)}}};
}

std::optional<Images> ImageNames::read(Section& section, std::string_view key) const {
  const Value* given = section.any(key);
  if (given == nullptr) {
    return std::nullopt;
  }
  const auto checked = [&](const std::string& name) {
    if (name.starts_with('-') || name.find_first_of(" \t\n") != std::string::npos) {
      section.problem(key, "is " + quoted(Value(name)), "the name of an image");
    }
    return name;
  };
  if (const std::string* name = given->as_text()) {
    return Images{checked(*name), *name};
  }
  if (given->as_map() == nullptr) {
    section.problem(key, "is " + quoted(*given), "the name of an image, or a map of names");
    return std::nullopt;
  }
  Images images;
  for (const auto& [kind, value] : *given->as_map()) {
    const std::string* name = value.as_text();
    if (name != nullptr && kind == "cpu") {
      images.cpu = checked(*name);
    } else if (name != nullptr && (kind == "cuda" || kind == "gpu")) {
      images.cuda = checked(*name);
    } else if (!value.is_null() && kind != "rocm") {
      section.note(path_below(key, kind),
                   "is " + quoted(value) + ", which has no effect: names of images stand under cpu and cuda");
    }
  }
  // A single image is for programs with and without GPUs.
  images.cpu = images.cpu.empty() ? images.cuda : images.cpu;
  images.cuda = images.cuda.empty() ? images.cpu : images.cuda;
  return images;
}

Value ImageNames::write(const Images& value) const {
  return value.cpu == value.cuda ? Value(value.cpu) : Value::Map{{"cpu", value.cpu}, {"cuda", value.cuda}};
}

Value ImageNames::schema() const {
  const Value name = Value::Map{{"type", "string"}, {"pattern", "^([^ \\t\\n-][^ \\t\\n]*)?$"}};
  Value::Map kinds;
  for (const char* kind : {"cpu", "cuda", "gpu"}) {
    kinds[kind] = nullable(name);
  }
  return Value::Map{
      {"anyOf", Value::List{name, Value::Map{{"type", "object"}, {"properties", std::move(kinds)}}}}};
}

Value Trackers::schema() const {
  return Value::Map{{"type", "array"},
                    {"items", Value::Map{{"enum", Value::List(trackers.begin(), trackers.end())}}}};
}

}  // namespace kind

}  // namespace hpsearch::jobs
