#include "hpsearch/engine/space/formula.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "space/leaves.hpp"

namespace hpsearch::engine {
namespace {

using Instruction = Formula::Instruction;
using Kind = Instruction::Kind;

constexpr int deepest = 200;  // Parentheses and signs; keeps a hostile text from using up the stack.

struct Function {
  std::string_view name;
  Kind kind;
  bool many;  // Two or more arguments; else one.
};
constexpr Function functions[] = {
    {"abs", Kind::abs, false}, {"sqrt", Kind::sqrt, false},   {"exp", Kind::exp, false},
    {"log", Kind::log, false}, {"floor", Kind::floor, false}, {"min", Kind::min, true},
    {"max", Kind::max, true},
};
constexpr std::string_view constants[] = {"nan", "inf", "pi"};

/// What an expression computes.
enum class Type : std::uint8_t { number, condition };
using Leaves = std::span<const Space::Leaf>;

/// Of whatever language: all that is not ASCII is taken for one.
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80U;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// How an expression names it.
std::string spelled(std::string_view name) {
  const bool plain =
      std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c) || c == '.'; });
  return plain ? "hp." + std::string(name) : "hp.\"" + std::string(name) + "\"";
}

bool is_numeric(const Parameter& parameter) {
  if (const auto* constant = std::get_if<ConstParameter>(&parameter)) {
    return constant->val.is_number();
  }
  if (const auto* categorical = std::get_if<CategoricalParameter>(&parameter)) {
    return std::all_of(categorical->vals.begin(), categorical->vals.end(),
                       [](const Value& value) { return value.is_number(); });
  }
  return true;
}

class Parser {
 public:
  Parser(std::string_view text, Leaves leaves, std::span<const std::string_view> variables)
      : text_(text), leaves_(leaves), variables_(variables) {}

  Result<std::vector<Instruction>> number() {
    sum();
    return finished();
  }

  Result<std::vector<Instruction>> condition() {
    takes_conditions_ = true;
    const Type type = any();
    skip_blanks();
    if (!problem_ && text_.substr(at_, 1) == "=") {
      fail(at_, "\"=\" is not expected here; equality is \"==\"");
    } else if (at_ == text_.size()) {
      expect(Type::condition, type, 0);
    }
    return finished();
  }

 private:
  Result<std::vector<Instruction>> finished() {
    skip_blanks();
    if (!problem_ && at_ < text_.size()) {
      fail(at_, "\"" + std::string(1, text_[at_]) + "\" is not expected here (an operator or the end is)");
    }
    if (problem_) {
      return *problem_;
    }
    return std::move(program_);
  }

