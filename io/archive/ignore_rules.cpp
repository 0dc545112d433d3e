#include "hpsearch/io/archive/ignore_rules.hpp"

#include <cstddef>
#include <utility>

namespace hpsearch::context {

IgnoreRules::IgnoreRules(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    add(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

void IgnoreRules::add(std::string_view pattern) {
  while (!pattern.empty() && (pattern.back() == '\r' || pattern.back() == ' ' || pattern.back() == '\t')) {
    pattern.remove_suffix(1);
  }
  if (pattern.empty() || pattern.front() == '#') {
    return;
  }
  Rule rule;
  if (pattern.front() == '!') {
    rule.takes_in = true;
    pattern.remove_prefix(1);
  }
  if (!pattern.empty() && pattern.back() == '/') {
    rule.only_directories = true;
    pattern.remove_suffix(1);
  }
  const bool tied = pattern.find('/') != std::string_view::npos;
  if (!pattern.empty() && pattern.front() == '/') {
    pattern.remove_prefix(1);
  }
  if (pattern.empty()) {
    return;
  }
  using Kind = Token::Kind;
  const auto push = [&rule](Kind kind, char letter = 0) { rule.tokens.push_back({kind, letter, false, {}}); };
  if (!tied) {
    push(Kind::folders);
    push(Kind::in_folders);
  }
  for (std::size_t at = 0; at < pattern.size();) {
    const std::string_view left = pattern.substr(at);
    const bool at_name = at == 0 || pattern[at - 1] == '/';
    if (at_name && left.starts_with("**/")) {
      push(Kind::folders);
      push(Kind::in_folders);
      at += 3;
    } else if (at_name && left == "**") {
      push(Kind::rest);
      at += 2;
    } else if (left.front() == '*') {
      push(Kind::run);
      ++at;
    } else if (left.front() == '?') {
      push(Kind::any);
      ++at;
    } else if (left.front() == '[' && left.find(']', 2) != std::string_view::npos) {
      rule.tokens.push_back(read_class(pattern, at));
    } else {
      at += left.front() == '\\' && left.size() > 1 ? 1U : 0U;
      push(Kind::letter, pattern[at]);
      ++at;
    }
  }
  rules_.push_back(std::move(rule));
}

IgnoreRules::Token IgnoreRules::read_class(std::string_view pattern, std::size_t& at) {
  Token token{Token::Kind::one_of, 0, false, {}};
  const std::size_t end = pattern.find(']', at + 2);
  ++at;
  if (pattern[at] == '!' || pattern[at] == '^') {
    token.negated = true;
    ++at;
  }
  while (at < end) {
    const char first = pattern[at];
    const bool is_range = at + 2 < end && pattern[at + 1] == '-';
    const int last = static_cast<unsigned char>(is_range ? pattern[at + 2] : first);
    for (int letter = static_cast<unsigned char>(first); letter <= last; ++letter) {
      token.letters.push_back(static_cast<char>(letter));
    }
    at += is_range ? 3U : 1U;
  }
  at = end + 1;
  return token;
}

/// Keeps the set of positions in the pattern that the path may have reached, character by character.
bool IgnoreRules::matches(const std::vector<Token>& tokens, std::string_view path) {
  using Kind = Token::Kind;
  std::vector<bool> here(tokens.size() + 1);
  std::vector<bool> next(tokens.size() + 1);
  // A token that may match nothing can be skipped.
  const auto step_over = [&tokens](std::vector<bool>& places) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (places[i] && tokens[i].kind == Kind::run) {
        places[i + 1] = true;
      } else if (places[i] && tokens[i].kind == Kind::folders) {
        places[i + 2] = true;
      }
    }
  };
  here[0] = true;
  step_over(here);
  for (const char c : path) {
    next.assign(next.size(), false);
    const bool slash = c == '/';
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (!here[i]) {
        continue;
      }
      const Token& token = tokens[i];
      switch (token.kind) {
        case Kind::letter:
          next[i + 1] = next[i + 1] || c == token.letter;
          break;
        case Kind::any:
          next[i + 1] = next[i + 1] || !slash;
          break;
        case Kind::run:
          next[i] = next[i] || !slash;
          break;
        case Kind::one_of: {
          const bool listed = token.letters.find(c) != std::string::npos;
          next[i + 1] = next[i + 1] || (!slash && listed != token.negated);
          break;
        }
        case Kind::folders:
          next[i + 1] = next[i + 1] || !slash;
          break;
        case Kind::in_folders:
          next[slash ? i - 1 : i] = true;
          break;
        case Kind::rest:
          next[i] = next[i + 1] = true;
          break;
      }
    }
    step_over(next);
    here.swap(next);
  }
  return here[tokens.size()];
}

bool IgnoreRules::ignores(std::string_view path, bool is_directory) const {
  bool ignored = false;
  for (const Rule& rule : rules_) {
    if ((is_directory || !rule.only_directories) && matches(rule.tokens, path)) {
      ignored = !rule.takes_in;
    }
  }
  return ignored;
}

}  // namespace hpsearch::context
