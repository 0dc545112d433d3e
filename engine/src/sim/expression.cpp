#include "hpsearch/engine/sim/expression.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::engine::sim {
namespace {

using Instruction = Expression::Instruction;
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
constexpr std::string_view names[] = {"trial", "length", "op", "nan", "inf", "pi"};

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
  Parser(std::string_view text, const Space& space) : text_(text), space_(space) {}

  Result<std::vector<Instruction>> parse() {
    sum();
    skip_blanks();
    if (!problem_ && at_ < text_.size()) {
      fail(at_, "\"" + std::string(1, text_[at_]) + "\" is not expected here (an operator or the end is)");
    }
    if (problem_) {
      return *problem_;
    }
    return std::move(program_);
  }

 private:
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

  void emit(Kind kind) { program_.push_back(Instruction{kind, 0, {}}); }
  void emit_number(double number) { program_.push_back(Instruction{Kind::number, number, {}}); }

  void sum() {
    product();
    while (!problem_) {
      if (take("+")) {
        product();
        emit(Kind::add);
      } else if (take("-")) {
        product();
        emit(Kind::subtract);
      } else {
        return;
      }
    }
  }

  void product() {
    sign();
    while (!problem_) {
      skip_blanks();
      if (text_.substr(at_, 2) != "**" && take("*")) {
        sign();
        emit(Kind::multiply);
      } else if (take("/")) {
        sign();
        emit(Kind::divide);
      } else {
        return;
      }
    }
  }

  void sign() {
    if (++depth_ > deepest) {
      fail(at_, "nested more than " + std::to_string(deepest) + " deep");
      return;
    }
    if (take("-")) {
      sign();
      emit(Kind::negate);
    } else if (take("+")) {
      sign();
    } else {
      power();
    }
    --depth_;
  }

  void power() {
    primary();
    if (!problem_ && (take("^") || take("**"))) {
      sign();
      emit(Kind::power);
    }
  }

  void primary() {
    skip_blanks();
    if (problem_) {
      return;
    }
    if (at_ == text_.size()) {
      fail(at_, "the expression ends where a number, a name or \"(\" is expected");
    } else if (is_digit(text_[at_]) || text_[at_] == '.') {
      number();
    } else if (is_letter(text_[at_]) || text_[at_] == '"') {
      name();
    } else if (take("(")) {
      sum();
      close();
    } else {
      fail(at_, "\"" + std::string(1, text_[at_]) + "\" is not expected here (a number, a name or \"(\" is)");
    }
  }

  void close() {
    if (!problem_ && !take(")")) {
      fail(at_, "\")\" is missing");
    }
  }

  void number() {
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

  void name() {
    const std::size_t begin = at_;
    std::string word;
    bool quoted = false;
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
        return;
      }
      word += text_.substr(at_ + 1, end - at_ - 1);
      at_ = end;
      quoted = true;
    }
    if (quoted) {
      hyperparameter(word, begin);
      return;
    }
    const auto* function = std::find_if(std::begin(functions), std::end(functions),
                                        [&](const Function& known) { return known.name == word; });
    if (function != std::end(functions)) {
      call(*function, begin);
    } else if (word == "trial") {
      emit(Kind::trial);
    } else if (word == "length") {
      emit(Kind::length);
    } else if (word == "op") {
      emit(Kind::op);
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
    sum();
    std::size_t arguments = 1;
    while (!problem_ && take(",")) {
      sum();
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

  void hyperparameter(std::string_view word, std::size_t begin) {
    const bool full = word.starts_with("hp.");
    const std::string_view wanted = full ? word.substr(3) : word;
    const Space::Leaf* found = nullptr;
    for (const Space::Leaf& leaf : space_.leaves()) {
      const bool exact = leaf.path == wanted;
      if (exact || (!full && leaf.keys.back() == wanted)) {
        if (found != nullptr && found->path != wanted && !exact) {
          fail(begin, "\"" + std::string(word) + "\" may mean " + spelled(found->path) + " or " +
                          spelled(leaf.path));
          return;
        }
        found = exact || found == nullptr ? &leaf : found;
      }
    }
    if (found == nullptr) {
      unknown(word, begin);
      return;
    }
    if (!is_numeric(found->parameter)) {
      fail(begin, "hyperparameter \"" + found->path + "\" is not always a number");
      return;
    }
    program_.push_back(Instruction{Kind::hyperparameter, 0, found->keys});
  }

  void unknown(std::string_view word, std::size_t begin) {
    std::vector<std::string> known;
    if (text_[begin] != '"') {
      known.assign(std::begin(names), std::end(names));
      for (const Function& function : functions) {
        known.emplace_back(function.name);
      }
    }
    for (const Space::Leaf& leaf : space_.leaves()) {
      known.push_back(leaf.keys.back());
      known.push_back("hp." + leaf.path);
    }
    const std::string nothing = "there is no \"" + std::string(word) + "\"";
    const std::string_view rest = text_.substr(begin);
    for (const Space::Leaf& leaf : space_.leaves()) {  // batch-size without its quotes is batch less size.
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
    std::string list = "known: trial, length, op, nan, inf, pi";
    for (const Function& function : functions) {
      list += ", " + std::string(function.name) + "()";
    }
    std::size_t told = 0;
    for (const Space::Leaf& leaf : space_.leaves()) {
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
  const Space& space_;
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

Result<std::unique_ptr<Expression>> Expression::parse(std::string_view text, const Space& space) {
  Result<std::vector<Instruction>> program = Parser(text, space).parse();
  if (!program) {
    return program.error();
  }
  return std::unique_ptr<Expression>(new Expression(std::move(*program)));
}

double Expression::metric(const Training& training, Units length) {
  std::vector<double>& stack = stack_;
  stack.clear();
  const auto binary = [&](auto operation) {
    const double right = stack.back();
    stack.pop_back();
    stack.back() = operation(stack.back(), right);
  };
  const auto unary = [&](auto operation) { stack.back() = operation(stack.back()); };
  for (const Instruction& instruction : program_) {
    switch (instruction.kind) {
      case Kind::number:
        stack.push_back(instruction.number);
        break;
      case Kind::trial:
        stack.push_back(static_cast<double>(training.trial.number()));
        break;
      case Kind::length:
        stack.push_back(static_cast<double>(count(length)));
        break;
      case Kind::op:
        stack.push_back(static_cast<double>(training.op));
        break;
      case Kind::hyperparameter: {
        const Value* value = training.hparams.at_keys(instruction.keys);
        constexpr double none = std::numeric_limits<double>::quiet_NaN();
        stack.push_back(value == nullptr ? none : value->number_or(none));
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
    }
  }
  return stack.back();
}

}  // namespace hpsearch::engine::sim
