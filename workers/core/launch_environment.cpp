#include "hpsearch/workers/core/launch_environment.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <utility>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/workers/core/determined_launch.hpp"

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::LaunchSpec;
using engine::Result;
using engine::SlotIndex;
using engine::Status;
using engine::Value;

namespace {

/// Name and value of every hyperparameter, nested names joined by dots.
using FlatParams = std::vector<std::pair<std::string, const Value*>>;

void flatten(const std::string& prefix, const Value::Map& members, FlatParams& to) {
  for (const auto& [key, value] : members) {
    std::string name = prefix.empty() ? key : prefix + "." + key;
    if (const Value::Map* inner = value.as_map()) {
      flatten(name, *inner, to);
    } else {
      to.emplace_back(std::move(name), &value);
    }
  }
}

/// The digits of a decimal with an exponent, laid out without one: "-1.5e-05" → "-0.000015".
std::string without_exponent(const std::string& text) {
  const std::size_t e = text.find('e');
  if (e == std::string::npos) {
    return text;
  }
  const bool negative = text.front() == '-';
  const std::string mantissa = text.substr(negative ? 1 : 0, e - (negative ? 1 : 0));
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  std::string digits = mantissa.substr(0, point);
  if (point < mantissa.size()) {
    digits += mantissa.substr(point + 1);
  }
  const long places = static_cast<long>(point) + std::strtol(text.c_str() + e + 1, nullptr, 10);
  std::string fixed;
  if (places <= 0) {
    fixed = "0." + std::string(static_cast<std::size_t>(-places), '0') + digits;
  } else if (static_cast<std::size_t>(places) >= digits.size()) {
    fixed = digits + std::string(static_cast<std::size_t>(places) - digits.size(), '0') + ".0";
  } else {
    fixed = digits.substr(0, static_cast<std::size_t>(places)) + "." +
            digits.substr(static_cast<std::size_t>(places));
  }
  return (negative ? "-" : "") + fixed;
}

bool starts_name(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool continues_name(char c) noexcept {
  return starts_name(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

/// Replaces placeholders of an entrypoint.
class Expansion {
 public:
  Expansion(const LaunchSpec& spec, const AttemptPlaces& places) : spec_(spec), places_(places) {
    if (const Value::Map* members = spec.hparams.as_map()) {
      flatten("", *members, params_);
    }
  }

  /// For `sh -c`: every value becomes exactly one word, whatever is in it.
  [[nodiscard]] Result<std::string> line(std::string_view text) const {
    std::string out;
    const Status done = walk(text, out, [this, &out](std::string_view name) -> Status {
      if (name == "args" || name == "args_eq") {
        std::string_view gap;
        for (const std::string& argument : arguments(name == "args_eq")) {
          out.append(gap).append(shell_word(argument));
          gap = " ";
        }
        return engine::Done{};
      }
      const Result<std::string> value = lookup(name);
      if (!value) {
        return value.error();
      }
      out.append(shell_word(*value));
      return engine::Done{};
    });
    if (!done) {
      return done.error();
    }
    return out;
  }

  /// For an argv item; {args} as a whole item becomes as many items as there are arguments.
  [[nodiscard]] Status item(std::string_view text, std::vector<std::string>& argv) const {
    if (text == "{args}" || text == "{args_eq}") {
      for (std::string& argument : arguments(text == "{args_eq}")) {
        argv.push_back(std::move(argument));
      }
      return engine::Done{};
    }
    std::string out;
    const Status done = walk(text, out, [this, &out, text](std::string_view name) -> Status {
      if (name == "args" || name == "args_eq") {
        return Error{Errc::bad_request, "entrypoint: {" + std::string(name) + "} stands inside the item " +
                                            engine::compact_json(std::string(text)) +
                                            "; in a list it must be an item of its own"};
      }
      const Result<std::string> value = lookup(name);
      if (!value) {
        return value.error();
      }
      out.append(*value);
      return engine::Done{};
    });
    if (!done) {
      return done;
    }
    argv.push_back(std::move(out));
    return engine::Done{};
  }

 private:
  /// Copies `text` to `out`, calling `replace` for each {name}. Braces around anything that is no name, and
  /// those of ${name}, belong to the program's own language.
  template <class Replace>
  static Status walk(std::string_view text, std::string& out, const Replace& replace) {
    for (std::size_t at = 0; at < text.size();) {
      const char c = text[at];
      const bool doubled = at + 1 < text.size() && text[at + 1] == c;
      if ((c == '{' || c == '}') && doubled) {
        out.push_back(c);
        at += 2;
        continue;
      }
      if (c != '{' || (at > 0 && text[at - 1] == '$')) {
        out.push_back(c);
        ++at;
        continue;
      }
      std::size_t end = at + 1;
      if (end < text.size() && starts_name(text[end])) {
        while (end < text.size() && continues_name(text[end])) {
          ++end;
        }
      }
      if (end == at + 1 || end >= text.size() || text[end] != '}') {
        out.push_back(c);
        ++at;
        continue;
      }
      if (const Status done = replace(text.substr(at + 1, end - at - 1)); !done) {
        return done;
      }
      at = end + 1;
    }
    return engine::Done{};
  }

  [[nodiscard]] std::vector<std::string> arguments(bool with_equals) const {
    std::vector<std::string> all;
    for (const auto& [name, value] : params_) {
      if (with_equals) {
        all.push_back("--" + name + "=" + argument_text(*value));
      } else {
        all.push_back("--" + name);
        all.push_back(argument_text(*value));
      }
    }
    return all;
  }

  [[nodiscard]] Result<std::string> lookup(std::string_view name) const {
    for (const auto& [known, value] : params_) {
      if (known == name) {
        return argument_text(*value);
      }
    }
    if (const Value* nested = spec_.hparams.at_path(name)) {
      return argument_text(*nested);
    }
    if (name == "checkpoint_dir") {
      return places_.checkpoint_directory;
    }
    if (name == "output_dir") {
      return places_.output_directory;
    }
    if (name == "trial_id") {
      return std::to_string(spec_.trial_id.number());
    }
    std::vector<std::string_view> all{"args", "args_eq", "checkpoint_dir", "output_dir", "trial_id"};
    for (const auto& [known, value] : params_) {
      all.push_back(known);
    }
    const std::string_view near = engine::nearest(name, all);
    return Error{Errc::bad_request, "entrypoint: {" + std::string(name) +
                                        "} is neither a hyperparameter nor a known word" +
                                        (near.empty() ? "" : "; did you mean {" + std::string(near) + "}") +
                                        "; braces meant literally are written {{ and }}"};
  }

  const LaunchSpec& spec_;
  const AttemptPlaces& places_;
  FlatParams params_;
};

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) {
    all.append(all.empty() ? "" : ",").append(word);
  }
  return all;
}

/// The slot variables of programs (job contract §3): device names on a GPU worker, nothing on the processors.
void lend_slots(const LaunchSpec& spec, const LentMachine& machine,
                std::map<std::string, std::string>& environment) {
  std::vector<std::string> devices;
  Value::List numbers;
  if (!machine.devices.empty()) {
    for (const SlotIndex slot : spec.slots) {
      if (slot.number() < machine.devices.size()) {
        devices.push_back(machine.devices[slot.number()]);
        numbers.emplace_back(static_cast<std::int64_t>(slot.number()));
      }
    }
  }
  std::vector<std::string> ids;
  for (const Value& number : numbers) {
    ids.push_back(engine::compact_json(number));
  }
  environment["HPSEARCH_SLOT_IDS"] = joined(ids);
  environment["DET_SLOT_IDS"] = engine::compact_json(Value(std::move(numbers)));
  environment["CUDA_VISIBLE_DEVICES"] = joined(devices);
  environment["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  // Programs tell "no GPU" by its absence.
  if (devices.empty()) {
    environment.erase("NVIDIA_VISIBLE_DEVICES");
  } else {
    environment["NVIDIA_VISIBLE_DEVICES"] = joined(devices);
  }
}

}  // namespace

std::string argument_text(const Value& value) {
  std::string text = engine::python_text(value);
  if (const double* real = value.as_real(); real != nullptr && *real < 0 && std::isfinite(*real)) {
    return without_exponent(text);
  }
  return text;
}

std::string shell_word(std::string_view text) {
  const auto harmless = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("@%+=:,./_-").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), harmless)) {
    return std::string(text);
  }
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted.append("'\\''");
    } else {
      quoted.push_back(c);
    }
  }
  quoted.push_back('\'');
  return quoted;
}

