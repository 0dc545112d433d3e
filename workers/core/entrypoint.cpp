#include "hpsearch/workers/core/entrypoint.hpp"

#include <utility>
#include <variant>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/config/placeholders.hpp"

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::LaunchSpec;
using engine::Result;
using engine::Status;
using engine::Value;

namespace {

/// Replaces placeholders of an entrypoint.
class Expansion {
 public:
  Expansion(const LaunchSpec& spec, const HyperparameterForms& forms, const AttemptPlaces& places)
      : spec_(spec), forms_(forms), places_(places) {}

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
  /// Copies `text` to `out`, calling `replace` for each {name}.
  template <class Replace>
  static Status walk(std::string_view text, std::string& out, const Replace& replace) {
    for (const engine::EntrypointPiece& piece : engine::pieces_of(text)) {
      if (!piece.is_name) {
        out.append(piece.text);
      } else if (const Status done = replace(piece.text); !done) {
        return done;
      }
    }
    return engine::Done{};
  }

  /// The hyperparameters, and behind them the channels that are passed as arguments.
  [[nodiscard]] std::vector<std::string> arguments(bool with_equals) const {
    std::vector<std::string> all = forms_.arguments(with_equals);
    const auto append = [&](const std::vector<engine::Channel>& channels,
                            const std::map<std::string, std::string>& places) {
      for (const engine::Channel& channel : channels) {
        const auto place = places.find(channel.name);
        if (channel.passed_as != engine::PassedAs::argument || place == places.end()) {
          continue;
        }
        if (with_equals) {
          all.push_back("--" + channel.name + "=" + place->second);
        } else {
          all.push_back("--" + channel.name);
          all.push_back(place->second);
        }
      }
    };
    append(spec_.contract.inputs, places_.inputs);
    append(spec_.contract.outputs, places_.outputs);
    return all;
  }

  [[nodiscard]] Result<std::string> lookup(std::string_view name) const {
    if (const HyperparameterForms::Hyperparameter* one = forms_.find(name)) {
      return argument_text(*one->value, one->style);
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
    for (const auto& [section, places] : {std::pair("inputs.", &places_.inputs), {"outputs.", &places_.outputs}}) {
      const std::string_view prefix = section;
      const auto place = name.starts_with(prefix) ? places->find(std::string(name.substr(prefix.size())))
                                                  : places->end();
      if (place != places->end()) {
        return place->second;
      }
    }
    if (name == "trial_id") {
      return std::to_string(spec_.trial_id.number());
    }
    std::vector<std::string_view> all{"args", "args_eq", "checkpoint_dir", "output_dir", "trial_id"};
    for (const HyperparameterForms::Hyperparameter& one : forms_.all()) {
      all.push_back(one.name);
    }
    const std::string_view near = engine::nearest(name, all);
    return Error{Errc::bad_request, "entrypoint: {" + std::string(name) +
                                        "} is neither a hyperparameter nor a known word" +
                                        (near.empty() ? "" : "; did you mean {" + std::string(near) + "}") +
                                        "; braces meant literally are written {{ and }}"};
  }

  const LaunchSpec& spec_;
  const HyperparameterForms& forms_;
  const AttemptPlaces& places_;
};

}  // namespace

Result<std::vector<std::string>> expand_entrypoint(const LaunchSpec& spec, const HyperparameterForms& forms,
                                                   const AttemptPlaces& places) {
  const Expansion expansion(spec, forms, places);
  if (const std::string* line = std::get_if<std::string>(&spec.entrypoint.command)) {
    Result<std::string> expanded = expansion.line(*line);
    if (!expanded) {
      return expanded.error();
    }
    if (expanded->find_first_not_of(" \t\n") == std::string::npos) {
      return Error{Errc::bad_request, "entrypoint: the command is empty; it must say which program to run"};
    }
    return std::vector<std::string>{"/bin/sh", "-c", *std::move(expanded)};
  }
  std::vector<std::string> argv;
  for (const std::string& item : std::get<std::vector<std::string>>(spec.entrypoint.command)) {
    if (const Status done = expansion.item(item, argv); !done) {
      return done.error();
    }
  }
  if (argv.empty() || argv.front().empty()) {
    return Error{Errc::bad_request, "entrypoint: the list names no program; its first item must be one"};
  }
  return argv;
}

}  // namespace hpsearch::workers
