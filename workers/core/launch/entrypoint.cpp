#include "hpsearch/workers/core/launch/entrypoint.hpp"

#include <optional>
#include <utility>
#include <variant>

#include "core/launch/launch_parts.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/jobs/launch/placeholders.hpp"

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using engine::Value;
using jobs::EntrypointPiece;
using jobs::LaunchSpec;
using jobs::Place;

namespace {

/// Replaces placeholders of an entrypoint: in a list by the value, in a line for sh by a variable with
/// the value, so that no value is ever a part of the line.
class Expansion {
 public:
  Expansion(const LaunchSpec& spec, const HyperparameterForms& forms, const AttemptPlaces& places,
            Variables& environment)
      : spec_(spec), forms_(forms), places_(places), environment_(environment) {}

  /// The words of one item. An item that is only {args} becomes one word per argument.
  [[nodiscard]] Status item(const std::vector<EntrypointPiece>& pieces, std::vector<std::string>& argv) {
    if (pieces.size() == 1 && pieces[0].place == Place::item && jobs::is_all(pieces[0])) {
      std::vector<std::string> words = arguments(pieces[0]);
      argv.insert(argv.end(), words.begin(), words.end());
      return engine::Done{};
    }
    std::string& out = argv.emplace_back();
    for (const EntrypointPiece& piece : pieces) {
      if (const std::optional<engine::Problem> found = jobs::problem_of(piece)) {
        return Error{Errc::bad_request, "entrypoint: " + found->what + "; allowed: " + found->allowed};
      }
      if (!piece.is_name) {
        out += piece.text;
      } else if (piece.place == Place::comment) {
        out += "{" + piece.text + "}";
      } else if (jobs::is_all(piece)) {
        out += joined(arguments(piece), " ");
      } else {
        const Result<std::string> value = lookup(piece.text);
        if (!value) {
          return value.error();
        }
        out += put(piece.place, piece.text, *value);
      }
    }
    return engine::Done{};
  }

 private:
  /// The replacement of a placeholder in this place.
  [[nodiscard]] std::string put(Place place, std::string_view placeholder, const std::string& value) {
    switch (place) {
      case Place::word:
        return "\"$" + variable(placeholder, value) + "\"";
      case Place::quotes:
        return "${" + variable(placeholder, value) + "}";
      case Place::item:
      case Place::comment:
      case Place::refused:
        break;
    }
    return value;
  }

  /// A variable with exactly this value: the placeholder's own, or an additional one.
  [[nodiscard]] std::string variable(std::string_view placeholder, const std::string& value) {
    std::string name = forms_.find(placeholder) != nullptr ? "HPSEARCH_HP_" + jobs::variable_part(placeholder)
                                                           : jobs::variable_of(placeholder);
    for (int number = 1; environment_.try_emplace(name, value).first->second != value; ++number) {
      name = "HPSEARCH_ARG_" + std::to_string(number);
    }
    return name;
  }

  /// The hyperparameters, followed by the channels that are passed as arguments.
  [[nodiscard]] std::vector<std::string> arguments(const EntrypointPiece& all) {
    const jobs::ArgumentForm form = *jobs::argument_form(all.text);
    const auto label = [&](const std::string& name) {
      return all.place == Place::item ? name : shell_word(name);
    };
    std::vector<std::string> words;
    const auto append = [&](const std::vector<std::string>& more) {
      words.insert(words.end(), more.begin(), more.end());
    };
    for (const HyperparameterForms::Hyperparameter& one : forms_.all()) {
      append(HyperparameterForms::arguments_of(
          one, form, label(one.name), put(all.place, one.name, argument_text(*one.value, one.style))));
    }
    const auto append_channels = [&](const std::string& section, const std::vector<jobs::Channel>& channels,
                                     const std::map<std::string, std::string>& places) {
      for (const jobs::Channel& channel : channels) {
        const auto place = places.find(channel.name);
        if (channel.passed_as == jobs::PassedAs::argument && place != places.end()) {
          append(jobs::argument_words(form, label(channel.name),
                                      put(all.place, section + channel.name, place->second)));
        }
      }
    };
    append_channels("inputs.", spec_.contract.inputs, places_.inputs);
    append_channels("outputs.", spec_.contract.outputs, places_.outputs);
    return words;
  }

  [[nodiscard]] Result<std::string> lookup(std::string_view name) const {
    if (const HyperparameterForms::Hyperparameter* one = forms_.find(name)) {
      return argument_text(*one->value, one->style);
    }
    if (const Value* nested = jobs::member_at(spec_.hparams, name)) {
      return argument_text(*nested);
    }
    if (name == "args_json") {
      return spec_.hparams.is_null() ? "{}" : engine::compact_json(spec_.hparams);
    }
    if (name == "checkpoint_dir") {
      return places_.checkpoint_directory;
    }
    if (name == "output_dir") {
      return places_.output_directory;
    }
    for (const auto& [section, places] :
         {std::pair("inputs.", &places_.inputs), {"outputs.", &places_.outputs}}) {
      const std::string_view prefix = section;
      const auto place =
          name.starts_with(prefix) ? places->find(std::string(name.substr(prefix.size()))) : places->end();
      if (place != places->end()) {
        return place->second;
      }
    }
    if (name == "trial_id") {
      return std::to_string(spec_.trial_id.number());
    }
    std::vector<std::string_view> all(jobs::own_placeholders.begin(), jobs::own_placeholders.end());
    for (const HyperparameterForms::Hyperparameter& one : forms_.all()) {
      all.push_back(one.name);
    }
    const std::string_view near = engine::nearest(name, all);
    return Error{Errc::bad_request, "entrypoint: {" + std::string(name) +
                                        "} is not a hyperparameter or placeholder" +
                                        (near.empty() ? "" : "; did you mean {" + std::string(near) + "}") +
                                        "; literal braces are written {{ and }}"};
  }

  const LaunchSpec& spec_;
  const HyperparameterForms& forms_;
  const AttemptPlaces& places_;
  Variables& environment_;
};

}  // namespace

Result<std::vector<std::string>> expand_entrypoint(const LaunchSpec& spec, const HyperparameterForms& forms,
                                                   const AttemptPlaces& places, Variables& environment) {
  const bool is_line = std::holds_alternative<std::string>(spec.entrypoint.command);
  std::vector<std::string> argv =
      is_line ? std::vector<std::string>{"/bin/sh", "-c"} : std::vector<std::string>();
  Expansion expansion(spec, forms, places, environment);
  for (const std::vector<EntrypointPiece>& pieces : jobs::pieces_of(spec.entrypoint)) {
    if (const Status done = expansion.item(pieces, argv); !done) {
      return done.error();
    }
  }
  if (is_line && argv.back().find_first_not_of(" \t\n") == std::string::npos) {
    return Error{Errc::bad_request, "entrypoint: the command is empty; it must say which program to run"};
  }
  if (argv.empty() || argv.front().empty()) {
    return Error{Errc::bad_request, "entrypoint: the list names no program; its first item must be one"};
  }
  return argv;
}

}  // namespace hpsearch::workers
