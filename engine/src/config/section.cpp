#include "hpsearch/engine/config/section.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/space/numbers.hpp"

namespace hpsearch::engine {

namespace {

std::optional<bool> boolean_word(std::string_view text) {
  std::string word(text);
  for (char& letter : word) {
    letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  if (word == "true" || word == "yes" || word == "on") {
    return true;
  }
  if (word == "false" || word == "no" || word == "off") {
    return false;
  }
  return std::nullopt;
}

}  // namespace

std::string integers_between(std::uint64_t least, std::uint64_t greatest) {
  return greatest == most_integer
             ? "an integer of at least " + std::to_string(least)
             : "an integer from " + std::to_string(least) + " to " + std::to_string(greatest);
}

std::string path_below(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : std::string(path) + "." + std::string(key);
}

Section::Section(const Value* value, std::string path, Findings& findings)
    : path_(std::move(path)), findings_(findings) {
  if (value == nullptr || value->is_null()) {
    return;
  }
  map_ = value->as_map();
  if (map_ == nullptr) {
    findings_.problems.push_back({path_, "is " + quoted(*value), "a map"});
  }
}

const Value* Section::find(std::string_view key) const noexcept {
  const Value* value = map_ != nullptr ? map_->find(key) : nullptr;
  return value == nullptr || value->is_null() ? nullptr : value;
}

bool Section::has(std::string_view key) const noexcept {
  return find(key) != nullptr;
}

bool Section::empty() const noexcept {
  return map_ == nullptr || std::all_of(map_->begin(), map_->end(), [](const Members::Member& member) {
           return member.second.is_null();
         });
}

const Value* Section::any(std::string_view key) {
  know(key);
  return find(key);
}

const Value* Section::any(std::string_view key, std::string_view other_name, std::string_view& used) {
  used = key;
  const Value* value = any(key);
  const Value* other = find(other_name);
  if (other == nullptr) {
    return value;
  }
  know(other_name);
  if (value != nullptr) {
    problem(other_name, "stands beside `" + std::string(key) + "`, which means the same", "one of them");
    return value;
  }
  used = other_name;
  note(other_name, "read as `" + std::string(key) + "`");
  return other;
}

std::optional<bool> Section::boolean(std::string_view key) {
  const Value* value = any(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  std::optional<bool> found;
  if (const bool* boolean = value->as_bool()) {
    found = *boolean;
  } else if (const std::string* text = value->as_text()) {
    found = boolean_word(*text);
  }
  if (!found) {
    wrong(key, *value, "true or false");
  }
  return found;
}

std::optional<std::uint64_t> Section::integer(std::string_view key, std::uint64_t least,
                                              std::uint64_t greatest) {
  const Value* value = any(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  const std::optional<std::int64_t> number = whole_number(*value);
  if (!number || *number < 0 || static_cast<std::uint64_t>(*number) < least ||
      static_cast<std::uint64_t>(*number) > greatest) {
    const double* real = value->as_real();
    const bool too_large_to_be_exact = real != nullptr && *real >= 0x1p53;
    wrong(
        key, *value,
        integers_between(least, greatest) + (too_large_to_be_exact ? ", from 2^53 on in plain digits" : ""));
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(*number);
}

std::optional<double> Section::number(std::string_view key) {
  const Value* value = any(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  const std::optional<double> number = finite_number(*value);
  if (!number) {
    wrong(key, *value, "a number");
  }
  return number;
}

std::optional<double> Section::number_above(std::string_view key, double bound) {
  const Value* value = any(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  const std::optional<double> number = finite_number(*value);
  if (!number || !(*number > bound)) {
    const bool is_whole = bound == static_cast<double>(static_cast<std::int64_t>(bound));
    wrong(key, *value,
          "a number above " +
              (is_whole ? std::to_string(static_cast<std::int64_t>(bound)) : python_float(bound)));
    return std::nullopt;
  }
  return number;
}

std::optional<std::string> Section::text(std::string_view key) {
  const Value* value = any(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  const std::string* text = value->as_text();
  if (text == nullptr) {
    wrong(key, *value,
          value->is_number() || value->as_bool() != nullptr ? "a string; put it in quotes" : "a string");
    return std::nullopt;
  }
  return *text;
}

std::optional<std::string> Section::text_in(std::string_view key, std::span<const std::string_view> allowed) {
  const Value* value = any(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  const std::string* text = value->as_text();
  if (text == nullptr || std::find(allowed.begin(), allowed.end(), *text) == allowed.end()) {
    const std::string_view meant = text != nullptr ? nearest(*text, allowed) : std::string_view();
    wrong(key, *value,
          (meant.empty() ? std::string() : "did you mean `" + std::string(meant) + "`? ") + any_of(allowed));
    return std::nullopt;
  }
  return *text;
}

const Value::Map* Section::map(std::string_view key) {
  const Value* value = any(key);
  if (value == nullptr) {
    return nullptr;
  }
  if (value->as_map() == nullptr) {
    wrong(key, *value, "a map");
  }
  return value->as_map();
}

const Value::List* Section::list(std::string_view key) {
  const Value* value = any(key);
  if (value == nullptr) {
    return nullptr;
  }
  if (value->as_list() == nullptr) {
    wrong(key, *value, "a list");
  }
  return value->as_list();
}

std::vector<std::string> Section::texts(std::string_view key) {
  std::vector<std::string> found;
  const Value::List* items = list(key);
  for (std::size_t i = 0; items != nullptr && i < items->size(); ++i) {
    const Value& item = (*items)[i];
    if (const std::string* text = item.as_text()) {
      found.push_back(*text);
    } else {
      problem(std::string(key) + "[" + std::to_string(i) + "]", "is " + quoted(item), "a string");
    }
  }
  return found;
}

Section Section::section(std::string_view key) {
  return Section(any(key), path_of(key), findings_);
}

void Section::problem(std::string_view key, std::string what, std::string allowed) {
  findings_.problems.push_back({path_of(key), std::move(what), std::move(allowed)});
}

void Section::note(std::string_view key, std::string what) {
  findings_.notes.push_back({path_of(key), std::move(what), ""});
}

void Section::wrong(std::string_view key, const Value& value, std::string allowed) {
  problem(key, "is " + quoted(value), std::move(allowed));
}

Value::Map Section::unread() const {
  Value::Map members;
  for (const auto& [key, value] : map_ != nullptr ? *map_ : members) {
    if (!value.is_null() && std::find(asked_.begin(), asked_.end(), key) == asked_.end()) {
      members[key] = value;
    }
  }
  return members;
}

void Section::finish() {
  if (map_ == nullptr) {
    return;
  }
  std::sort(asked_.begin(), asked_.end());
  asked_.erase(std::unique(asked_.begin(), asked_.end()), asked_.end());
  for (const auto& [key, value] : *map_) {
    if (std::binary_search(asked_.begin(), asked_.end(), std::string_view(key))) {
      continue;
    }
    const std::string_view meant = nearest(key, asked_);
    if (!meant.empty()) {
      std::erase_if(findings_.problems, [lacking = path_of(meant)](const Problem& found) {
        return found.path == lacking && found.what == is_missing;  // It is there, under this name.
      });
    }
    problem(key, "is not a known field",
            meant.empty() ? "one of " + any_of(asked_) : "did you mean `" + std::string(meant) + "`?");
  }
}

}  // namespace hpsearch::engine
