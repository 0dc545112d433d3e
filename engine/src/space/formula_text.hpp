#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/space/names.hpp"

namespace hpsearch::engine {

/// The text of a formula with the place where it is read. Only the first problem is kept; the text ends
/// there.
class FormulaText {
 public:
  explicit FormulaText(std::string_view text) : text_(text) {}

  [[nodiscard]] const std::optional<Error>& problem() const noexcept { return problem_; }
  void fail(std::size_t at, const std::string& why) {
    if (!problem_) {
      problem_ = Error{Errc::bad_request, "column " + std::to_string(at + 1) + ": " + why};
      at_ = text_.size();
    }
  }

  /// Where the next token begins.
  [[nodiscard]] std::size_t next() {
    while (at_ < text_.size() && std::string_view(" \t\n\r").find(text_[at_]) != std::string_view::npos) {
      ++at_;
    }
    return at_;
  }
  [[nodiscard]] std::string_view rest() { return text_.substr(next()); }
  [[nodiscard]] bool at_end() { return next() == text_.size(); }
  /// Whether the next byte is one of these.
  template <class Belongs>
  [[nodiscard]] bool begins(Belongs belongs) {
    return !at_end() && belongs(text_[at_]);
  }
  void go_back(std::size_t at) { at_ = problem_ ? text_.size() : at; }

  bool take(std::string_view token) {
    const bool there = rest().starts_with(token);
    at_ += there ? token.size() : 0;
    return there;
  }
  /// A word in small letters, however its letters are written here; not the beginning of a longer word.
  bool take_word(std::string_view word) {
    const std::string_view rest = this->rest();
    const bool there = rest.size() >= word.size() && same_letters(rest.substr(0, word.size()), word) &&
                       (rest.size() == word.size() || !is_name_byte(rest[word.size()]));
    at_ += there ? word.size() : 0;
    return there;
  }
  /// All bytes from here that `belongs` takes; may be none.
  template <class Belongs>
  std::string_view take_all(Belongs belongs) {
    const std::string_view rest = this->rest();
    const auto end = std::find_if_not(rest.begin(), rest.end(), belongs);
    at_ += static_cast<std::size_t>(end - rest.begin());
    return rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  }
  /// The text between a quote and the next quote of the same kind.
  std::string_view take_quoted() {
    const std::size_t begin = next();
    const std::size_t end = text_.find(text_[begin], begin + 1);
    if (end == std::string_view::npos) {
      fail(begin, "the quote that begins here does not end");
      return {};
    }
    at_ = end + 1;
    return text_.substr(begin + 1, end - begin - 1);
  }
  struct Word {
    std::string text;
    bool is_quoted = false;
  };
  /// A name, parts of which may be in double quotes.
  Word take_name() {
    Word name;
    for (at_ = next(); at_ < text_.size() && (is_name_byte(text_[at_]) || text_[at_] == '"');) {
      if (text_[at_] == '"') {
        name.is_quoted = true;
        name.text += take_quoted();
      } else {
        name.text += text_[at_++];
      }
    }
    return name;
  }
  /// The text since `begin`, without blanks at its end.
  [[nodiscard]] std::string read_since(std::size_t begin) const {
    const std::string_view read = text_.substr(begin, at_ - begin);
    return std::string(read.substr(0, read.find_last_not_of(" \t\n\r") + 1));
  }

  /// Whether both texts are equal but for capitals; of ASCII only.
  [[nodiscard]] static bool same_letters(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](char x, char y) { return lower(x) == lower(y); });
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<Error> problem_;
};

}  // namespace hpsearch::engine