  void fail(std::size_t at, const std::string& why) {
    if (!problem_) {
      problem_ = Error{Errc::bad_request, "column " + std::to_string(at + 1) + ": " + why};
      at_ = text_.size();
    }
  }

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) {
      ++at_;
    }
  }

  bool take(std::string_view token) {
    skip_blanks();
    if (text_.substr(at_, token.size()) != token) {
      return false;
    }
    at_ += token.size();
    return true;
  }

  /// `and`, and not the beginning of `android`.
  bool take_word(std::string_view word) {
    skip_blanks();
    const std::size_t end = at_ + word.size();
    if (text_.substr(at_, word.size()) != word ||
        (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]) || text_[end] == '.'))) {
      return false;
    }
    at_ = end;
    return true;
  }

  void emit(Kind kind) { program_.push_back(Instruction{kind, 0, {}, {}}); }
  void emit_number(double number) { program_.push_back(Instruction{Kind::number, number, {}, {}}); }

  void expect(Type wanted, Type found, std::size_t begin) {
    if (wanted != found) {
      fail(begin, wanted == Type::number
                      ? "a condition stands where a number is expected"
                      : "a number stands where a condition is expected, such as layers * width <= 4096");
    }
  }

  Type any() {
    const std::size_t begin = begin_here();
    const Type first = all();
    bool many = false;
    while (!problem_ && (take_word("or") || take("||"))) {
      expect(Type::condition, first, begin);
      const std::size_t next = begin_here();
      expect(Type::condition, all(), next);
      emit(Kind::logical_or);
      many = true;
    }
    return many ? Type::condition : first;
  }

  Type all() {
    const std::size_t begin = begin_here();
    const Type first = negation();
    bool many = false;
    while (!problem_ && (take_word("and") || take("&&"))) {
      expect(Type::condition, first, begin);
      const std::size_t next = begin_here();
      expect(Type::condition, negation(), next);
      emit(Kind::logical_and);
      many = true;
    }
    return many ? Type::condition : first;
  }

  Type negation() {
    skip_blanks();
    if (!take_word("not") && (text_.substr(at_, 2) == "!=" || !take("!"))) {
      return comparison();
    }
    if (nest()) {
      const std::size_t next = begin_here();
      expect(Type::condition, negation(), next);
      emit(Kind::logical_not);
      --depth_;
    }
    return Type::condition;
  }

  Type comparison() {
    if (const Space::Leaf* leaf = choice()) {
      compare_with_value(*leaf);
      return Type::condition;
    }
    const std::size_t begin = begin_here();
    const Type left = sum();
    const std::optional<Kind> compared = take_comparison();
    if (problem_ || !compared) {
      return left;
    }
    expect(Type::number, left, begin);
    const std::size_t right = begin_here();
    expect(Type::number, sum(), right);
    emit(*compared);
    skip_blanks();
    if (const std::size_t at = at_; take_comparison()) {
      fail(at, "compare two numbers at a time: 1 < layers and layers < 8");
    }
    return Type::condition;
  }

  Type sum() {
    const std::size_t begin = begin_here();
    const Type first = product();
    while (!problem_) {
      const bool adds = take("+");
      if (!adds && !take("-")) {
        break;
      }
      expect(Type::number, first, begin);
      const std::size_t next = begin_here();
      expect(Type::number, product(), next);
      emit(adds ? Kind::add : Kind::subtract);
    }
    return first;
  }

  Type product() {
    const std::size_t begin = begin_here();
    const Type first = sign();
    while (!problem_) {
      skip_blanks();
      const bool multiplies = text_.substr(at_, 2) != "**" && take("*");
      if (!multiplies && !take("/")) {
        break;
      }
      expect(Type::number, first, begin);
      const std::size_t next = begin_here();
      expect(Type::number, sign(), next);
      emit(multiplies ? Kind::multiply : Kind::divide);
    }
    return first;
  }

  bool nest() {
    if (++depth_ > deepest) {
      fail(at_, "nested more than " + std::to_string(deepest) + " deep");
      return false;
    }
    return true;
  }

  Type sign() {
    if (!nest()) {
      return Type::number;
    }
    Type type = Type::number;
    const bool negates = take("-");
    if (negates || take("+")) {
      const std::size_t begin = begin_here();
      expect(Type::number, sign(), begin);
      if (negates) {
        emit(Kind::negate);
      }
    } else {
      type = power();
    }
    --depth_;
    return type;
  }

  Type power() {
    const std::size_t begin = begin_here();
    const Type base = primary();
    if (!problem_ && (take("^") || take("**"))) {
      expect(Type::number, base, begin);
      const std::size_t next = begin_here();
      expect(Type::number, sign(), next);
      emit(Kind::power);
    }
    return base;
  }

  Type primary() {
    skip_blanks();
    if (problem_) {
      return Type::number;
    }
    if (at_ == text_.size()) {
      fail(at_, "the expression ends where a number, a name or \"(\" is expected");
    } else if (is_digit(text_[at_]) || text_[at_] == '.') {
      literal_number();
    } else if (is_letter(text_[at_]) || text_[at_] == '"') {
      name();
    } else if (take("(")) {
      const Type type = takes_conditions_ ? any() : sum();
      close();
      return type;
    } else {
      fail(at_, "\"" + std::string(1, text_[at_]) + "\" is not expected here (a number, a name or \"(\" is)");
    }
    return Type::number;
  }

  void close() {
    if (!problem_ && !take(")")) {
      fail(at_, "\")\" is missing");
    }
  }

  void literal_number() {
    double value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) {
      fail(at_,
           error == std::errc::result_out_of_range ? "this number is out of range" : "this is no number");
      return;
    }
    at_ += static_cast<std::size_t>(end - begin);
    emit_number(value);
  }

  struct Name {
    std::string word;
    bool quoted = false;
  };

  Name take_name() {
    Name name;
    std::string& word = name.word;
    for (; at_ < text_.size() &&
           (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.' || text_[at_] == '"');
         ++at_) {
      if (text_[at_] != '"') {
        word += text_[at_];
        continue;
      }
      const std::size_t end = text_.find('"', at_ + 1);
      if (end == std::string_view::npos) {
        fail(at_, "the quote that begins here does not end");
        return name;
      }
      word += text_.substr(at_ + 1, end - at_ - 1);
      at_ = end;
      name.quoted = true;
    }
    return name;
  }

  void name() {
    const std::size_t begin = at_;
    const auto [word, quoted] = take_name();
    if (problem_) {
      return;
    }
    if (quoted) {
      hyperparameter(word, begin);
      return;
    }
    const auto* function = std::find_if(std::begin(functions), std::end(functions),
                                        [&](const Function& known) { return known.name == word; });
    if (function != std::end(functions)) {
      call(*function, begin);
    } else if (const auto known = std::find(variables_.begin(), variables_.end(), word);
               known != variables_.end()) {
      program_.push_back(
          Instruction{Kind::variable, static_cast<double>(known - variables_.begin()), {}, {}});
    } else if (word == "nan") {
      emit_number(std::numeric_limits<double>::quiet_NaN());
    } else if (word == "inf") {
      emit_number(std::numeric_limits<double>::infinity());
    } else if (word == "pi") {
      emit_number(std::numbers::pi);
    } else {
      hyperparameter(word, begin);
    }
  }

  void call(const Function& function, std::size_t begin) {
    if (!take("(")) {
      fail(at_, std::string(function.name) + " is a function: \"(\" is missing");
      return;
    }
    argument();
    std::size_t arguments = 1;
    while (!problem_ && take(",")) {
      argument();
      ++arguments;
      if (function.many) {
        emit(function.kind);
      }
    }
    close();
    if (function.many ? arguments < 2 : arguments != 1) {
      fail(begin, std::string(function.name) + " takes " +
                      (function.many ? "two or more arguments" : "one argument") + ", not " +
                      std::to_string(arguments));
    }
    if (!function.many) {
      emit(function.kind);
    }
  }

  void argument() {
    const std::size_t begin = begin_here();
    expect(Type::number, sum(), begin);
  }

  struct Sought {
    const Space::Leaf* leaf = nullptr;
    const Space::Leaf* other = nullptr;  // It may mean, too.
  };

  [[nodiscard]] Sought leaf_called(std::string_view word) const {
    const bool full = word.starts_with("hp.");
    const std::string_view wanted = full ? word.substr(3) : word;
    Sought sought;
    for (const Space::Leaf& leaf : leaves_) {
      const bool exact = leaf.path == wanted;
      if (exact || (!full && leaf.keys.back() == wanted)) {
        if (sought.leaf != nullptr && sought.leaf->path != wanted && !exact) {
          sought.other = &leaf;
          return sought;
        }
        sought.leaf = exact || sought.leaf == nullptr ? &leaf : sought.leaf;
      }
    }
    return sought;
  }

  void hyperparameter(std::string_view word, std::size_t begin) {
    const Sought found = leaf_called(word);
    if (found.other != nullptr) {
      fail(begin, "\"" + std::string(word) + "\" may mean " + spelled(found.leaf->path) + " or " +
                      spelled(found.other->path));
    } else if (found.leaf == nullptr) {
      unknown(word, begin);
    } else if (!is_numeric(found.leaf->parameter)) {
      fail(begin,
           "hyperparameter \"" + found.leaf->path + "\" is not always a number" +
               (takes_conditions_ ? "; compare it by == or != with a value, such as 'text' or true" : ""));
    } else {
      program_.push_back(Instruction{Kind::hyperparameter, 0, found.leaf->keys, {}});
    }
  }

  /// A hyperparameter that is not always a number, if its name and a comparison come next; they are taken.
  const Space::Leaf* choice() {
    skip_blanks();
    const std::size_t begin = at_;
    if (problem_ || at_ == text_.size() || (!is_letter(text_[at_]) && text_[at_] != '"')) {
      return nullptr;
    }
    const Name name = take_name();
    const Sought found = problem_ ? Sought{} : leaf_called(name.word);
    skip_blanks();
    const std::string_view next = text_.substr(std::min(at_, text_.size()), 2);
    if (found.leaf != nullptr && found.other == nullptr && !is_numeric(found.leaf->parameter) &&
        (next == "==" || next == "!=")) {
      return found.leaf;
    }
    at_ = problem_ ? text_.size() : begin;
    return nullptr;
  }

  void compare_with_value(const Space::Leaf& leaf) {
    const bool equal = take("==");
    if (!equal) {
      take("!=");
    }
    skip_blanks();
    const std::size_t begin = at_;
    const std::optional<Value> value = literal();
    if (!value) {
      fail(begin, "a value in single quotes is expected here, or true, false, null or a number");
      return;
    }
    const Value::List vals = values_of(leaf.parameter);
    const std::size_t chosen = category_of(vals, *value);
    if (chosen == vals.size()) {
      fail(begin,
           spelled(leaf.path) + " is never " + quoted(*value) + " (it is one of " + quoted(vals) + ")");
      return;
    }
    program_.push_back(Instruction{Kind::is_value, 0, leaf.keys, vals[chosen]});
    if (!equal) {
      emit(Kind::logical_not);
    }
  }

  static Value::List values_of(const Parameter& parameter) {
    if (const auto* categorical = std::get_if<CategoricalParameter>(&parameter)) {
      return categorical->vals;
    }
    return {std::get<ConstParameter>(parameter).val};
  }

  std::optional<Value> literal() {
    if (take("'")) {
      const std::size_t end = text_.find('\'', at_);
      if (end == std::string_view::npos) {
        return std::nullopt;
      }
      const std::string_view text = text_.substr(at_, end - at_);
      at_ = end + 1;
      return Value(text);
    }
    for (const auto& [word, value] :
         {std::pair("true", Value(true)), std::pair("false", Value(false)), std::pair("null", Value())}) {
      if (take_word(word)) {
        return value;
      }
    }
    const bool negative = take("-");
    if (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) {
      literal_number();
      if (problem_) {
        return std::nullopt;
      }
      const double number = program_.back().number;
      program_.pop_back();
      return Value(negative ? -number : number);
    }
    return std::nullopt;
  }

  std::optional<Kind> take_comparison() {
    if (!takes_conditions_) {
      return std::nullopt;
    }
    constexpr std::pair<std::string_view, Kind> known[] = {
        {"<=", Kind::less_or_equal}, {">=", Kind::greater_or_equal},
        {"==", Kind::equal},         {"!=", Kind::not_equal},
        {"<", Kind::less},           {">", Kind::greater}};
    for (const auto& [token, kind] : known) {
      if (take(token)) {
        return kind;
      }
    }
    return std::nullopt;
  }

  std::size_t begin_here() {
    skip_blanks();
    return at_;
  }

  void unknown(std::string_view word, std::size_t begin) {
    std::vector<std::string> known;
    if (text_[begin] != '"') {
      known.assign(variables_.begin(), variables_.end());
      known.insert(known.end(), std::begin(constants), std::end(constants));
      for (const Function& function : functions) {
        known.emplace_back(function.name);
      }
    }
    for (const Space::Leaf& leaf : leaves_) {
      known.push_back(leaf.keys.back());
      known.push_back("hp." + leaf.path);
    }
    const std::string nothing = "there is no \"" + std::string(word) + "\"";
    const std::string_view rest = text_.substr(begin);
    for (const Space::Leaf& leaf : leaves_) {  // batch-size without its quotes is batch less size.
      const bool unquoted = rest.starts_with("hp.") ? rest.substr(3).starts_with(leaf.path)
                                                    : rest.starts_with(leaf.keys.back());
      if (unquoted && is_numeric(leaf.parameter) && spelled(leaf.path).ends_with('"')) {
        fail(begin, nothing + "; did you mean " + spelled(leaf.path) + "?");
        return;
      }
    }
    const std::string_view near = nearest(word, known);
    fail(begin, nothing + (near.empty() ? " (" + all_names() + ")"
                                        : "; did you mean \"" + std::string(near) + "\"?"));
  }

  /// Of hyperparameters, the first few.
  [[nodiscard]] std::string all_names() const {
    constexpr std::size_t most = 8;
    std::string list = "known: ";
    for (const std::string_view variable : variables_) {
      list += std::string(variable) + ", ";
    }
    list += "nan, inf, pi";
    for (const Function& function : functions) {
      list += ", " + std::string(function.name) + "()";
    }
    std::size_t told = 0;
    for (const Space::Leaf& leaf : leaves_) {
      if (is_numeric(leaf.parameter)) {
        if (++told > most) {
          return list + ", …";
        }
        list += ", " + spelled(leaf.path);
      }
    }
    return list;
  }

  std::string_view text_;
  Leaves leaves_;
  std::span<const std::string_view> variables_;
  bool takes_conditions_ = false;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<Instruction> program_;
  std::optional<Error> problem_;
};

