#include "hpsearch/proto/views/trial_filter.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::views {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Value;

namespace {

constexpr std::size_t most_bytes = 4096;
constexpr int deepest = 50;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::optional<double> number_of(const Value& value) {
  return value.is_number() ? std::optional(value.number_or(0)) : proto::real_of(value);
}

}  // namespace

struct TrialFilter::Node {
  enum class Kind { both, either, no, less, at_most, more, at_least, equal, unequal };
  Kind kind = Kind::both;
  std::shared_ptr<const Node> left;
  std::shared_ptr<const Node> right;
  std::string name;
  Value value;
};

int compare_values(const Value& a, const Value& b) {
  if (a.as_integer() != nullptr && b.as_integer() != nullptr) {
    return *a.as_integer() < *b.as_integer() ? -1 : *a.as_integer() > *b.as_integer() ? 1 : 0;
  }
  const std::optional<double> left = number_of(a);
  const std::optional<double> right = number_of(b);
  if (left && right) {
    return *left < *right ? -1 : *left > *right ? 1 : 0;
  }
  const auto rank = [](const Value& value, bool is_number) {
    return value.is_null() ? 2 : is_number ? 0 : 1;
  };
  const int of_a = rank(a, left.has_value());
  const int of_b = rank(b, right.has_value());
  if (of_a != of_b) {
    return of_a < of_b ? -1 : 1;
  }
  const std::string text = lower(engine::python_text(a));
  const std::string other = lower(engine::python_text(b));
  return text < other ? -1 : text > other ? 1 : 0;
}

namespace {

using Node = TrialFilter::Node;
using Kind = Node::Kind;
using NodePointer = std::shared_ptr<const Node>;

/// Reads by descent; what is wrong first is kept.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  NodePointer whole() {
    NodePointer node = either(0);
    skip();
    if (at_ < text_.size()) {
      fail("and, or, or the end");
    }
    return node;
  }
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  [[nodiscard]] std::vector<std::string> take_names() { return std::move(names_); }

 private:
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
      ++at_;
    }
  }
  NodePointer fail(const std::string& wanted) {
    if (problem_.empty()) {
      const std::string found = at_ < text_.size() ? "\"" + std::string(text_.substr(at_, 20)) + "\" is"
                                                   : std::string("the end is");
      problem_ = found + " where " + wanted + " belongs";
    }
    at_ = text_.size();
    return nullptr;
  }
  [[nodiscard]] static bool is_letter(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' || c == '+' ||
           c == '/' || static_cast<unsigned char>(c) >= 0x80;
  }
  bool takes(std::string_view word) {
    skip();
    const std::size_t end = at_ + word.size();
    const bool there =
        lower(text_.substr(at_, word.size())) == word && (end >= text_.size() || !is_letter(text_[end]));
    at_ += there ? word.size() : 0;
    return there;
  }
  /// A word, or what stands in quotes.
  std::optional<std::string> word(bool& quoted) {
    skip();
    quoted = at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'');
    if (quoted) {
      const std::size_t end = text_.find(text_[at_], at_ + 1);
      if (end == std::string_view::npos) {
        return std::nullopt;
      }
      std::string inside(text_.substr(at_ + 1, end - at_ - 1));
      at_ = end + 1;
      return inside;
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_letter(text_[at_])) {
      ++at_;
    }
    return at_ > begin ? std::optional(std::string(text_.substr(begin, at_ - begin))) : std::nullopt;
  }
  static NodePointer join(Kind kind, NodePointer left, NodePointer right) {
    auto node = std::make_shared<Node>();
    node->kind = kind;
    node->left = std::move(left);
    node->right = std::move(right);
    return node;
  }
  NodePointer either(int depth) {
    NodePointer node = both(depth);
    while (problem_.empty() && takes("or")) {
      node = join(Kind::either, std::move(node), both(depth));
    }
    return node;
  }
  NodePointer both(int depth) {
    NodePointer node = single(depth);
    while (problem_.empty() && takes("and")) {
      node = join(Kind::both, std::move(node), single(depth));
    }
    return node;
  }
  NodePointer single(int depth) {
    if (depth > deepest) {
      return fail("something less deep");
    }
    if (takes("not")) {
      return join(Kind::no, single(depth + 1), nullptr);
    }
    skip();
    if (at_ < text_.size() && text_[at_] == '(') {
      ++at_;
      NodePointer node = either(depth + 1);
      skip();
      if (at_ >= text_.size() || text_[at_] != ')') {
        return fail("a closing parenthesis");
      }
      ++at_;
      return node;
    }
    return comparison();
  }
  NodePointer comparison() {
    auto node = std::make_shared<Node>();
    bool quoted = false;
    const auto name = word(quoted);
    if (!name) {
      return fail("a name");
    }
    skip();
    constexpr std::pair<std::string_view, Kind> signs[] = {
        {"<=", Kind::at_most}, {">=", Kind::at_least}, {"==", Kind::equal}, {"!=", Kind::unequal},
        {"<", Kind::less},     {">", Kind::more},      {"=", Kind::equal}};
    const auto* sign = std::find_if(std::begin(signs), std::end(signs), [this](const auto& one) {
      return text_.substr(at_).starts_with(one.first);
    });
    if (sign == std::end(signs)) {
      return fail("one of < <= > >= = !=");
    }
    at_ += sign->first.size();
    const auto value = word(quoted);
    if (!value) {
      return fail("a value");
    }
    node->kind = sign->second;
    node->name = *name;
    node->value = quoted ? Value(*value) : value_of(*value);
    if (std::find(names_.begin(), names_.end(), *name) == names_.end()) {
      names_.push_back(*name);
    }
    return node;
  }
  static Value value_of(const std::string& word) {
    if (const auto number = engine::number_in<double>(word)) {
      return *number;
    }
    const std::string small = lower(word);
    if (small == "true" || small == "false") {
      return small == "true";
    }
    return small == "none" || small == "null" ? Value() : Value(word);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string problem_;
  std::vector<std::string> names_;
};

