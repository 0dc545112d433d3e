#include "hpsearch/workers/core/launch/entrypoint.hpp"

#include <optional>
#include <utility>
#include <variant>

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

namespace {

/// A value for a message, not longer than eyes want it.
std::string shown(const std::string& value) {
  constexpr std::size_t longest = 60;
  return value.size() <= longest ? engine::compact_json(value)
                                 : "a text of " + std::to_string(value.size()) + " bytes";
}

/// Replaces placeholders of an entrypoint.
class Expansion {
 public:
  Expansion(const LaunchSpec& spec, const HyperparameterForms& forms, const AttemptPlaces& places)
      : spec_(spec), forms_(forms), places_(places) {}

  /// For `sh -c`: every value is a word or a part of one, whatever is in it and wherever it stands.
  [[nodiscard]] Result<std::string> line(std::string_view text) const { return put(jobs::line_pieces(text)); }

  /// For an argv item; {args} as a whole item becomes as many items as there are arguments.
  [[nodiscard]] Status item(const std::vector<EntrypointPiece>& pieces,
                            std::vector<std::string>& argv) const {
    if (pieces.size() == 1 && pieces[0].place == jobs::ShellPlace::item && is_all(pieces[0])) {
      for (std::string& argument : arguments(*jobs::argument_form(pieces[0].text))) {
        argv.push_back(std::move(argument));
      }
      return engine::Done{};
    }
    Result<std::string> out = put(pieces);
    if (!out) {
      return out.error();
    }
    argv.push_back(*std::move(out));
    return engine::Done{};
  }

 private:
  [[nodiscard]] static bool is_all(const EntrypointPiece& piece) {
    return piece.is_name && jobs::argument_form(piece.text).has_value();
  }

  /// The pieces with every name replaced.
  [[nodiscard]] Result<std::string> put(const std::vector<EntrypointPiece>& pieces) const {
    std::string out;
    for (const EntrypointPiece& piece : pieces) {
      if (!piece.is_name) {
        out.append(piece.text);
        continue;
      }
      std::optional<std::string> text;
      std::string value;
      if (is_all(piece)) {
        text = jobs::written(piece, arguments(*jobs::argument_form(piece.text)));
      } else if (piece.place == jobs::ShellPlace::comment) {
        text = jobs::written(piece, value);
      } else {
        Result<std::string> found = lookup(piece.text);
        if (!found) {
          return found.error();
        }
        value = *std::move(found);
        text = jobs::written(piece, value);
      }
      if (!text) {
        return Error{Errc::bad_request, "entrypoint: cannot put " +
                                            (is_all(piece) ? "the arguments" : shown(value)) +
                                            " in the place of " + jobs::described(piece) +
                                            "; allowed: " + jobs::allowed_at(piece)};
      }
      out.append(*text);
    }
    return out;
  }

  /// The hyperparameters, and behind them the channels that are passed as arguments.
  [[nodiscard]] std::vector<std::string> arguments(jobs::ArgumentForm form) const {
    std::vector<std::string> all = forms_.arguments(form);
    const auto append = [&](const std::vector<jobs::Channel>& channels,
                            const std::map<std::string, std::string>& places) {
      for (const jobs::Channel& channel : channels) {
        const auto place = places.find(channel.name);
        if (channel.passed_as != jobs::PassedAs::argument || place == places.end()) {
          continue;
        }
        for (std::string& word : jobs::argument_words(form, channel.name, place->second)) {
          all.push_back(std::move(word));
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
    if (const Value* nested = jobs::member_at(spec_.hparams, name)) {
      return argument_text(*nested);
    }
    if (name == "args_json") {
      return engine::compact_json(spec_.hparams);
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
  for (const std::vector<EntrypointPiece>& pieces :
       jobs::item_pieces(std::get<std::vector<std::string>>(spec.entrypoint.command))) {
    if (const Status done = expansion.item(pieces, argv); !done) {
      return done.error();
    }
  }
  if (argv.empty() || argv.front().empty()) {
    return Error{Errc::bad_request, "entrypoint: the list names no program; its first item must be one"};
  }
  return argv;
}

}  // namespace hpsearch::workers