double smaller(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::min(a, b);
}
double larger(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::max(a, b);
}

}  // namespace

Result<Formula> Formula::parse_number(std::string_view text, std::span<const Space::Leaf> leaves,
                                      std::span<const std::string_view> variables) {
  Result<std::vector<Instruction>> program = Parser(text, leaves, variables).number();
  if (!program) {
    return program.error();
  }
  return Formula(text, std::move(*program));
}

Result<Formula> Formula::parse_condition(std::string_view text, std::span<const Space::Leaf> leaves) {
  Result<std::vector<Instruction>> program = Parser(text, leaves, {}).condition();
  if (!program) {
    return program.error();
  }
  return Formula(text, std::move(*program));
}

double Formula::number(const Value& configuration, std::span<const double> variables,
                       std::vector<double>& stack) const {
  stack.clear();
  const auto binary = [&](auto operation) {
    const double right = stack.back();
    stack.pop_back();
    stack.back() = static_cast<double>(operation(stack.back(), right));
  };
  const auto unary = [&](auto operation) { stack.back() = operation(stack.back()); };
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  for (const Instruction& instruction : program_) {
    switch (instruction.kind) {
      case Kind::number:
        stack.push_back(instruction.number);
        break;
      case Kind::variable:
        stack.push_back(variables[static_cast<std::size_t>(instruction.number)]);
        break;
      case Kind::hyperparameter: {
        const Value* value = configuration.at_keys(instruction.keys);
        stack.push_back(value == nullptr ? 0 : value->number_or(none));  // An inactive one adds nothing.
        break;
      }
      case Kind::is_value: {
        const Value* value = configuration.at_keys(instruction.keys);
        const bool is =
            value != nullptr && (*value == instruction.value || same_number(*value, instruction.value));
        stack.push_back(is ? 1 : 0);
        break;
      }
      case Kind::negate:
        unary([](double a) { return -a; });
        break;
      case Kind::abs:
        unary([](double a) { return std::fabs(a); });
        break;
      case Kind::sqrt:
        unary([](double a) { return std::sqrt(a); });
        break;
      case Kind::exp:
        unary([](double a) { return std::exp(a); });
        break;
      case Kind::log:
        unary([](double a) { return std::log(a); });
        break;
      case Kind::floor:
        unary([](double a) { return std::floor(a); });
        break;
      case Kind::add:
        binary([](double a, double b) { return a + b; });
        break;
      case Kind::subtract:
        binary([](double a, double b) { return a - b; });
        break;
      case Kind::multiply:
        binary([](double a, double b) { return a * b; });
        break;
      case Kind::divide:
        binary([](double a, double b) { return a / b; });
        break;
      case Kind::power:
        binary([](double a, double b) { return std::pow(a, b); });
        break;
      case Kind::min:
        binary(smaller);
        break;
      case Kind::max:
        binary(larger);
        break;
      case Kind::less:
        binary([](double a, double b) { return a < b; });
        break;
      case Kind::less_or_equal:
        binary([](double a, double b) { return a <= b; });
        break;
      case Kind::greater:
        binary([](double a, double b) { return a > b; });
        break;
      case Kind::greater_or_equal:
        binary([](double a, double b) { return a >= b; });
        break;
      case Kind::equal:
        binary([](double a, double b) { return a == b; });
        break;
      case Kind::not_equal:
        binary([](double a, double b) { return a != b; });
        break;
      case Kind::logical_not:
        unary([](double a) { return a == 0 ? 1.0 : 0.0; });
        break;
      case Kind::logical_and:
        binary([](double a, double b) { return a != 0 && b != 0; });
        break;
      case Kind::logical_or:
        binary([](double a, double b) { return a != 0 || b != 0; });
        break;
    }
  }
  return stack.back();
}

bool Formula::holds(const Value& configuration) const {
  const bool is_whole = std::all_of(program_.begin(), program_.end(), [&](const Instruction& instruction) {
    return instruction.keys.empty() || configuration.at_keys(instruction.keys) != nullptr;
  });
  std::vector<double> stack;
  return !is_whole || number(configuration, {}, stack) != 0;
}

std::string Formula::values_of(const Value& configuration) const {
  std::string text;
  std::vector<std::vector<std::string>> named;
  for (const Instruction& instruction : program_) {
    const Value* value = instruction.keys.empty() ? nullptr : configuration.at_keys(instruction.keys);
    if (value == nullptr || std::find(named.begin(), named.end(), instruction.keys) != named.end()) {
      continue;
    }
    named.push_back(instruction.keys);
    text += text.empty() ? "" : ", ";
    for (std::size_t i = 0; i < instruction.keys.size(); ++i) {
      text += (i > 0 ? "." : "") + instruction.keys[i];
    }
    text += " " + quoted(*value);
  }
  return text;
}

}  // namespace hpsearch::engine
