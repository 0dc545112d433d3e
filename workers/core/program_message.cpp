#include "hpsearch/workers/core/program_message.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/utf8.hpp"

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Units;
using engine::Value;

namespace {

// Dotted names repeat their parents, so a short line could become large; this keeps a report far below a
// frame.
constexpr std::size_t max_metric_name_bytes = 256;
constexpr std::size_t max_all_names_bytes = 100 * 1024;
constexpr std::size_t max_metrics = 1000;
constexpr std::size_t max_why_bytes = 4 * 1024;
constexpr std::size_t max_ignored_named = 8;
constexpr std::size_t max_group_bytes = 64;
constexpr std::size_t max_log_bytes = 16 * 1024;
constexpr std::string_view deciding_group = "validation";

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

/// JSON has no NaN and no infinities, but Python prints them; they are replaced by the spelling that proto
/// reads. Outside of strings letters only occur in true, false, null and exponents, so words can be
/// distinguished.
std::string spell_non_finite(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (in_string) {
      const std::size_t taken = c == '\\' && at + 1 < text.size() ? 2 : 1;
      out.append(text.substr(at, taken));
      at += taken;
      in_string = c != '"';
      continue;
    }
    if (!is_letter(c)) {
      in_string = c == '"';
      out.push_back(c);
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end])) {
      ++end;
    }
    const std::string_view word = text.substr(at, end - at);
    if (word == "NaN") {
      out.append(R"({"class":"nan"})");
    } else if (word == "Infinity" && !out.empty() && out.back() == '-') {
      out.pop_back();
      out.append(R"({"class":"-inf"})");
    } else if (word == "Infinity") {
      out.append(R"({"class":"+inf"})");
    } else {
      out.append(word);
    }
    at = end;
  }
  return out;
}

Error wrong(std::string what) {
  return Error{Errc::bad_request, std::move(what)};
}

constexpr const char* separated = "its thousands are separated; print the number without separators";

/// 1,234 and 1_234 and 1'234: one to three digits, followed by groups of three.
bool goes_on_in_thousands(std::string_view printed, std::string_view behind) noexcept {
  constexpr std::string_view separators = ",_'";
  const std::string_view digits =
      printed.substr(printed.starts_with('-') || printed.starts_with('+') ? 1 : 0);
  if (digits.size() > 3 || !std::all_of(digits.begin(), digits.end(), is_digit) || behind.size() < 4 ||
      separators.find(behind.front()) == std::string_view::npos) {
    return false;
  }
  const std::string_view group = behind.substr(1, 3);
  return std::all_of(group.begin(), group.end(), is_digit) && (behind.size() == 4 || !is_digit(behind[4]));
}

/// 1.5k, 3M, 2.1GB: the digits count thousands or more. Other letters are units, as in 12ms.
bool is_shortened(std::string_view behind) noexcept {
  constexpr std::string_view prefixes = "kKMGT";
  if (behind.empty() || prefixes.find(behind.front()) == std::string_view::npos) {
    return false;
  }
  const std::string_view unit = behind.substr(1, behind.find_first_of(" \t,;/|)]", 1) - 1);
  return unit.empty() || unit == "B" || unit == "b" || unit == "iB" || unit == "i";
}

