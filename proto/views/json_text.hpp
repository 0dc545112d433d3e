#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::views {

/// Writes compact JSON directly into a text, so that an answer with many rows needs no tree.
class JsonText {
 public:
  JsonText& open(char bracket) {
    comma();
    text_ += bracket;
    fresh_ = true;
    return *this;
  }
  JsonText& close(char bracket) {
    text_ += bracket;
    fresh_ = false;
    return *this;
  }
  JsonText& key(std::string_view name) {
    comma();
    spell(name);
    text_ += ':';
    fresh_ = true;
    return *this;
  }

  /// null where it is not finite.
  template <std::floating_point Number>
  JsonText& put(Number number) {
    comma();
    if (!std::isfinite(number)) {
      text_ += "null";
      return *this;
    }
    char digits[32];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
    text_.append(digits, end);
    static_cast<void>(error);
    return *this;
  }
  JsonText& put(std::uint64_t number) {
    comma();
    char digits[24];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
    text_.append(digits, end);
    static_cast<void>(error);
    return *this;
  }
  JsonText& put(std::int64_t number) {
    comma();
    char digits[24];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
    text_.append(digits, end);
    static_cast<void>(error);
    return *this;
  }
  JsonText& put(std::uint32_t number) { return put(std::uint64_t{number}); }
  JsonText& put(std::uint16_t number) { return put(std::uint64_t{number}); }
  JsonText& put(bool flag) { return raw(flag ? "true" : "false"); }
  JsonText& put(std::string_view text) {
    comma();
    spell(text);
    return *this;
  }
  JsonText& put(const char* text) { return put(std::string_view(text)); }
  JsonText& put(engine::Units units) { return put(static_cast<std::uint64_t>(engine::count(units))); }
  JsonText& put(engine::Instant at) { return put(static_cast<double>(at.micros()) / 1e6); }
  JsonText& put(engine::Duration time) { return put(time.in_seconds()); }
  template <class Kind>
  JsonText& put(engine::Id<Kind> id) {
    return put(id.number());
  }
  template <class Any>
  JsonText& put(const std::optional<Any>& any) {
    return any ? put(*any) : null();
  }
  JsonText& null() { return raw("null"); }
  JsonText& raw(std::string_view json) {
    comma();
    text_ += json;
    return *this;
  }
  template <class Any>
  JsonText& member(std::string_view name, const Any& any) {
    return key(name).put(any);
  }
  template <class Items>
  JsonText& list(std::string_view name, const Items& items) {
    key(name).open('[');
    for (const auto& item : items) {
      put(item);
    }
    return close(']');
  }

  [[nodiscard]] std::size_t size() const noexcept { return text_.size(); }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void comma() {
    if (!fresh_) {
      text_ += ',';
    }
    fresh_ = false;
  }
  void spell(std::string_view text) { text_ += engine::compact_json(engine::Value(text)); }

  std::string text_;
  bool fresh_ = true;
};

}  // namespace hpsearch::views
