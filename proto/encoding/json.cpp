#include "hpsearch/proto/encoding/json.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/encoding/utf8.hpp"

namespace hpsearch::proto {
namespace {

using engine::Errc;
using engine::Error;
using engine::Value;

/// Reads text for nlohmann's parser and exposes how far it has read. It is the only way to get the position
/// of values that the parser accepts and that we refuse.
class Cursor {
 public:
  // NOLINTBEGIN(readability-identifier-naming): names the standard library looks for.
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  // NOLINTEND(readability-identifier-naming)

  Cursor(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}

  reference operator*() const { return *at_; }
  Cursor& operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  Cursor operator++(int) {
    Cursor before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const Cursor& a, const Cursor& b) { return a.at_ == b.at_; }
  friend bool operator!=(const Cursor& a, const Cursor& b) { return a.at_ != b.at_; }

 private:
  const char* at_;
  const char** furthest_;
};

/// "line:column", both from 1, of the byte before `end`.
std::string place(std::string_view text, const char* end) {
  std::size_t line = 1;
  std::size_t column = 0;
  for (const char* at = text.data(); at != end; ++at) {
    if (at != text.data() && at[-1] == '\n') {
      ++line;
      column = 0;
    }
    ++column;
  }
  return std::to_string(line) + ":" + std::to_string(column == 0 ? 1 : column);
}

/// The sentence of nlohmann's exception, without the exception's name, position and excerpt.
std::string sentence_of(const std::exception& error) {
  std::string_view text = error.what();
  if (const auto name_end = text.find("] "); name_end != std::string_view::npos) {
    text.remove_prefix(name_end + 2);
  }
  if (text.starts_with("parse error at ")) {
    text.remove_prefix(std::min(text.size(), text.find(": ") + 2));
  }
  text = text.substr(0, text.find("; last read: "));
  return to_utf8(text.substr(0, 200));
}

/// The real for {"class":"nan"} and the like, which JSON can't spell.
std::optional<double> real_of_class(const Value::Map& map) {
  const Value* name = map.size() == 1 ? map.find("class") : nullptr;
  const std::string* text = name == nullptr ? nullptr : name->as_text();
  if (text == nullptr) {
    return std::nullopt;
  }
  if (*text == "nan") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (*text == "+inf") {
    return std::numeric_limits<double>::infinity();
  }
  if (*text == "-inf") {
    return -std::numeric_limits<double>::infinity();
  }
  return std::nullopt;
}

/// nlohmann's parser calls this for each part of the text; false ends the parse.
class ValueBuilder {
 public:
  ValueBuilder(const JsonLimits& limits, NonFinite non_finite) : limits_(limits), non_finite_(non_finite) {}

  bool null() { return add({}); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(std::int64_t value) { return add(value); }
  bool number_unsigned(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return refuse("the integer " + std::to_string(value) +
                    " is out of range (at most 9223372036854775807)");
    }
    return add(static_cast<std::int64_t>(value));
  }
  bool number_float(double value, const std::string& written) {
    if (written.find_first_of(".eE") ==
        std::string::npos) {  // Too long for 64 bits, so the lexer made it a real.
      return refuse("the integer " + written.substr(0, 40) + " is out of range (64 bits with a sign)");
    }
    return add(value);
  }
  bool string(std::string& text) { return add(std::move(text)); }
  bool binary(std::vector<std::uint8_t>& /*bytes*/) { return refuse("binary data is no JSON"); }

  bool start_object(std::size_t /*unknown*/) { return open(true); }
  bool key(std::string& name) {
    Open& around = open_.back();
    if (around.others.empty() && (around.members.empty() || std::prev(around.members.end())->first < name)) {
      around.next = &around.members[name];
      return true;
    }
    const auto [member, is_new] = around.others.try_emplace(std::move(name));
    if (!is_new || around.members.contains(member->first)) {
      return refuse("the key " + engine::compact_json(member->first) + " stands twice");
    }
    around.next = &member->second;
    return true;
  }
  bool end_object() {
    Value::Map map = all_members(open_.back());
    open_.pop_back();
    if (const auto real = non_finite_ == NonFinite::reals ? real_of_class(map) : std::nullopt) {
      return put(*real);
    }
    return put(std::move(map));
  }
  bool start_array(std::size_t /*unknown*/) { return open(false); }
  bool end_array() {
    Value::List items = std::move(open_.back().items);
    open_.pop_back();
    return put(std::move(items));
  }
  bool parse_error(std::size_t /*at*/, const std::string& /*last*/, const std::exception& error) {
    return refuse(sentence_of(error));
  }