/// Text after a number that changes it, or makes it no number; nothing if the number ends there.
const char* misread(std::string_view printed, std::string_view behind) noexcept {
  const auto digit_at = [behind](std::size_t at) { return at < behind.size() && is_digit(behind[at]); };
  const bool whole = printed.find_first_of(".eEnN") == std::string_view::npos;
  if (behind.empty()) {
    return nullptr;
  }
  if (whole && behind.front() == ',' && digit_at(1)) {  // 0,91 means 0.91 in many countries; 3,0.5 is a list.
    const std::size_t end = behind.find_first_not_of("0123456789", 1);
    const bool is_list = end != std::string_view::npos && (behind[end] == '.' || behind[end] == ',');
    return is_list ? nullptr : "it has a decimal comma, or is a list of whole numbers; print a decimal point";
  }
  if (!whole && behind.front() == '.' && digit_at(1)) {
    return "it has two decimal points";
  }
  const bool signs = behind.size() > 1 && (behind[1] == '-' || behind[1] == '+');
  if ((behind.front() == 'd' || behind.front() == 'D') && digit_at(signs ? 2 : 1)) {
    return "its exponent is written with a D; print it with an e";
  }
  if (printed == "0" && (behind.front() == 'x' || behind.front() == 'X')) {
    return "it is hexadecimal; print a decimal number";
  }
  return nullptr;
}

Result<Value> parse_object(std::string_view text) {
  if (text.size() > max_message_bytes) {
    return wrong("the message has " + std::to_string(text.size()) + " bytes; at most " +
                 std::to_string(max_message_bytes) + " are allowed");
  }
  proto::JsonLimits limits;
  limits.bytes = 4 * max_message_bytes;  // The spelling of NaN makes a text longer.
  Result<Value> value = proto::parse_json(spell_non_finite(text), limits, proto::NonFinite::reals);
  if (!value) {
    return wrong("not a JSON object on one line: " + value.error().message);
  }
  if (value->as_map() == nullptr) {
    return wrong("the message is a " + std::string(value->kind_name()) + "; it must be a JSON object");
  }
  return value;
}

/// A step as programs write it: 3, or 3.0 from programs that compute with floats.
Result<Units> read_step(const Value& value) {
  if (const std::int64_t* integer = value.as_integer(); integer != nullptr && *integer >= 0) {
    return Units{static_cast<std::uint64_t>(*integer)};
  }
  if (const double* real = value.as_real();
      real != nullptr && *real >= 0 && *real <= 9.0e15 && *real == std::floor(*real)) {
    return Units{static_cast<std::uint64_t>(*real)};
  }
  return wrong("step is " + engine::compact_json(value) + "; it must be a whole number of at least 0");
}

struct Flattening {
  MetricsMessage said;
  std::size_t name_bytes = 0;
  std::string problem;
};

void flatten(const std::string& prefix, const Value::Map& members, Flattening& to) {
  for (const auto& [key, value] : members) {
    std::string name = prefix.empty() ? key : prefix + "." + key;
    if (const Value::Map* inner = value.as_map()) {
      flatten(name, *inner, to);
    } else if (name.empty() || name.size() > max_metric_name_bytes) {
      to.problem = "a metric's name has " + std::to_string(name.size()) + " bytes; 1 to " +
                   std::to_string(max_metric_name_bytes) + " are allowed";
    } else if (value.is_number()) {
      to.name_bytes += name.size();
      to.said.metrics.emplace_back(std::move(name), value.number_or(0));
    } else if (to.said.ignored.size() < max_ignored_named) {
      to.said.ignored.push_back(std::move(name));
    }
    if (to.said.metrics.size() > max_metrics) {
      to.problem = "there are more than " + std::to_string(max_metrics) + " metrics in one report";
    }
    if (to.name_bytes > max_all_names_bytes) {
      to.problem = "the names of all metrics together are too long; at most " +
                   std::to_string(max_all_names_bytes) + " bytes are allowed";
    }
    if (!to.problem.empty()) {
      return;
    }
  }
}

