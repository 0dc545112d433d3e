#include "hpsearch/engine/base/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

namespace hpsearch::engine {

namespace {

// Length of the well-formed UTF-8 sequence at the start of `text`, or 0 when there is none (RFC 3629: no
// overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t utf8_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) {
    return 1;
  }
  std::size_t length = 0;
  unsigned char lowest = 0x80;
  unsigned char highest = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    lowest = lead == 0xE0 ? 0xA0 : 0x80;
    highest = lead == 0xED ? 0x9F : 0xBF;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    lowest = lead == 0xF0 ? 0x90 : 0x80;
    highest = lead == 0xF4 ? 0x8F : 0xBF;
  }
  if (length == 0 || text.size() < length || byte(1) < lowest || byte(1) > highest) {
    return 0;
  }
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) {
      return 0;
    }
  }
  return length;
}

/// How a value is laid out as JSON.
enum class JsonForm { compact, python };

void append_escape(std::string& out, unsigned code) {
  constexpr std::string_view hex = "0123456789abcdef";
  out += "\\u";
  for (const unsigned shift : {12U, 8U, 4U, 0U}) {
    out += hex[(code >> shift) & 0xFU];
  }
}

/// One character beyond ASCII, of `letter`'s bytes, as UTF-16 escapes.
void append_escaped(std::string& out, std::string_view letter) {
  const auto byte = [&](std::size_t i) {
    return static_cast<unsigned>(static_cast<unsigned char>(letter[i]));
  };
  unsigned code = byte(0) & (0xFFU >> (letter.size() + 1));
  for (std::size_t i = 1; i < letter.size(); ++i) {
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  if (code < 0x10000) {
    append_escape(out, code);
    return;
  }
  code -= 0x10000;
  append_escape(out, 0xD800U | (code >> 10U));
  append_escape(out, 0xDC00U | (code & 0x3FFU));
}

/// Whether each form of JSON has the letter as it is.
bool is_plain(char letter) noexcept {
  return letter >= ' ' && letter < 0x7f && letter != '"' && letter != '\\';
}

void append_quoted(std::string& out, std::string_view text, JsonForm form) {
  out += '"';
  while (!text.empty()) {
    const auto plain = static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
    if (plain > 0) {
      out.append(text.substr(0, plain));
      text.remove_prefix(plain);
      continue;
    }
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      // Output of programs may hold any bytes, but JSON may not.
      out += form == JsonForm::python ? "\\ufffd" : "\xEF\xBF\xBD";
      text.remove_prefix(1);
      continue;
    }
    const char letter = text.front();
    if (length > 1 && form == JsonForm::python) {
      append_escaped(out, text.substr(0, length));
    } else if (length > 1) {
      out.append(text.substr(0, length));
    } else if (letter == '"' || letter == '\\') {
      out += '\\';
      out += letter;
    } else if (letter == 0x7f && form == JsonForm::compact) {
      out += letter;
    } else if (letter == '\n') {
      out += "\\n";
    } else if (letter == '\t') {
      out += "\\t";
    } else if (letter == '\r') {
      out += "\\r";
    } else if (letter == '\b') {
      out += "\\b";
    } else if (letter == '\f') {
      out += "\\f";
    } else {
      append_escape(out, static_cast<unsigned char>(letter));
    }
    text.remove_prefix(length);
  }
  out += '"';
}

void append_json(std::string& out, const Value& value, JsonForm form) {
  const bool spaced = form == JsonForm::python;
  if (const auto* map = value.as_map()) {
    out += '{';
    for (auto member = map->begin(); member != map->end(); ++member) {
      if (member != map->begin()) {
        out += spaced ? ", " : ",";
      }
      append_quoted(out, member->first, form);
      out += spaced ? ": " : ":";
      append_json(out, member->second, form);
    }
    out += '}';
  } else if (const auto* list = value.as_list()) {
    out += '[';
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (i != 0) {
        out += spaced ? ", " : ",";
      }
      append_json(out, (*list)[i], form);
    }
    out += ']';
  } else if (const auto* text = value.as_text()) {
    append_quoted(out, *text, form);
  } else if (const auto* real = value.as_real()) {
    if (!std::isfinite(*real) && form == JsonForm::python) {
      out += std::isnan(*real) ? "NaN" : *real > 0 ? "Infinity" : "-Infinity";
    } else if (std::isnan(*real)) {
      out += R"({"class":"nan"})";
    } else if (std::isinf(*real)) {
      out += *real > 0 ? R"({"class":"+inf"})" : R"({"class":"-inf"})";
    } else {
      out += python_float(*real);
    }
  } else if (const auto* integer = value.as_integer()) {
    out += std::to_string(*integer);
  } else if (const auto* boolean = value.as_bool()) {
    out += *boolean ? "true" : "false";
  } else {
    out += "null";
  }
}

}  // namespace

std::string short_number(double number) {
  if (!std::isfinite(number)) {
    return python_float(number);
  }
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::general, 6).ptr;
  return std::string(buffer, end);
}

std::string python_float(double number) {
  if (std::isnan(number)) {
    return "nan";
  }
  if (std::isinf(number)) {
    return number > 0 ? "inf" : "-inf";
  }
  // Shortest digits come from to_chars as "d.ddde±xx"; the layout is repr()'s: an exponent only when the
  // decimal point would stand more than 16 places right of the first digit or 3 zeros left of it.
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific).ptr;
  std::string_view written(buffer, static_cast<std::size_t>(end - buffer));
  std::string out;
  if (written.front() == '-') {
    out += '-';
    written.remove_prefix(1);
  }
  const std::size_t e = written.find('e');
  std::string digits(1, written.front());
  if (e > 2) {
    digits.append(written.substr(2, e - 2));
  }
  int exponent = 0;
  const char* exponent_begin = written.data() + e + (written[e + 1] == '+' ? 2 : 1);
  std::from_chars(exponent_begin, written.data() + written.size(), exponent);

  if (exponent < -4 || exponent >= 16) {
    out += digits.front();
    if (digits.size() > 1) {
      out += '.';
      out.append(digits, 1);
    }
    out += exponent < 0 ? "e-" : "e+";
    const std::string places = std::to_string(std::abs(exponent));
    if (places.size() < 2) {
      out += '0';
    }
    return out += places;
  }
  if (exponent < 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-exponent - 1), '0');
    return out += digits;
  }
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) {
    out += digits;
    out.append(whole - digits.size(), '0');
    return out += ".0";
  }
  out.append(digits, 0, whole);
  out += '.';
  out.append(digits, whole);
  return out;
}

std::string python_text(const Value& value) {
  if (value.is_null()) {
    return "None";
  }
  if (const auto* boolean = value.as_bool()) {
    return *boolean ? "True" : "False";
  }
  if (const auto* text = value.as_text()) {
    return *text;
  }
  if (const auto* real = value.as_real()) {
    return python_float(*real);
  }
  return compact_json(value);
}

std::string compact_json(const Value& value) {
  std::string out;
  append_json(out, value, JsonForm::compact);
  return out;
}

std::string python_json(const Value& value) {
  std::string out;
  append_json(out, value, JsonForm::python);
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Optimal string alignment: the last two rows are enough to see a swap of neighbours.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    above[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace hpsearch::engine
