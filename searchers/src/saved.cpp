#include "saved.hpp"

#include <string>

#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::searchers {

using engine::Score;
using engine::Value;

Value saved_count(std::uint64_t count) {
  HPSEARCH_CHECK(count <= INT64_MAX, "what is counted stays below 2^63");
  return static_cast<std::int64_t>(count);
}

Value saved_score(Score score) {
  const std::optional<double> number = score.metric(engine::Goal::minimize);
  return number ? Value(*number) : Value();
}

std::optional<engine::Cardinality> cardinality_of(std::string_view digits) noexcept {
  constexpr engine::Cardinality most = ~engine::Cardinality{0};
  engine::Cardinality number = 0;
  for (const char digit : digits) {
    const auto value = static_cast<unsigned>(digit - '0');
    if (value > 9 || number > (most - value) / 10) {
      return std::nullopt;
    }
    number = number * 10 + value;
  }
  return digits.empty() ? std::nullopt : std::optional(number);
}

engine::Error corrupt(std::string_view what) {
  return engine::Error{engine::Errc::corrupt, "saved searcher: " + std::string(what)};
}

SavedRow::SavedRow(const Value& saved, std::size_t elements) noexcept
    : elements_(saved.as_list()), good_(elements_ != nullptr && elements_->size() == elements) {
}

const Value* SavedRow::take() noexcept {
  if (!good_ || next_ >= elements_->size()) {
    good_ = false;
    return nullptr;
  }
  return &(*elements_)[next_++];
}

std::uint64_t SavedRow::count() noexcept {
  const Value* element = take();
  const std::int64_t* number = element == nullptr ? nullptr : element->as_integer();
  good_ = number != nullptr && *number >= 0;
  return good_ ? static_cast<std::uint64_t>(*number) : 0;
}

std::uint64_t SavedRow::count_below(std::uint64_t bound) noexcept {
  const std::uint64_t number = count();
  good_ = good_ && number < bound;
  return good_ ? number : 0;
}

std::optional<std::uint64_t> SavedRow::count_or_null() noexcept {
  if (good_ && next_ < elements_->size() && (*elements_)[next_].is_null()) {
    ++next_;
    return std::nullopt;
  }
  return count();
}

Score SavedRow::score() noexcept {
  const Value* element = take();
  if (element == nullptr || element->is_null()) {
    return Score::worst();
  }
  good_ = element->is_number();
  return Score::from_metric(element->number_or(0), engine::Goal::minimize);
}

SavedMap::SavedMap(const Value& saved, std::string_view kind) noexcept
    : members_(saved.as_map()), good_(false) {
  if (members_ != nullptr) {
    const Value* spelled = members_->find("kind");
    good_ = spelled != nullptr && spelled->as_text() != nullptr && *spelled->as_text() == kind;
  }
}

const Value& SavedMap::value(std::string_view key) noexcept {
  static const Value nothing;
  const Value* found = good_ ? members_->find(key) : nullptr;
  good_ = found != nullptr;
  return good_ ? *found : nothing;
}

const std::string& SavedMap::text(std::string_view key) noexcept {
  static const std::string nothing;
  const std::string* found = value(key).as_text();
  good_ = good_ && found != nullptr;
  return good_ ? *found : nothing;
}

std::uint64_t SavedMap::count(std::string_view key) noexcept {
  const std::int64_t* number = value(key).as_integer();
  good_ = good_ && number != nullptr && *number >= 0;
  return good_ ? static_cast<std::uint64_t>(*number) : 0;
}

engine::Cardinality SavedMap::cardinality(std::string_view key) noexcept {
  const std::string* digits = value(key).as_text();
  const auto number = digits == nullptr ? std::nullopt : cardinality_of(*digits);
  good_ = good_ && number.has_value();
  return good_ ? *number : 0;
}

double SavedMap::fraction(std::string_view key) noexcept {
  const double number = value(key).number_or(-1);
  good_ = good_ && number >= 0 && number <= 1;
  return good_ ? number : 0;
}

bool SavedMap::flag(std::string_view key) noexcept {
  const bool* set = value(key).as_bool();
  good_ = good_ && set != nullptr;
  return good_ && *set;
}

const Value::List& SavedMap::list(std::string_view key) noexcept {
  static const Value::List nothing;
  const Value::List* found = value(key).as_list();
  good_ = good_ && found != nullptr;
  return good_ ? *found : nothing;
}

}  // namespace hpsearch::searchers