/// The prefix of a group's metrics; "" for the group that decides.
Result<std::string> read_group(const Value* group) {
  if (group == nullptr || group->is_null()) {
    return std::string();
  }
  const std::string* name = group->as_text();
  const auto fits = [](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  if (name == nullptr || name->empty() || name->size() > max_group_bytes ||
      !std::all_of(name->begin(), name->end(), fits)) {
    return wrong("group is " + engine::compact_json(*group) +
                 "; it must be a word of letters, digits and _, up to " + std::to_string(max_group_bytes) +
                 R"( bytes, as "training" or "validation")");
  }
  return *name == deciding_group ? std::string() : *name;
}

Result<ProgramMessage> metrics_from(const Value& step, const Value* group, const Value::Map& members) {
  const Result<Units> at = read_step(step);
  if (!at) {
    return at.error();
  }
  const Result<std::string> prefix = read_group(group);
  if (!prefix) {
    return prefix.error();
  }
  Flattening flat;
  flat.said.step = *at;
  flatten(*prefix, members, flat);
  if (!flat.problem.empty()) {
    return wrong(flat.problem);
  }
  // {"a.b":1,"a":{"b":2}} names one metric twice; the first one in the order of the keys counts.
  auto& metrics = flat.said.metrics;
  const auto by_name = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::stable_sort(metrics.begin(), metrics.end(), by_name);
  const auto same_name = [](const auto& a, const auto& b) { return a.first == b.first; };
  metrics.erase(std::unique(metrics.begin(), metrics.end(), same_name), metrics.end());
  return ProgramMessage{std::move(flat.said)};
}

Result<ProgramMessage> read_report(const Value::Map& message) {
  const Value* step = message.find("step");
  if (step == nullptr) {
    return wrong(
        R"("step" is missing; a report looks like {"type":"report","step":3,"metrics":{"loss":0.5}})");
  }
  const Value* metrics = message.find("metrics");
  if (metrics == nullptr || metrics->as_map() == nullptr) {
    return wrong(
        R"("metrics" is missing or no object; a report looks like {"type":"report","step":3,"metrics":{"loss":0.5}})");
  }
  return metrics_from(*step, message.find("group"), *metrics->as_map());
}

Result<ProgramMessage> read_log(const Value::Map& message) {
  for (const char* key : {"text", "message"}) {
    const Value* text = message.find(key);
    if (text != nullptr && text->as_text() != nullptr) {
      return ProgramMessage{RemarkMessage{beginning_of(*text->as_text(), max_log_bytes)}};
    }
  }
  return ProgramMessage{RemarkMessage{}};
}

Result<ProgramMessage> read_progress(const Value::Map& message) {
  RemarkMessage said;
  const Value* fraction = message.find("fraction");
  const double share = fraction != nullptr ? fraction->number_or(-1) : -1;
  if (share >= 0 && share <= 1) {                         // Other values are ignored.
    said.percent = static_cast<int>(share * 100 + 1e-9);  // 0.29 is 29 %.
  }
  return ProgramMessage{said};
}

Result<ProgramMessage> read_checkpoint(const Value::Map& message) {
  CheckpointMessage said;
  if (const Value* step = message.find("step"); step != nullptr && !step->is_null()) {
    const Result<Units> at = read_step(*step);
    if (!at) {
      return at.error();
    }
    said.step = *at;
  }
  return ProgramMessage{said};
}

Result<ProgramMessage> read_invalid(const Value::Map& message) {
  const Value* why = message.find("why");
  InvalidHparamsMessage said;
  if (why != nullptr && why->as_text() != nullptr) {
    said.why = beginning_of(*why->as_text(), max_why_bytes);
  }
  return ProgramMessage{std::move(said)};
}

}  // namespace

std::string beginning_of(std::string_view text, std::size_t most) {
  const std::string_view piece = text.substr(0, most);
  return std::string(piece.size() < text.size()
                         ? piece.substr(0, piece.size() - proto::cut_character_at_end(piece))
                         : piece);
}

ProgramMessage understood(Result<ProgramMessage> message) {
  return message ? *std::move(message)
                 : MisunderstoodMessage{beginning_of(message.error().message, max_why_bytes)};
}