Result<Launch> plan_launch(const LaunchSpec& spec, const AttemptPlaces& places, const LentMachine& machine) {
  Launch launch;
  const Expansion expansion(spec, places);
  const bool harness = wants_determined_harness(spec);
  if (harness) {
    // The harness starts the entrypoint itself, word for word.
  } else if (const std::string* line = std::get_if<std::string>(&spec.entrypoint.command)) {
    Result<std::string> expanded = expansion.line(*line);
    if (!expanded) {
      return expanded.error();
    }
    if (expanded->find_first_not_of(" \t\n") == std::string::npos) {
      return Error{Errc::bad_request, "entrypoint: the command is empty; it must say which program to run"};
    }
    launch.argv = {"/bin/sh", "-c", *std::move(expanded)};
  } else {
    for (const std::string& item : std::get<std::vector<std::string>>(spec.entrypoint.command)) {
      if (const Status done = expansion.item(item, launch.argv); !done) {
        return done.error();
      }
    }
    if (launch.argv.empty() || launch.argv.front().empty()) {
      return Error{Errc::bad_request, "entrypoint: the list names no program; its first item must be one"};
    }
  }
  launch.params_json = engine::compact_json(spec.hparams.is_null() ? Value(Value::Map{}) : spec.hparams);

  std::map<std::string, std::string>& environment = launch.environment;
  for (const auto& [name, value] : machine.environment) {
    if (!name.starts_with("HPSEARCH_") && !name.starts_with("DET_")) {
      environment[name] = value;
    }
  }
  const std::uint64_t share = machine.cores * std::max<std::uint64_t>(1, spec.slots.size());
  environment["OMP_NUM_THREADS"] =
      std::to_string(std::max<std::uint64_t>(1, share / std::max<std::uint64_t>(1, machine.slots)));
  for (const auto& [name, value] : spec.environment_variables) {
    environment[name] = value;
  }
  environment["PYTHONUNBUFFERED"] = "1";

  const auto text = [](auto id) { return std::to_string(id.number()); };
  environment["HPSEARCH_EXPERIMENT_ID"] = environment["DET_EXPERIMENT_ID"] = text(spec.key.experiment);
  environment["HPSEARCH_EXPERIMENT_NAME"] = spec.experiment_name;
  environment["HPSEARCH_TRIAL_ID"] = environment["DET_TRIAL_ID"] = text(spec.trial_id);
  environment["HPSEARCH_TRIAL_NUMBER"] = text(spec.key.trial);
  environment["HPSEARCH_ATTEMPT"] = environment["DET_TRIAL_RUN_ID"] = text(spec.key.attempt);
  environment["HPSEARCH_TRIAL_SEED"] = environment["DET_TRIAL_SEED"] = std::to_string(spec.trial_seed);
  environment["HPSEARCH_LENGTH"] = std::to_string(count(spec.length));
  environment["HPSEARCH_UNIT"] = spec.unit;
  environment["HPSEARCH_METRIC"] = spec.metric;
  environment["HPSEARCH_CHECKPOINT_DIR"] = places.checkpoint_directory;
  environment["HPSEARCH_OUTPUT_DIR"] = places.output_directory;
  environment["HPSEARCH_LATEST_CHECKPOINT"] = spec.latest_checkpoint;
  // Determined-style scripts tell a fresh start by its absence.
  environment.erase("DET_LATEST_CHECKPOINT");
  if (!spec.latest_checkpoint.empty()) {
    environment["DET_LATEST_CHECKPOINT"] = spec.latest_checkpoint;
  }
  environment["HPSEARCH_SOCKET"] = places.socket;
  environment["HPSEARCH_PARAMS"] = environment["DET_HPARAMS"] = launch.params_json;
  environment["HPSEARCH_PARAMS_FILE"] = places.params_file;
  environment["HPSEARCH_DATA"] = spec.data.is_null() ? "{}" : engine::compact_json(spec.data);
  lend_slots(spec, machine, environment);
  if (harness) {
    if (const Status hosted = launch_in_determined_harness(spec, places, machine, launch); !hosted) {
      return hosted.error();
    }
  }
  return launch;
}

}  // namespace hpsearch::workers
