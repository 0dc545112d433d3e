#include "cli/render/text.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/encoding/utf8.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

/// Replaces a byte that is not a part of any character.
constexpr char32_t broken = 0xffffffff;

/// The code point that begins at `at`, which is moved after it.
char32_t take_point(std::string_view text, std::size_t& at) noexcept {
  const std::size_t length = proto::utf8_length(text.substr(at, 4));
  const auto lead = static_cast<unsigned char>(text[at]);
  if (length <= 1) {
    ++at;
    return length == 1 ? lead : broken;
  }
  char32_t point = lead & (0xffU >> (length + 1));
  for (std::size_t k = 1; k < length; ++k) {
    point = (point << 6U) | (static_cast<unsigned char>(text[at + k]) & 0x3fU);
  }
  at += length;
  return point;
}

std::size_t columns_of(char32_t point) noexcept {
  if ((point >= 0x300 && point <= 0x36f) || (point >= 0x200b && point <= 0x200d) || point == 0xfe0f) {
    return 0;
  }
  // The blocks with wide East Asian Width: Hangul Jamo, CJK, Hangul, compatibility and full-width forms,
  // emoji, the supplementary ideographs.
  const bool wide = (point >= 0x1100 && point <= 0x115f) || (point >= 0x2e80 && point <= 0xa4cf) ||
                    (point >= 0xac00 && point <= 0xd7a3) || (point >= 0xf900 && point <= 0xfaff) ||
                    (point >= 0xfe30 && point <= 0xfe6f) || (point >= 0xff00 && point <= 0xff60) ||
                    (point >= 0xffe0 && point <= 0xffe6) || (point >= 0x1f300 && point <= 0x1faff) ||
                    (point >= 0x20000 && point <= 0x3fffd);
  return wide ? 2 : 1;
}

/// A text as a YAML scalar: plain if every reader reads it as text, otherwise double-quoted (a JSON string).
std::string yaml_scalar(const std::string& text) {
  const auto plain_char = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == '/' || c == ' ';
  };
  const bool begins_with_letter = !text.empty() && ((text.front() >= 'a' && text.front() <= 'z') ||
                                                    (text.front() >= 'A' && text.front() <= 'Z') ||
                                                    text.front() == '_' || text.front() == '/');
  bool word = false;
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (const std::string_view special :
       {"null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf"}) {
    word = word || lower == special;
  }
  if (begins_with_letter && !word && text.back() != ' ' &&
      std::all_of(text.begin(), text.end(), plain_char)) {
    return text;
  }
  return engine::compact_json(Value(text));
}

std::string yaml_leaf(const Value& value) {
  if (const std::string* text = value.as_text()) {
    return yaml_scalar(*text);
  }
  std::string number = engine::compact_json(value);
  if (value.as_real() != nullptr && number.find('.') == std::string::npos) {
    // Readers of YAML 1.1 read "1e-05" as text.
    if (const std::size_t exponent = number.find('e'); exponent != std::string::npos) {
      number.insert(exponent, ".0");
    }
  }
  return number;
}

bool is_block(const Value& value) {
  return (value.as_map() != nullptr && !value.as_map()->empty()) ||
         (value.as_list() != nullptr && !value.as_list()->empty());
}

bool is_flat(const Value::List& list) {
  return std::none_of(list.begin(), list.end(), is_block);
}

void append_yaml(const Value& value, std::size_t indent, bool first_line_open, std::string& out) {
  const std::string spaces(indent, ' ');
  if (const Value::Map* map = value.as_map(); map != nullptr && !map->empty()) {
    for (const auto& [key, inner] : *map) {
      out += first_line_open ? "" : spaces;
      first_line_open = false;
      out += yaml_scalar(key) + ":";
      const Value::List* list = inner.as_list();
      if (list != nullptr && is_flat(*list)) {
        out += " " + engine::compact_json(inner) + "\n";
      } else if (is_block(inner)) {
        out += "\n";
        append_yaml(inner, indent + 2, false, out);
      } else {
        out += " " + yaml_leaf(inner) + "\n";
      }
    }
  } else if (const Value::List* items = value.as_list(); items != nullptr && !items->empty()) {
    for (const Value& item : *items) {
      out += (first_line_open ? "" : spaces) + "- ";
      first_line_open = false;
      if (is_block(item)) {
        append_yaml(item, indent + 2, true, out);
      } else {
        out += yaml_leaf(item) + "\n";
      }
    }
  } else {
    out += (first_line_open ? "" : spaces) + yaml_leaf(value) + "\n";
  }
}

std::string formatted(const char* format, double number) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, number);
  return buffer;
}

}  // namespace

std::size_t display_width(std::string_view text) noexcept {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    width += columns_of(take_point(text, at));
  }
  return width;
}

std::string cut_to_width(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) {
    return std::string(text);
  }
  const std::size_t dots = std::min<std::size_t>(3, width);
  std::size_t used = 0;
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size();) {
    used += columns_of(take_point(text, at));
    if (used > width - dots) {
      break;
    }
    end = at;
  }
  return std::string(text.substr(0, end)) + std::string(dots, '.');
}

