#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/space/formula.hpp"
#include "space/formula_text.hpp"
#include "space/formula_words.hpp"

namespace hpsearch::engine {
namespace {

using namespace formula_words;

constexpr int deepest = 200;  // Parentheses and signs; keeps a hostile text from using up the stack.

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool begins_name(char c) {
  return (is_name_byte(c) && !is_digit(c) && c != '.') || c == '"';
}
bool is_word_byte(char c) {
  return is_name_byte(c) || c == '-' || c == '+' || c == '/';
}

}  // namespace

/// Reads a formula by recursive descent: one function for each rule of the grammar.
class FormulaParser {
 public:
  FormulaParser(std::string_view text, const Names& names) : text_(text), names_(names), formula_(text) {}

  Result<Formula> number() {
    sum();
    return finished();
  }

  Result<Formula> condition() {
    takes_conditions_ = true;
    const Type type = any();
    if (text_.at_end()) {
      expect(Type::condition, type, 0);
    }
    return finished();
  }

 private:
  enum class Type : std::uint8_t { number, condition };

  Result<Formula> finished() {
    if (!text_.at_end()) {
      text_.fail(text_.next(), next_byte() + " is not expected here (an operator or the end is)");
    }
    if (text_.problem()) {
      return *text_.problem();
    }
    return std::move(formula_);
  }

  [[nodiscard]] std::string next_byte() { return "\"" + std::string(text_.rest().substr(0, 1)) + "\""; }
  [[nodiscard]] bool failed() const { return text_.problem().has_value(); }
  void emit(Formula::Instruction instruction) { formula_.program_.push_back(std::move(instruction)); }
  void use(std::size_t name) {
    if (std::find(formula_.names_.begin(), formula_.names_.end(), name) == formula_.names_.end()) {
      formula_.names_.push_back(name);
    }
  }

  void expect(Type wanted, Type found, std::size_t begin) {
    if (wanted != found) {
      text_.fail(begin,
                 wanted == Type::number
                     ? "a condition stands where a number is expected"
                     : "a number stands where a condition is expected, such as layers * width <= 4096");
    }
  }
  void expect_number(Type (FormulaParser::*rule)()) {
    const std::size_t begin = text_.next();
    expect(Type::number, (this->*rule)(), begin);
  }
  void expect_condition(Type (FormulaParser::*rule)()) {
    const std::size_t begin = text_.next();
    expect(Type::condition, (this->*rule)(), begin);
  }

  Type any() {
    const std::size_t begin = text_.next();
    const Type type = all();
    bool joins = false;
    while (!failed() && (text_.take_word("or") || text_.take("||"))) {
      expect(Type::condition, type, begin);
      expect_condition(&FormulaParser::all);
      emit(logical_or);
      joins = true;
    }
    if (joins && depth_ == 0) {
      formula_.terms_ = {text_.read_since(begin)};
    }
    return type;
  }

  Type all() {
    const std::size_t begin = text_.next();
    const Type type = term();
    while (!failed() && (text_.take_word("and") || text_.take("&&"))) {
      expect(Type::condition, type, begin);
      expect_condition(&FormulaParser::term);
      emit(Formula::Binary([](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }));
    }
    return type;
  }

  Type term() {
    const std::size_t begin = text_.next();
    const Type type = negation();
    if (depth_ == 0) {
      formula_.terms_.push_back(text_.read_since(begin));
    }
    return type;
  }

  Type negation() {
    if (!text_.take_word("not") && (text_.rest().starts_with("!=") || !text_.take("!"))) {
      return comparison();
    }
    if (nest()) {
      expect_condition(&FormulaParser::negation);
      emit(logical_not);
      --depth_;
    }
    return Type::condition;
  }

  Type comparison() {
    const std::size_t begin = text_.next();
    if (const std::optional<std::size_t> name = choice()) {
      compare_choice(*name);
    } else {
      const std::size_t left = formula_.program_.size();
      const Type type = sum();
      if (!takes_conditions_ || failed()) {
        return type;
      }
      if (text_.take_word("in")) {
        is_one_of(lone_name(left), begin);
      } else if (const Comparison* by = take_comparison()) {
        expect(Type::number, type, begin);
        compare_number(lone_name(left), *by);
      } else {
        return type;
      }
    }
    if (const std::size_t at = text_.next(); take_comparison() != nullptr) {
      text_.fail(at, "compare two numbers at a time: 1 < layers and layers < 8");
    }
    return Type::condition;
  }

  const Comparison* take_comparison() {
    const auto* found = std::find_if(std::begin(comparisons), std::end(comparisons),
                                     [this](const Comparison& one) { return text_.take(one.token); });
    return found == std::end(comparisons) ? nullptr : found;
  }

  /// The name that the instructions from `begin` read, if they do nothing else.
  [[nodiscard]] std::optional<std::size_t> lone_name(std::size_t begin) const {
    const auto* read = formula_.program_.size() == begin + 1
                           ? std::get_if<Formula::Read>(&formula_.program_[begin])
                           : nullptr;
    return read == nullptr ? std::nullopt : std::optional(read->name);
  }

