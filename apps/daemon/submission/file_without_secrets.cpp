#include "daemon/submission/file_without_secrets.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/jobs/fields/secrets.hpp"
#include "hpsearch/jobs/yaml/read_text.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Value;

constexpr std::size_t most_secrets = 256;
constexpr std::size_t least_searched = 4;  // Shorter texts say nothing where they stand without their name.
constexpr std::size_t least_in_words = 8;  // Shorter ones are searched as whole words only.
constexpr std::string_view blanks = " \t";
constexpr const char* variables_path = "environment.environment_variables";

/// A field of a configuration that holds a secret.
struct SecretField {
  std::string path;
  std::string name;  ///< The text before the value on its line: the key, or "NAME=" in a list.
  std::string secret;
  bool is_text = true;  ///< As opposed to a number.
};

/// A part of the text, from its first byte to the byte behind its last one.
struct Part {
  std::size_t begin = 0;
  std::size_t end = 0;
};

bool is_secret(const std::string& text) {
  return !text.empty() && text != hidden_in_text;
}

bool is_searched(const std::string& secret) {
  return secret.size() >= least_searched && secret != "true" && secret != "false" && secret != "null";
}

bool is_of_a_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Where `secret` stands in the text from `from` on; npos: nowhere.
std::size_t find_secret(std::string_view text, std::string_view secret, std::size_t from) {
  for (std::size_t at = text.find(secret, from); at != std::string_view::npos;
       at = text.find(secret, at + 1)) {
    const std::size_t end = at + secret.size();
    const bool is_part = (at > 0 && is_of_a_word(text[at - 1]) && is_of_a_word(secret.front())) ||
                         (end < text.size() && is_of_a_word(text[end]) && is_of_a_word(secret.back()));
    if (secret.size() >= least_in_words || !is_part) {
      return at;
    }
  }
  return std::string_view::npos;
}

bool stands_in(std::string_view text, std::string_view secret) {
  return find_secret(text, secret, 0) != std::string_view::npos;
}

/// The tree with all scalars as texts.
Value in_texts(const Value& value) {
  if (const Value::Map* map = value.as_map()) {
    Value::Map texts;
    for (const auto& [key, member] : *map) {
      texts[key] = in_texts(member);
    }
    return texts;
  }
  if (const Value::List* list = value.as_list()) {
    Value::List texts;
    std::transform(list->begin(), list->end(), std::back_inserter(texts), in_texts);
    return texts;
  }
  return value.is_null() ? value : Value(engine::python_text(value));
}

/// Variables that are written as a list of NAME=VALUE.
void add_list(const Value& value, const std::string& path, std::vector<SecretField>& fields) {
  const Value::List* list = value.as_list();
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const std::string text = (*list)[i].is_null() ? "" : engine::python_text((*list)[i]);
    const std::size_t value_at = text.find('=') + 1;  // 0: there is none.
    fields.push_back({path + "[" + std::to_string(i) + "]", text.substr(0, value_at), text.substr(value_at)});
  }
}

/// All secrets of a configuration, in every form in which an experiment file may have them.
std::vector<SecretField> secret_fields(const Value& config) {
  std::vector<SecretField> fields;
  static_cast<void>(
      jobs::with_secrets(in_texts(config), [&](const std::string& path, const std::string& secret) {
        const Value* as_read = config.at_path(path);
        fields.push_back({path, path.substr(path.rfind('.') + 1), secret,
                          as_read == nullptr || as_read->as_text() != nullptr});
        return Value(secret);
      }));
  if (const Value* variables = config.at_path(variables_path)) {
    add_list(*variables, variables_path, fields);
    if (const Value::Map* by_device = variables->as_map()) {
      for (const auto& [kind, list] : *by_device) {
        add_list(list, std::string(variables_path) + "." + kind, fields);
      }
    }
  }
  std::erase_if(fields, [](const SecretField& field) { return !is_secret(field.secret); });
  return fields;
}

/// The content of the quoted scalar that begins at `at`.
std::optional<Part> quoted_at(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (std::size_t end = at + 1; end < text.size(); ++end) {
    const bool doubled = quote == '\'' && text.substr(end, 2) == "''";
    if (doubled || (quote == '"' && text[end] == '\\')) {
      ++end;
    } else if (text[end] == quote) {
      return Part{at + 1, end};
    }
  }
  return std::nullopt;
}

/// The scalar at `at`, without its quotes.
std::optional<Part> scalar_at(std::string_view text, std::size_t at, const SecretField& field) {
  if (at >= text.size()) {
    return std::nullopt;
  }
  if (text[at] == '"' || text[at] == '\'') {
    return quoted_at(text, at);
  }
  if (!field.is_text) {
    return Part{at, std::min(text.find_first_of(" \t\r\n,]}#", at), text.size())};
  }
  if (text.substr(at).starts_with(field.secret)) {
    return Part{at, at + field.secret.size()};
  }
  return std::nullopt;
}

