#include "cli/admin/queue_settings.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include "cli/experiment/experiment_file.hpp"
#include "cli/render/text.hpp"
#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

/// "8h", "30m", "90s", "2d" or seconds.
Outcome<double> duration_from(const std::string& option, const std::string& text) {
  const std::string_view units = "smhd";
  constexpr double seconds[] = {1, 60, 3'600, 86'400};
  const std::size_t unit = text.empty() ? std::string_view::npos : units.find(text.back());
  const bool has_unit = unit != std::string_view::npos;
  const auto number = engine::number_in<double>(has_unit ? text.substr(0, text.size() - 1) : text);
  if (!number || !std::isfinite(*number) || *number <= 0) {
    return usage_failure(option + " is \"" + printable(text) +
                         "\"; it must be a time, as 8h, 30m, 90s or 2d");
  }
  return *number * (has_unit ? seconds[unit] : 1);
}

Outcome<std::uint64_t> count_from(const std::string& option, const std::string& text) {
  const auto number = engine::number_in<std::uint64_t>(text);
  if (!number || *number == 0) {
    return usage_failure(option + " is \"" + printable(text) + "\"; it must be a whole number above 0");
  }
  return *number;
}

/// A queue on Kubernetes gets the content of a pod template, because its daemon may be on another machine:
/// the word after --pod-template is a file here and JSON there.
Outcome<std::vector<std::string>> with_pod_template(const std::string& backend,
                                                    std::vector<std::string> words) {
  constexpr std::string_view option = "--pod-template";
  if (backend != "kubernetes" && !backend.starts_with("kubernetes/")) {
    return words;
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_joined = words[i].starts_with(std::string(option) + "=");
    if (!is_joined && (words[i] != option || i + 1 == words.size())) {
      continue;
    }
    const std::string file = is_joined ? words[i].substr(option.size() + 1) : words[i + 1];
    const LoadedText loaded = load_text(file);
    if (!loaded.problem.empty()) {
      return usage_failure(loaded.problem);
    }
    const ReadText read = read_experiment_text(loaded.text);
    if (!read.problems.empty() || !read.tree) {
      return usage_failure(read.problems.empty() ? file + ": it has no pod template"
                                                 : yaml::to_text(file, read.problems.front()));
    }
    words[i] = option;
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                words.begin() + static_cast<std::ptrdiff_t>(i) + (is_joined ? 1 : 2));
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(++i), engine::compact_json(*read.tree));
  }
  return words;
}

}  // namespace

std::optional<Failure> change_setting(api::QueueSettings& settings, const std::string& key,
                                      const std::string& text) {
  const std::string option = "--" + key;
  const auto take_count = [&](std::uint64_t& to) -> std::optional<Failure> {
    const auto number = count_from(option, text);
    if (!number) {
      return number.failure();
    }
    to = *number;
    return std::nullopt;
  };
  const auto take_time = [&](double& to) -> std::optional<Failure> {
    const auto time = duration_from(option, text);
    if (!time) {
      return time.failure();
    }
    to = *time;
    return std::nullopt;
  };
  if (key == "time-limit") {
    return take_time(settings.time_limit);
  }
  if (key == "idle-timeout") {
    return take_time(settings.idle_timeout);
  }
  if (key == "give-back") {
    return take_time(settings.give_back);
  }
  if (key == "workers-per-alloc") {
    return take_count(settings.workers);
  }
  if (key == "backlog") {
    return take_count(settings.backlog);
  }
  if (key == "max-workers") {
    return take_count(settings.max_workers);
  }
  if (key == "slots") {
    if (text == "auto") {
      settings.slots.reset();
      return std::nullopt;
    }
    settings.slots = 1;
    return take_count(*settings.slots);
  }
  if (key == "min-utilization") {
    const auto number = engine::number_in<double>(text);
    if (!number) {
      return usage_failure(option + " is \"" + printable(text) + "\"; it must be a number from 0 to 1");
    }
    settings.min_utilization = *number;
    return std::nullopt;
  }
  std::string* const to = key == "pool"         ? &settings.pool
                          : key == "state-root" ? &settings.state_root
                          : key == "before"     ? &settings.before
                          : key == "after"      ? &settings.after
                          : key == "wrap"       ? &settings.wrap
                                                : nullptr;
  if (to == nullptr) {
    return usage_failure(
        "\"" + printable(key) +
        "\" is no setting of a queue; settings: time-limit, workers-per-alloc, backlog, "
        "max-workers, slots, idle-timeout, give-back, min-utilization, pool, state-root, before, after, "
        "wrap");
  }
  *to = text;
  return std::nullopt;
}

api::QueueSettings usual_queue_settings() {
  api::QueueSettings settings;
  settings.time_limit = 8 * 3'600;
  settings.idle_timeout = 300;
  settings.give_back = 180;
  settings.min_utilization = 0.5;
  return settings;
}