  void compare_number(std::optional<std::size_t> left, const Comparison& by) {
    const bool can_be_missing = left && names_[*left].can_be_missing && by.token != "<" && by.token != "<=" &&
                                by.token != ">" && by.token != ">=";
    if (can_be_missing && (text_.take_word("null") || text_.take_word("none"))) {
      emit(Formula::Unary([](double a) { return std::isnan(a) ? 1.0 : 0.0; }));
      if (by.token == "!=") {
        emit(logical_not);
      }
      return;
    }
    expect_number(&FormulaParser::sum);
    emit(by.compare);
  }

  /// After `in`: the name on its left equals one of the numbers.
  void is_one_of(std::optional<std::size_t> left, std::size_t begin) {
    if (!left) {
      text_.fail(begin, "\"in\" needs one name on its left, such as layers in (2, 4)");
      return;
    }
    open("in");
    for (bool is_first = true; !failed() && (is_first || text_.take(",")); is_first = false) {
      if (!is_first) {
        emit(Formula::Read{*left});
      }
      expect_number(&FormulaParser::sum);
      emit(binary(std::equal_to<>()));
      if (!is_first) {
        emit(logical_or);
      }
    }
    close();
  }

  /// A name that isn't always a number, if a comparison with values comes next; the name is taken.
  std::optional<std::size_t> choice() {
    const std::size_t begin = text_.next();
    if (!takes_conditions_ || !text_.begins(begins_name)) {
      return std::nullopt;
    }
    const auto [word, is_quoted] = take_name();
    const auto [name, other] = names_.look_up(word, meant_by(word, is_quoted));
    const std::size_t end = text_.next();
    const std::string_view rest = text_.rest();
    const bool compares = rest.starts_with("=") || rest.starts_with("!=") || text_.take_word("in");
    text_.go_back(end);
    if (name && !other && !names_[*name].is_number && compares) {
      use(*name);
      return *name;
    }
    text_.go_back(begin);
    return std::nullopt;
  }

  void compare_choice(std::size_t name) {
    if (!text_.take_word("in")) {
      const bool is_unequal = text_.take("!=");
      if (!is_unequal && !text_.take("==")) {
        text_.take("=");
      }
      compare_with_value(name);
      if (is_unequal) {
        emit(logical_not);
      }
      return;
    }
    open("in");
    for (bool is_first = true; !failed() && (is_first || text_.take(",")); is_first = false) {
      compare_with_value(name);
      if (!is_first) {
        emit(logical_or);
      }
    }
    close();
  }

  void compare_with_value(std::size_t index) {
    const Name& name = names_[index];
    const std::size_t begin = text_.next();
    const bool is_quoted = text_.begins([](char c) { return c == '\'' || c == '"'; });
    const std::string_view word = is_quoted ? text_.take_quoted() : text_.take_all(is_word_byte);
    if (word.empty() && !is_quoted) {
      text_.fail(begin, "a value of " + name.spelled() + " is expected here" +
                            (name.values.empty() ? "" : " (one of " + quoted(name.values) + ")"));
      return;
    }
    const std::size_t place = place_of(name.values, word, is_quoted);
    const bool is_null =
        !is_quoted && (FormulaText::same_letters(word, "null") || FormulaText::same_letters(word, "none"));
    if (place < name.values.size()) {
      emit(Formula::Is{index, name.values[place]});
    } else if (is_null && name.can_be_missing) {
      emit(Formula::Is{index, Value()});
    } else if (name.values.empty()) {
      emit(Formula::Is{index, Value(word)});
    } else {
      text_.fail(begin, name.spelled() + " is never " + quoted(Value(word)) + " (it is one of " +
                            quoted(name.values) + ")");
    }
  }

  Type sum() {
    const std::size_t begin = text_.next();
    const Type type = product();
    while (!failed()) {
      const bool adds = text_.take("+");
      if (!adds && !text_.take("-")) {
        break;
      }
      expect(Type::number, type, begin);
      expect_number(&FormulaParser::product);
      emit(adds ? binary(std::plus<>()) : binary(std::minus<>()));
    }
    return type;
  }

  Type product() {
    const std::size_t begin = text_.next();
    const Type type = sign();
    while (!failed()) {
      const bool multiplies = !text_.rest().starts_with("**") && text_.take("*");
      if (!multiplies && !text_.take("/")) {
        break;
      }
      expect(Type::number, type, begin);
      expect_number(&FormulaParser::sign);
      emit(multiplies ? binary(std::multiplies<>()) : binary(std::divides<>()));
    }
    return type;
  }

  bool nest() {
    if (++depth_ > deepest) {
      text_.fail(text_.next(), "nested more than " + std::to_string(deepest) + " deep");
      return false;
    }
    return true;
  }