  [[nodiscard]] const std::string& refused() const noexcept { return refused_; }
  [[nodiscard]] Value take() noexcept { return std::move(done_); }

 private:
  struct Open {
    bool is_object = false;
    Value::List items;
    Value::Map members;                   // As long as keys ascend, as they do in answers of the daemon.
    std::map<std::string, Value> others;  // From the first one on that does not.
    Value* next = nullptr;                // Where the value of the last key is stored.
  };

  static Value::Map all_members(Open& object) {
    if (object.others.empty()) {
      return std::move(object.members);
    }
    for (const auto& [name, member] : object.members) {
      object.others.try_emplace(name, std::move(*object.members.find(name)));
    }
    Value::Map all;
    for (auto& [name, member] : object.others) {
      all[name] = std::move(member);
    }
    return all;
  }

  bool refuse(std::string why) {
    refused_ = std::move(why);
    return false;
  }

  bool count() {
    return ++nodes_ <= limits_.nodes || refuse("more than " + std::to_string(limits_.nodes) + " values");
  }

  bool open(bool is_object) {
    if (open_.size() == limits_.depth) {
      return refuse("more than " + std::to_string(limits_.depth) + " lists and objects within each other");
    }
    open_.emplace_back().is_object = is_object;
    return count();
  }

  bool add(Value value) { return count() && put(std::move(value)); }

  bool put(Value value) {
    if (open_.empty()) {
      done_ = std::move(value);
    } else if (open_.back().is_object) {
      *open_.back().next = std::move(value);
    } else {
      open_.back().items.push_back(std::move(value));
    }
    return true;
  }

  const JsonLimits& limits_;
  NonFinite non_finite_;
  std::vector<Open> open_;
  Value done_;
  std::size_t nodes_ = 0;
  std::string refused_;
};

void append_pretty(std::string& out, const Value& value, const std::string& indent) {
  const std::string deeper = indent + "  ";
  const char* separator = "";
  const auto begin_entry = [&] {
    out += separator;
    out += deeper;
    separator = ",\n";
  };
  if (const Value::List* items = value.as_list(); items != nullptr && !items->empty()) {
    out += "[\n";
    for (const Value& item : *items) {
      begin_entry();
      append_pretty(out, item, deeper);
    }
    out += "\n" + indent + "]";
  } else if (const Value::Map* members = value.as_map(); members != nullptr && !members->empty()) {
    out += "{\n";
    for (const auto& [name, member] : *members) {
      begin_entry();
      out += engine::compact_json(name) + ": ";
      append_pretty(out, member, deeper);
    }
    out += "\n" + indent + "}";
  } else {
    out += engine::compact_json(value);
  }
}

}  // namespace

engine::Result<Value> parse_json(std::string_view text, const JsonLimits& limits, NonFinite non_finite) {
  if (text.size() > limits.bytes) {
    return Error{Errc::corrupt, "1:1: JSON of " + std::to_string(text.size()) + " bytes (at most " +
                                    std::to_string(limits.bytes) + " are read)"};
  }
  if (const auto nul = text.find('\0');
      nul != std::string_view::npos) {  // The lexer would read it as the end.
    return Error{Errc::corrupt, place(text, text.data() + nul + 1) + ": a NUL byte"};
  }
  try {
    const char* furthest = text.data();
    ValueBuilder builder(limits, non_finite);
    const Cursor begin(text.data(), &furthest);
    const Cursor end(text.data() + text.size(), &furthest);
    if (!nlohmann::json::sax_parse(begin, end, &builder)) {
      return Error{Errc::corrupt, place(text, furthest) + ": " + builder.refused()};
    }
    return builder.take();
  } catch (const std::bad_alloc&) {
    return Error{Errc::corrupt, "1:1: JSON that needs more memory than there is"};
  }
}

std::optional<double> real_of(const Value& value) {
  if (value.is_number()) {
    return value.number_or(0);
  }
  return value.as_map() != nullptr ? real_of_class(*value.as_map()) : std::nullopt;
}

std::string pretty_json(const Value& value) {
  std::string out;
  append_pretty(out, value, "");
  return out;
}

}  // namespace hpsearch::proto