Outcome<api::QueueRequest> queue_request(const AllocOptions& options) {
  api::QueueRequest request{options.queue, usual_queue_settings()};
  request.settings.backend = options.backend;
  auto words = with_pod_template(options.backend, options.arguments);
  if (!words) {
    return words.failure();
  }
  request.settings.arguments = *std::move(words);
  for (const auto& [key, text] : options.settings) {
    if (auto failure = change_setting(request.settings, key, text)) {
      return *std::move(failure);
    }
  }
  for (const std::string& label : options.labels) {
    const std::size_t equals = label.find('=');
    if (equals == std::string::npos || equals == 0) {
      return usage_failure("--label is \"" + printable(label) + "\"; it must be KEY=VALUE");
    }
    request.settings.labels[label.substr(0, equals)] = label.substr(equals + 1);
  }
  request.settings.max_workers = std::max(request.settings.max_workers, request.settings.workers);
  return request;
}

namespace {

/// Where a file is wrong, as all messages about files say it.
Failure wrong_in_file(const std::string& file, const LineMap& lines, engine::Problem problem) {
  const std::size_t line = lines.line_of(problem.path);
  return usage_failure(yaml::to_text(file, {line, std::move(problem)}));
}

/// A setting as an option would have it; nothing: it is a list or a map.
std::optional<std::string> text_of_setting(const Value& value) {
  if (const std::string* text = value.as_text()) {
    return *text;
  }
  return value.as_list() == nullptr && value.as_map() == nullptr && !value.is_null()
             ? std::optional(engine::compact_json(value))
             : std::nullopt;
}

/// One word for each item; nothing: an item is no plain value.
std::optional<std::vector<std::string>> words_of(const Value::List& list) {
  std::vector<std::string> words;
  for (const Value& item : list) {
    auto word = text_of_setting(item);
    if (!word) {
      return std::nullopt;
    }
    words.push_back(*std::move(word));
  }
  return words;
}

/// The problem with one setting of a file; nothing: it is taken.
std::optional<engine::Problem> take_setting(api::QueueSettings& settings, const std::string& path,
                                            const std::string& key, const Value& value) {
  if (key == "arguments") {
    auto words = value.as_list() != nullptr ? words_of(*value.as_list()) : std::nullopt;
    if (!words) {
      return engine::Problem{path, "is no list of words", "as [-p, gpu]"};
    }
    settings.arguments = *std::move(words);
    return std::nullopt;
  }
  if (key == "labels") {
    if (value.as_map() == nullptr) {
      return engine::Problem{path, "is no map", "as {zone: b}"};
    }
    for (const auto& [label, content] : *value.as_map()) {
      const auto text = text_of_setting(content);
      if (!text) {
        return engine::Problem{path + "." + label, "is no text", ""};
      }
      settings.labels[label] = *text;
    }
    return std::nullopt;
  }
  const auto text = text_of_setting(value);
  if (!text) {
    return engine::Problem{path, "is a " + std::string(value.kind_name()), "a text or a number"};
  }
  if (key == "backend") {
    settings.backend = *text;
    return std::nullopt;
  }
  const auto failure = change_setting(settings, key, *text);
  return failure ? std::optional(engine::Problem{path, failure->message, ""}) : std::nullopt;
}

}  // namespace

Outcome<std::vector<api::QueueRequest>> queues_in_file(const std::string& file) {
  const LoadedText loaded = load_text(file);
  if (!loaded.problem.empty()) {
    return usage_failure(loaded.problem);
  }
  const ReadText read = read_experiment_text(loaded.text);
  if (!read.problems.empty() || !read.tree) {
    return usage_failure(read.problems.empty() ? file + ": it has no queues"
                                               : yaml::to_text(file, read.problems.front()));
  }
  const Value* queues = read.tree->at_path("queues");
  if (queues == nullptr || queues->as_map() == nullptr || read.tree->as_map()->size() != 1) {
    return wrong_in_file(file, read.lines,
                         {"", "the file must have one key, queues", "a map of queues by name"});
  }
  std::vector<api::QueueRequest> wanted;
  for (const auto& [name, given] : *queues->as_map()) {
    const std::string path = "queues." + name;
    if (given.as_map() == nullptr) {
      return wrong_in_file(file, read.lines,
                           {path, "is no map", "the settings of alloc add, as time-limit: 8h"});
    }
    api::QueueRequest queue{name, usual_queue_settings()};
    for (const auto& [key, value] : *given.as_map()) {
      if (auto problem = take_setting(queue.settings, path + "." + key, key, value)) {
        return wrong_in_file(file, read.lines, *std::move(problem));
      }
    }
    auto words = with_pod_template(queue.settings.backend, std::move(queue.settings.arguments));
    if (!words) {
      return words.failure();
    }
    queue.settings.arguments = *std::move(words);
    queue.settings.max_workers = std::max(queue.settings.max_workers, queue.settings.workers);
    wanted.push_back(std::move(queue));
  }
  return wanted;
}

}  // namespace hpsearch::cli