  Type sign() {
    if (!nest()) {
      return Type::number;
    }
    Type type = Type::number;
    const bool negates = text_.take("-");
    if (negates || text_.take("+")) {
      expect_number(&FormulaParser::sign);
      if (negates) {
        emit(Formula::Unary([](double a) { return -a; }));
      }
    } else {
      type = power();
    }
    --depth_;
    return type;
  }

  Type power() {
    const std::size_t begin = text_.next();
    const Type type = primary();
    if (!failed() && (text_.take("^") || text_.take("**"))) {
      expect(Type::number, type, begin);
      expect_number(&FormulaParser::sign);
      emit(Formula::Binary([](double a, double b) { return std::pow(a, b); }));
    }
    return type;
  }

  Type primary() {
    if (failed()) {
      return Type::number;
    }
    if (text_.at_end()) {
      text_.fail(text_.next(), "the expression ends where a number, a name or \"(\" is expected");
    } else if (text_.begins([](char c) { return is_digit(c) || c == '.'; })) {
      literal_number();
    } else if (text_.begins(begins_name)) {
      name();
    } else if (text_.take("(")) {
      const Type type = takes_conditions_ ? any() : sum();
      close();
      return type;
    } else {
      text_.fail(text_.next(), next_byte() + " is not expected here (a number, a name or \"(\" is)");
    }
    return Type::number;
  }

  void open(const std::string& before) {
    if (!failed() && !text_.take("(")) {
      text_.fail(text_.next(), "\"(\" is missing after " + before);
    }
  }
  void close() {
    if (!failed() && !text_.take(")")) {
      text_.fail(text_.next(), "\")\" is missing");
    }
  }

  void literal_number() {
    double value = 0;
    const std::string_view rest = text_.rest();
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc()) {
      text_.fail(text_.next(), error == std::errc::result_out_of_range ? "this number is out of range"
                                                                       : "this is no number");
      return;
    }
    text_.take(rest.substr(0, static_cast<std::size_t>(end - rest.data())));
    emit(value);
  }

  FormulaText::Word take_name() {
    const std::string_view odd = text_.rest().substr(0, names_.odd_name_at(text_.rest()));
    return !odd.empty() && text_.take(odd) ? FormulaText::Word{std::string(odd), false} : text_.take_name();
  }

  /// A quoted name is a hyperparameter's if there is such a hyperparameter.
  [[nodiscard]] Names::Among meant_by(std::string_view word, bool is_quoted) const {
    return is_quoted && names_.look_up(word, Names::Among::hyperparameters).name
               ? Names::Among::hyperparameters
               : Names::Among::all;
  }

  void name() {
    const std::size_t begin = text_.next();
    const auto [word, is_quoted] = take_name();
    if (failed()) {
      return;
    }
    if (!is_quoted) {
      const bool is_call = text_.rest().starts_with("(") || !names_.look_up(word, Names::Among::all).name;
      for (const Function& function : functions) {
        if (function.name == word && is_call) {
          call(function, begin);
          return;
        }
      }
      for (const auto& [constant, value] : constants) {
        if (constant == word) {
          emit(value);
          return;
        }
      }
    }
    const auto found =
        names_.find(word, meant_by(word, is_quoted),
                    is_quoted ? std::span<const std::string_view>() : std::span(builtin_names));
    if (!found) {
      text_.fail(begin, found.error().message);
    } else if (const Name& name = names_[*found]; !name.is_number) {
      text_.fail(begin, "\"" + name.name + "\" is not always a number" +
                            (takes_conditions_ ? "; compare it by ==, != or in with its values" +
                                                     (name.values.empty() ? "" : " " + quoted(name.values))
                                               : ""));
    } else {
      use(*found);
      emit(Formula::Read{*found});
    }
  }

  void call(const Function& function, std::size_t begin) {
    if (!text_.take("(")) {
      text_.fail(text_.next(), std::string(function.name) + " is a function: \"(\" is missing");
      return;
    }
    expect_number(&FormulaParser::sum);
    std::size_t arguments = 1;
    for (; !failed() && text_.take(","); ++arguments) {
      expect_number(&FormulaParser::sum);
      if (function.of_many != nullptr) {
        emit(function.of_many);
      }
    }
    close();
    if (function.of_many != nullptr ? arguments < 2 : arguments != 1) {
      text_.fail(begin, std::string(function.name) + " takes " +
                            (function.of_many != nullptr ? "two or more arguments" : "one argument") +
                            ", not " + std::to_string(arguments));
    }
    if (function.of_one != nullptr) {
      emit(function.of_one);
    }
  }

  FormulaText text_;
  const Names& names_;
  Formula formula_;
  bool takes_conditions_ = false;
  int depth_ = 0;
};

Result<Formula> Formula::parse_number(std::string_view text, const Names& names) {
  return FormulaParser(text, names).number();
}

Result<Formula> Formula::parse_condition(std::string_view text, const Names& names) {
  return FormulaParser(text, names).condition();
}

}  // namespace hpsearch::engine