bool holds_of(const Node& node, const TrialFilter::Lookup& lookup) {
  switch (node.kind) {
    case Kind::both:
      return holds_of(*node.left, lookup) && holds_of(*node.right, lookup);
    case Kind::either:
      return holds_of(*node.left, lookup) || holds_of(*node.right, lookup);
    case Kind::no:
      return !holds_of(*node.left, lookup);
    case Kind::less:
    case Kind::at_most:
    case Kind::more:
    case Kind::at_least:
    case Kind::equal:
    case Kind::unequal:
      break;
  }
  const Value value = lookup(node.name);
  const bool comparable = value.is_null() == node.value.is_null() &&
                          number_of(value).has_value() == number_of(node.value).has_value();
  const int order = comparable ? compare_values(value, node.value) : 1;
  switch (node.kind) {
    case Kind::less:
      return comparable && order < 0;
    case Kind::at_most:
      return comparable && order <= 0;
    case Kind::more:
      return comparable && order > 0;
    case Kind::at_least:
      return comparable && order >= 0;
    case Kind::equal:
      return comparable && order == 0;
    case Kind::unequal:
    case Kind::both:
    case Kind::either:
    case Kind::no:
      break;
  }
  return !comparable || order != 0;
}

}  // namespace

Result<TrialFilter> TrialFilter::read(std::string_view text) {
  if (text.size() > most_bytes) {
    return Error{Errc::bad_request, "is longer than 4096 bytes"};
  }
  Reader reader(text);
  TrialFilter filter;
  filter.root_ = reader.whole();
  if (!reader.problem().empty()) {
    return Error{Errc::bad_request, reader.problem() + " (for example: lr<0.01 and state=COMPLETED)"};
  }
  filter.names_ = reader.take_names();
  return filter;
}

bool TrialFilter::holds(const Lookup& lookup) const {
  return holds_of(*root_, lookup);
}

}  // namespace hpsearch::views
