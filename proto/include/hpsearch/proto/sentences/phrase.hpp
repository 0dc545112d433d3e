#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "hpsearch/proto/sentences/language.hpp"

namespace hpsearch::sentences {

/// Only its name is used: it is in the compiler's message about a phrase that isn't whole.
void a_phrase_needs_two_different_forms_with_the_same_holes();

/// A sentence or a part of one, in each language. {0}, {1} … are its holes. Both forms have all of them, in
/// any order; a phrase without its Chinese form doesn't compile.
template <std::size_t holes>
struct Phrase {
  static_assert(holes <= 10, "a hole has one digit");

  std::string_view english;
  std::string_view chinese;

  consteval Phrase(std::string_view in_english, std::string_view in_chinese)
      : english(in_english), chinese(in_chinese) {
    if (english == chinese || chinese.empty() || !has_all_holes(english) || !has_all_holes(chinese)) {
      a_phrase_needs_two_different_forms_with_the_same_holes();
    }
  }

  [[nodiscard]] constexpr std::string_view in(Language language) const noexcept {
    return language == Language::chinese ? chinese : english;
  }

 private:
  static constexpr bool has_all_holes(std::string_view form) {
    std::array<bool, 10> found{};
    for (std::size_t i = 0; i < form.size(); ++i) {
      if (form[i] == '}') {
        return false;
      }
      if (form[i] == '{') {
        const std::size_t hole =
            i + 2 < form.size() && form[i + 2] == '}' ? static_cast<std::size_t>(form[i + 1] - '0') : holes;
        if (hole >= holes) {
          return false;
        }
        found[hole] = true;
        i += 2;
      }
    }
    for (std::size_t hole = 0; hole < holes; ++hole) {
      if (!found[hole]) {
        return false;
      }
    }
    return true;
  }
};

/// The form with its holes filled.
[[nodiscard]] std::string filled(std::string_view form, std::initializer_list<std::string_view> values);

/// A text as it is, an integer in decimal digits.
template <class Value>
[[nodiscard]] std::string hole_text(const Value& value) {
  if constexpr (std::is_integral_v<Value>) {
    return std::to_string(value);
  } else {
    return std::string(value);
  }
}

/// say(language, {"attempt {0} of trial {1}", "试验 {1} 的第 {0} 次尝试"}, attempt, trial): a value for each
/// hole.
template <class... Values>
[[nodiscard]] std::string say(Language language, Phrase<sizeof...(Values)> phrase, const Values&... values) {
  return filled(phrase.in(language), {std::string_view(hole_text(values))...});
}

/// A noun after a number: "slot", with an s after other numbers than 1, and with its measure word, "个槽位".
struct Noun {
  std::string_view english;
  std::string_view chinese;
};

/// "1 slot", "3 slots"; "3 个槽位".
[[nodiscard]] std::string counted(std::uint64_t number, const Noun& noun, Language language);

namespace nouns {
inline constexpr Noun attempt{"attempt", "次尝试"};
inline constexpr Noun free_slot{"free slot", "个空闲槽位"};
inline constexpr Noun more_result{"more result", "个结果"};
inline constexpr Noun slot{"slot", "个槽位"};
inline constexpr Noun trial{"trial", "个试验"};
}  // namespace nouns

// Between parts of a sentence.
inline constexpr Phrase<0> colon{": ", "："};
inline constexpr Phrase<0> comma{", ", "，"};
inline constexpr Phrase<0> semicolon{"; ", "；"};

}  // namespace hpsearch::sentences
