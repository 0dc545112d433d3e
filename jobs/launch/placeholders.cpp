#include "hpsearch/jobs/launch/placeholders.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <variant>

#include "fields/sections.hpp"
#include "hpsearch/jobs/contract/job_contract.hpp"
#include "hpsearch/jobs/launch/entrypoint_start.hpp"

namespace hpsearch::jobs {
namespace {

bool starts_name(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool continues_name(char c) noexcept {
  return starts_name(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

/// The end of the name that begins at `at`; `at` if no name does.
std::size_t end_of_name(std::string_view text, std::size_t at) {
  std::size_t end = at;
  if (end < text.size() && starts_name(text[end])) {
    while (end < text.size() && continues_name(text[end])) {
      ++end;
    }
  }
  return end;
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

std::vector<std::vector<EntrypointPiece>> pieces_of(const Entrypoint& entrypoint) {
  if (const auto* line = std::get_if<std::string>(&entrypoint.command)) {
    return {line_pieces(*line)};
  }
  std::vector<std::vector<EntrypointPiece>> all;
  const auto& items = std::get<std::vector<std::string>>(entrypoint.command);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::span<const std::string> before(items.data(), i);
    if (takes_line_for_shell(before)) {
      all.push_back(line_pieces(items[i]));
      continue;
    }
    all.push_back(pieces_of(items[i]));
    for (EntrypointPiece& piece : all.back()) {
      piece.parsed_again = parses_again(before);
      if (is_all(piece) && all.back().size() > 1) {
        piece.place = Place::refused;
        piece.inside = "a longer item";
      }
    }
  }
  return all;
}

bool is_all(const EntrypointPiece& piece) noexcept {
  return piece.is_name && argument_form(piece.text).has_value();
}

std::optional<Problem> problem_of(const EntrypointPiece& piece) {
  const bool is_in_quotes = piece.place == Place::quotes && is_all(piece);
  if (!piece.is_name || (piece.place != Place::refused && !is_in_quotes)) {
    return std::nullopt;
  }
  Problem problem;
  problem.what = "has {" + piece.text + "}" +
                 (piece.line == 0 ? "" : " in line " + std::to_string(piece.line)) + ", inside " +
                 std::string(piece.inside);
  if (is_all(piece)) {
    problem.allowed = piece.line == 0
                          ? "an item of its own: it becomes several"
                          : "use {" + piece.text + "} as an unquoted argument of the program itself";
  } else {
    problem.allowed = std::string(piece.inside == "single quotes" ? "end the quotes before it, or " : "") +
                      "use $" + variable_of(piece.text);
  }
  return problem;
}

std::string variable_of(std::string_view placeholder) {
  const std::pair<std::string_view, std::string_view> prefixes[] = {{"inputs.", "PAI_INPUT_"},
                                                                    {"outputs.", "PAI_OUTPUT_"}};
  for (const auto& [prefix, variable] : prefixes) {
    if (placeholder.starts_with(prefix)) {
      return std::string(variable) + variable_part(placeholder.substr(prefix.size()));
    }
  }
  if (placeholder == "args_json") {
    return "HPSEARCH_PARAMS";
  }
  const bool is_own =
      std::find(own_placeholders.begin(), own_placeholders.end(), placeholder) != own_placeholders.end();
  return (is_own ? "HPSEARCH_" : "HPSEARCH_HP_") + variable_part(placeholder);
}

}  // namespace hpsearch::jobs