std::string cut_in_middle(std::string_view text, std::size_t width) {
  constexpr std::size_t dots = 3;
  if (display_width(text) <= width || width <= dots) {
    return cut_to_width(text, width);
  }
  std::size_t begin = 0;  // The end that stays has half of the columns, rounded down.
  while (display_width(text.substr(begin)) > (width - dots) / 2) {
    take_point(text, begin);
  }
  const std::string_view end = text.substr(begin);
  return cut_to_width(text, width - display_width(end)) + std::string(end);
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t point = take_point(text, at);
    if (point < 0x20 || point == 0x7f || (point >= 0x80 && point < 0xa0) || point == broken) {
      out += '?';
    } else {
      out += text.substr(begin, at - begin);
    }
  }
  return out;
}

std::string duration_text(double seconds) {
  if (!(seconds >= 0)) {
    seconds = 0;
  }
  if (seconds < 9.95) {
    return formatted("%.1f s", seconds);
  }
  const auto whole = static_cast<std::uint64_t>(std::llround(std::min(seconds, 1e15)));
  const auto two = [](std::uint64_t number) { return (number < 10 ? "0" : "") + std::to_string(number); };
  if (whole < 60) {
    return std::to_string(whole) + " s";
  }
  if (whole < 3600) {
    return std::to_string(whole / 60) + " min " + two(whole % 60) + " s";
  }
  if (whole < 86400) {
    return std::to_string(whole / 3600) + " h " + two(whole % 3600 / 60) + " min";
  }
  return std::to_string(whole / 86400) + " d " + two(whole % 86400 / 3600) + " h";
}

std::string age_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(std::clamp(seconds, 0.0, 1e15)));
  return whole < 60      ? std::to_string(whole) + " s"
         : whole < 3600  ? std::to_string(whole / 60) + " min"
         : whole < 86400 ? std::to_string(whole / 3600) + " h"
                         : std::to_string(whole / 86400) + " d";
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 7> units{"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  double number = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; number >= 999.95 && unit + 1 < units.size(); ++unit) {
    number /= 1000;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", number, units[unit]);
  return text.data();
}

std::string percent_text(double fraction) {
  return formatted("%.1f %%", fraction * 100);
}

std::string time_text(double seconds_since_epoch) {
  if (!(seconds_since_epoch > 0)) {
    return "";
  }
  const auto seconds = static_cast<std::time_t>(seconds_since_epoch);
  std::tm parts{};
  if (::localtime_r(&seconds, &parts) == nullptr) {
    return "";
  }
  char buffer[32];
  return std::strftime(buffer, sizeof buffer, "%Y-%m-%d %H:%M:%S", &parts) == 0 ? std::string()
                                                                                : std::string(buffer);
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string clock_text(double then, double now) {
  const std::string whole = time_text(then);
  const std::string today = time_text(now);
  constexpr std::size_t day = std::string_view("2026-11-21").size();
  return whole.size() > day && whole.substr(0, day) == today.substr(0, day)
             ? whole.substr(day + 1, std::string_view("14:02").size())
             : whole;
}

std::string yaml_text(const Value& value, std::size_t indent) {
  std::string out;
  append_yaml(value, indent, false, out);
  return out;
}

std::string last_lines(std::string_view text, std::size_t lines) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  std::size_t begin = text.size();
  for (; lines > 0 && begin > 0; --lines) {
    const std::size_t end = text.rfind('\n', begin - 1);
    if (end == std::string_view::npos) {
      return std::string(text);
    }
    begin = end;
  }
  return begin == text.size() ? std::string() : std::string(text.substr(begin + 1));
}

const Value& member(const Value& map, std::string_view key) noexcept {
  static const Value nothing;
  const Value::Map* members = map.as_map();
  const Value* found = members == nullptr ? nullptr : members->find(key);
  return found == nullptr ? nothing : *found;
}

std::string text_at(const Value& map, std::string_view key) {
  const std::string* text = member(map, key).as_text();
  return text == nullptr ? std::string() : *text;
}

double number_at(const Value& map, std::string_view key, double otherwise) noexcept {
  return member(map, key).number_or(otherwise);
}

std::uint64_t count_at(const Value& map, std::string_view key) noexcept {
  const Value& value = member(map, key);
  const std::int64_t* number = value.as_integer();
  if (number != nullptr) {
    return *number < 0 ? 0 : static_cast<std::uint64_t>(*number);
  }
  const double real = value.number_or(0);
  return real > 0 && real < 1.8e19 ? static_cast<std::uint64_t>(real) : 0;
}

const Value::List& list_at(const Value& map, std::string_view key) noexcept {
  static const Value::List nothing;
  const Value::List* list = member(map, key).as_list();
  return list == nullptr ? nothing : *list;
}

}  // namespace hpsearch::cli