Result<ProgramMessage> parse_socket_line(std::string_view line) {
  const Result<Value> object = parse_object(line);
  if (!object) {
    return object.error();
  }
  const Value::Map& message = *object->as_map();
  const Value* type = message.find("type");
  if (type == nullptr || type->as_text() == nullptr) {
    return wrong(
        R"("type" is missing; it must be "report", "checkpoint", "progress", "log" or "invalid_hyperparameters")");
  }
  const std::string& name = *type->as_text();
  if (name == "report") {
    return read_report(message);
  }
  if (name == "checkpoint") {
    return read_checkpoint(message);
  }
  if (name == "progress") {
    return read_progress(message);
  }
  if (name == "log") {
    return read_log(message);
  }
  if (name == "invalid_hyperparameters") {
    return read_invalid(message);
  }
  constexpr std::array<std::string_view, 5> known{"report", "checkpoint", "progress", "log",
                                                  "invalid_hyperparameters"};
  const std::string_view near = engine::nearest(name, known);
  return wrong("type is " + engine::compact_json(*type) +
               (near.empty() ? "" : ", perhaps " + std::string(near)) +
               "; it must be report, checkpoint, progress, log or invalid_hyperparameters");
}

std::optional<std::string_view> stdout_payload(std::string_view line) noexcept {
  if (!line.starts_with(stdout_word)) {
    return std::nullopt;
  }
  return line.substr(stdout_word.size());
}

Result<ProgramMessage> parse_stdout_payload(std::string_view payload) {
  Result<Value> object = parse_object(payload);
  if (!object) {
    return object.error();
  }
  Value::Map& message = *object->as_map();
  const Value* found = message.find("step");
  if (found == nullptr) {
    return wrong(R"("step" is missing; a line looks like HPSEARCH {"step":3,"loss":0.5})");
  }
  const Value step = *found;
  message.erase("step");
  const Value* named = message.find("group");
  const Value group = named != nullptr && named->as_text() != nullptr ? *named : Value();
  if (!group.is_null()) {
    message.erase("group");
  }
  // Programs that also use the socket tend to print the same format here.
  const Value* metrics = message.find("metrics");
  if (metrics != nullptr && metrics->as_map() != nullptr) {
    return metrics_from(step, &group, *metrics->as_map());
  }
  return metrics_from(step, &group, message);
}

Result<double> first_number(std::string_view captured, std::string_view behind) {
  const auto in_word = [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '.'; };
  const char* end = captured.data() + captured.size();
  for (std::size_t at = 0; at < captured.size(); ++at) {
    if (at > 0 && in_word(captured[at - 1])) {
      continue;
    }
    double number = 0;
    const auto [rest, error] = std::from_chars(captured.data() + at, end, number);
    const bool word_goes_on = rest != end && is_letter(*rest) && !std::isfinite(number);  // "nano", "info"
    if (error != std::errc() || word_goes_on) {
      continue;
    }
    const std::string_view printed =
        captured.substr(at, static_cast<std::size_t>(rest - captured.data()) - at);
    const std::string_view next = rest == end ? behind : captured.substr(at + printed.size());
    if (goes_on_in_thousands(printed, next)) {
      return wrong(separated);
    }
    if (is_shortened(next)) {
      return wrong("it is shortened; print the whole number");
    }
    if (const char* why = misread(printed, next)) {
      return wrong(why);
    }
    return number;
  }
  return wrong("there is no number in it");
}

Result<Units> captured_step(std::string_view captured, std::string_view behind) {
  std::int64_t step = 0;
  const char* end = captured.data() + captured.size();
  const auto [rest, error] = std::from_chars(captured.data(), end, step);
  if (error != std::errc() || step < 0) {
    return wrong("it is no step; a step is a whole number from 0 to 9223372036854775807");
  }
  const auto digits = static_cast<std::size_t>(rest - captured.data());
  if (goes_on_in_thousands(captured.substr(0, digits), rest == end ? behind : captured.substr(digits))) {
    return wrong(separated);
  }
  return Units{static_cast<std::uint64_t>(step)};
}

}  // namespace hpsearch::workers
