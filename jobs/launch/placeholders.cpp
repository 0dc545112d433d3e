#include "hpsearch/jobs/launch/placeholders.hpp"

#include <algorithm>
#include <cstddef>

#include "fields/sections.hpp"
#include "hpsearch/jobs/contract/job_contract.hpp"
#include "hpsearch/jobs/launch/argument_text.hpp"

namespace hpsearch::jobs {
namespace {

bool starts_name(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool continues_name(char c) noexcept {
  return starts_name(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

/// The end of the name that begins at `at`; `at` when none does.
std::size_t end_of_name(std::string_view text, std::size_t at) {
  std::size_t end = at;
  if (end < text.size() && starts_name(text[end])) {
    while (end < text.size() && continues_name(text[end])) {
      ++end;
    }
  }
  return end;
}

/// A text that stays one word however often a shell reads it: A=B in front of a command would be no argument.
bool is_harmless(std::string_view text) noexcept {
  return is_shell_safe(text) && (text.front() == '-' || text.find('=') == std::string_view::npos);
}

/// Such a text can stand where a command begins, and is neither `if` nor A=B.
bool is_plain_word(std::string_view text) noexcept {
  return is_shell_safe(text) &&
         std::string_view("0123456789-./").find(text.front()) != std::string_view::npos;
}

}  // namespace

std::optional<ArgumentForm> argument_form(std::string_view name) noexcept {
  if (name == "args") {
    return ArgumentForm::pair;
  }
  if (name == "args_eq") {
    return ArgumentForm::equals;
  }
  return name == "args_no_hyphens" ? std::optional(ArgumentForm::no_hyphens) : std::nullopt;
}

std::vector<std::string> argument_words(ArgumentForm form, std::string_view name, std::string_view text) {
  const std::string word = (form == ArgumentForm::no_hyphens ? "" : "--") + std::string(name);
  return form == ArgumentForm::pair ? std::vector{word, std::string(text)}
                                    : std::vector{word + "=" + std::string(text)};
}

const Value* member_at(const Value& map, std::string_view path) noexcept {
  const Value::Map* members = map.as_map();
  if (members == nullptr) {
    return nullptr;
  }
  for (const auto& [key, member] : *members) {
    if (key == path) {
      return &member;
    }
    if (path.size() > key.size() && path.starts_with(key) && path[key.size()] == '.') {
      if (const Value* found = member_at(member, path.substr(key.size() + 1))) {
        return found;
      }
    }
  }
  return nullptr;
}

std::vector<EntrypointPiece> pieces_of(std::string_view text) {
  std::vector<EntrypointPiece> pieces;
  const auto add = [&pieces](char c) {
    if (pieces.empty() || pieces.back().is_name) {
      pieces.emplace_back();
    }
    pieces.back().text.push_back(c);
  };
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if ((c == '{' || c == '}') && at + 1 < text.size() && text[at + 1] == c) {
      add(c);
      at += 2;
      continue;
    }
    const bool opens = c == '{' && (at == 0 || text[at - 1] != '$');
    const std::size_t end = opens ? end_of_name(text, at + 1) : at;
    if (!opens || end == at + 1 || end >= text.size() || text[end] != '}') {
      add(c);
      ++at;
      continue;
    }
    pieces.emplace_back();
    pieces.back().text = text.substr(at + 1, end - at - 1);
    pieces.back().is_name = true;
    at = end + 1;
  }
  return pieces;
}

std::optional<std::string> written(const EntrypointPiece& name, std::string_view value) {
  switch (name.place) {
    case ShellPlace::item:
      return std::string(value);
    case ShellPlace::word:
      return name.bare && is_plain_word(value) ? std::string(value) : quoted_word(value);
    case ShellPlace::reparsed:
      return is_harmless(value) ? std::optional(std::string(value)) : std::nullopt;
    case ShellPlace::comment:
      return "{" + name.text + "}";
    case ShellPlace::quoted:
      break;
  }
  return std::nullopt;
}

std::optional<std::string> written(const EntrypointPiece& name, const std::vector<std::string>& words) {
  if (name.place == ShellPlace::comment) {
    return written(name, std::string_view());
  }
  if (name.place != ShellPlace::word && name.place != ShellPlace::reparsed) {
    return std::nullopt;
  }
  std::string all;
  for (const std::string& word : words) {
    if (name.place == ShellPlace::reparsed && !is_harmless(word)) {
      return std::nullopt;
    }
    all.append(all.empty() ? "" : " ").append(name.bare ? shell_word(word) : quoted_word(word));
  }
  return all;
}

std::string described(const EntrypointPiece& name) {
  return "{" + name.text + "} in line " + std::to_string(name.line) +
         (name.around.empty() ? "" : ", inside " + std::string(name.around));
}

std::string allowed_at(const EntrypointPiece& name) {
  if (name.place == ShellPlace::item) {
    return "an item of its own: it becomes several";
  }
  const std::string only = name.place == ShellPlace::reparsed
                               ? "only letters, digits and @%+:,./_- there; for other values use "
                               : "use ";
  if (argument_form(name.text)) {
    return only + "{" + name.text + "} as an unquoted argument of the program itself";
  }
  if (name.text.starts_with("inputs.") || name.text.starts_with("outputs.")) {
    return only + "{" + name.text + "} outside quotes";
  }
  if (name.text == "args_json") {
    return only + "$HPSEARCH_PARAMS";
  }
  const bool own = name.text == "trial_id" || name.text == "checkpoint_dir" || name.text == "output_dir";
  return only + "$HPSEARCH_" + (own ? "" : "HP_") + variable_part(name.text);
}

}  // namespace hpsearch::jobs
