#include "hpsearch/proto/views/page_cursor.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::views {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Value;

namespace {

constexpr std::size_t most_keys = 8;
constexpr std::size_t most_cursor_bytes = 4'000;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::optional<double> number_of(const Value& value) {
  return value.is_number() ? std::optional(value.number_or(0)) : proto::real_of(value);
}

Error wrong_cursor() {
  return {Errc::bad_request, "after is not what `next` of a page with the same sort says"};
}

}  // namespace

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

Result<std::vector<SortKey>> read_sort(std::string_view text) {
  std::vector<SortKey> keys;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    std::string_view name = text.substr(begin, comma - begin);
    const bool is_reversed = name.starts_with('-');
    name.remove_prefix(is_reversed ? 1 : 0);
    if (name.empty()) {
      return Error{Errc::bad_request,
                   "sort: a name is missing; it has to be NAME or -NAME, with commas between"};
    }
    keys.push_back({std::string(name), is_reversed});
    begin = comma + 1;
  }
  if (keys.size() > most_keys) {
    return Error{Errc::bad_request, "sort: at most " + std::to_string(most_keys) + " names are allowed"};
  }
  return keys;
}

std::string PageCursor::text() const {
  Value::List all = keys;
  all.emplace_back(static_cast<std::int64_t>(number));
  return engine::hex_of(engine::compact_json(all));
}

Result<PageCursor> PageCursor::read(std::string_view text, std::size_t keys) {
  const auto json = text.size() > most_cursor_bytes ? std::nullopt : engine::bytes_of_hex(text);
  if (!json) {
    return wrong_cursor();
  }
  const auto value = proto::parse_json(*json);
  const Value::List* list = value ? value->as_list() : nullptr;
  if (list == nullptr || list->size() != keys + 1 || list->back().as_integer() == nullptr ||
      *list->back().as_integer() < 0) {
    return wrong_cursor();
  }
  PageCursor cursor;
  cursor.keys.assign(list->begin(), list->end() - 1);
  cursor.number = static_cast<std::uint64_t>(*list->back().as_integer());
  return cursor;
}

bool SortedPage::is_before(const Entry& a, const Entry& b) const {
  for (std::size_t i = 0; i < sort_.size(); ++i) {
    const Value& left = a.keys[i];
    const Value& right = b.keys[i];
    if (left.is_null() != right.is_null()) {
      return right.is_null();
    }
    const int order = left.is_null() ? 0 : compare_values(left, right);
    if (order != 0) {
      return sort_[i].is_reversed ? order > 0 : order < 0;
    }
  }
  return a.number < b.number;
}

}  // namespace hpsearch::views