/// The value of a field whose line begins at `line`. Nothing if it is not on that line, or if it is an alias
/// or a text of several lines.
std::optional<Part> value_of(std::string_view text, std::size_t line, const SecretField& field) {
  const std::size_t end = std::min(text.find('\n', line), text.size());
  const std::string_view until_end = text.substr(0, end);
  if (field.name.empty() || field.name.back() == '=') {
    const std::size_t at = until_end.find(field.name + field.secret, line);
    return at == std::string_view::npos
               ? std::nullopt
               : std::optional(Part{at + field.name.size(), at + field.name.size() + field.secret.size()});
  }
  for (std::size_t at = until_end.find(field.name, line); at != std::string_view::npos;
       at = until_end.find(field.name, at + 1)) {
    std::size_t after = at + field.name.size();
    if (at > line && is_of_a_word(until_end[at - 1])) {
      continue;
    }
    if (after < end && (text[after] == '"' || text[after] == '\'')) {
      ++after;
    }
    after = until_end.find_first_not_of(blanks, after);
    if (after == std::string_view::npos || text[after] != ':') {
      continue;
    }
    return scalar_at(text, std::min(until_end.find_first_not_of(blanks, after + 1), text.size()), field);
  }
  return std::nullopt;
}

std::vector<std::size_t> starts_of_lines(std::string_view text) {
  std::vector<std::size_t> starts{0};
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    starts.push_back(at + 1);
  }
  return starts;
}

std::string with_hidden(std::string_view text, std::vector<Part> parts) {
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.begin < b.begin; });
  std::string out;
  std::size_t at = 0;
  for (const Part& part : parts) {
    if (part.begin >= at) {
      out.append(text.substr(at, part.begin - at)).append(hidden_in_text);
    }
    at = std::max(at, part.end);  // Parts may overlap: one secret may be the beginning of another one.
  }
  return out.append(text.substr(at));
}

/// Whether a key or a scalar of a tree of texts has one of the secrets.
bool has_one(const Value& tree, const std::set<std::string>& secrets) {
  const auto has = [&secrets](std::string_view text) {
    return std::any_of(secrets.begin(), secrets.end(), [&](const std::string& secret) {
      return is_searched(secret) && stands_in(text, secret);
    });
  };
  if (const Value::Map* map = tree.as_map()) {
    return std::any_of(map->begin(), map->end(), [&](const auto& member) {
      return has(member.first) || has_one(member.second, secrets);
    });
  }
  if (const Value::List* list = tree.as_list()) {
    return std::any_of(list->begin(), list->end(), [&](const Value& item) { return has_one(item, secrets); });
  }
  return tree.as_text() != nullptr && has(*tree.as_text());
}

/// Why the text may still show one of the secrets; "" if it shows none.
std::string shown_in(std::string_view text, const std::set<std::string>& secrets) {
  const yaml::ReadText read = yaml::read_experiment_text(text);
  if (!read.tree || !read.problems.empty()) {
    return "a secret in it is also the name of a field";
  }
  if (const std::vector<SecretField> left = secret_fields(*read.tree); !left.empty()) {
    return "the secret " + left.front().path + " cannot be replaced in it; write it on the line of its name";
  }
  const bool in_text = std::any_of(secrets.begin(), secrets.end(), [&](const std::string& secret) {
    return is_searched(secret) && stands_in(text, secret);
  });
  return in_text || has_one(in_texts(*read.tree), secrets)
             ? "a secret of it stands in it a second time, in another spelling"
             : "";
}

}  // namespace

FileWithoutSecrets file_without_secrets(const std::string& text, const Value& config) {
  const yaml::ReadText read = yaml::read_experiment_text(text);
  if (!read.tree || read.tree->as_map() == nullptr || !read.problems.empty()) {
    return {std::nullopt, "it is not an experiment file in YAML"};
  }
  std::set<std::string> secrets;
  std::vector<Part> parts;
  const std::vector<std::size_t> lines = starts_of_lines(text);
  const std::vector<SecretField> own = secret_fields(*read.tree);
  if (own.size() > most_secrets) {
    return {std::nullopt, "it has more than " + std::to_string(most_secrets) + " secrets"};
  }
  for (const SecretField& field : own) {
    secrets.insert(field.secret);
    const std::size_t line = read.lines.line_of(field.path);
    const auto part =
        line > 0 && line <= lines.size() ? value_of(text, lines[line - 1], field) : std::nullopt;
    if (part && part->end > part->begin) {
      parts.push_back(*part);
      secrets.insert(text.substr(part->begin, part->end - part->begin));  // As its user spelled it.
    }
  }
  for (const SecretField& field : secret_fields(config)) {
    if (secrets.insert(field.secret).second && !is_searched(field.secret) && stands_in(text, field.secret)) {
      return {std::nullopt, "the secret " + field.path + " is too short to be found in it"};
    }
  }
  if (secrets.size() > 2 * most_secrets) {
    return {std::nullopt, "it has more than " + std::to_string(most_secrets) + " secrets"};
  }
  for (const std::string& secret : secrets) {
    for (std::size_t at = is_searched(secret) ? find_secret(text, secret, 0) : std::string::npos;
         at != std::string::npos; at = find_secret(text, secret, at + secret.size())) {
      parts.push_back({at, at + secret.size()});
    }
  }
  std::string hidden = with_hidden(text, std::move(parts));
  std::string why_not = shown_in(hidden, secrets);
  return why_not.empty() ? FileWithoutSecrets{std::move(hidden), ""}
                         : FileWithoutSecrets{std::nullopt, std::move(why_not)};
}

}  // namespace hpsearch::daemon
