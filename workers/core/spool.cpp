#include "hpsearch/workers/core/spool.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/json.hpp"
#include "hpsearch/proto/stored.hpp"
#include "hpsearch/proto/wire.hpp"

namespace hpsearch::workers {

using engine::AttemptKey;
using engine::Errc;
using engine::Error;
using engine::Report;
using engine::Result;
using engine::Units;
using engine::Value;
using jobs::LaunchSpec;

namespace {

// A record is
//
//   length of the rest (u32) | CRC-32C of the rest (u32) | state | frame | frame | …
//
// where state (JSON) and frames (as on the wire) each have their length (u32) before them. Numbers are little
// endian. The first frame of a spool is its LEASE, all others are REPORTS.

constexpr std::size_t head_bytes = 8;
// A frame must stay one that the decoder takes.
constexpr std::size_t reports_per_frame = 256;
constexpr std::size_t frame_bytes = 128 * 1024;

void put_u32(std::string& to, std::uint32_t number) {
  for (unsigned shift = 0; shift < 32; shift += 8) {
    to.push_back(static_cast<char>(number >> shift & 0xFFU));
  }
}

std::uint32_t u32_at(std::string_view text, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t byte = 0; byte < 4; ++byte) {
    number |= static_cast<std::uint32_t>(static_cast<unsigned char>(text[at + byte])) << (8 * byte);
  }
  return number;
}

std::uint32_t checksum(std::string_view text) {
  return proto::crc32c(0, std::as_bytes(std::span(text)));
}

void put_piece(std::string& to, std::string_view piece) {
  put_u32(to, static_cast<std::uint32_t>(piece.size()));
  to.append(piece);
}

void put_frame(std::string& to, const proto::Bytes& frame) {
  put_piece(to, {reinterpret_cast<const char*>(frame.data()), frame.size()});
}

/// A part of a record, cut off its front; nothing when there is no whole one.
std::optional<std::string_view> take_piece(std::string_view& rest) {
  if (rest.size() < 4 || rest.size() - 4 < u32_at(rest, 0)) {
    return std::nullopt;
  }
  const std::string_view piece = rest.substr(4, u32_at(rest, 0));
  rest.remove_prefix(4 + piece.size());
  return piece;
}

// --- the state ---

Value number(std::uint64_t n) {
  return static_cast<std::int64_t>(n);
}

Value::Map checkpoint_map(const WantedCheckpoint& wanted) {
  Value::Map map;
  map["step"] = number(count(wanted.step));
  if (wanted.question) {
    map["question"] = number(wanted.question->number());
  }
  return map;
}

Value::List list_of(const std::vector<QuestionId>& questions) {
  Value::List list;
  for (const QuestionId question : questions) {
    list.emplace_back(number(question.number()));
  }
  return list;
}

std::string state_text(const SpooledState& state) {
  Value::Map map;
  map["exited"] = state.exited;
  map["position"] = number(state.position);
  map["acked"] = number(state.acked);
  map["last_decision"] = number(state.last_decision.number());
  if (state.told) {
    map["told"] = std::string(engine::name_of(*state.told));
  }
  map["length"] = number(count(state.length));
  map["speaks_lines"] = state.speaks_lines;
  map["speaks_socket"] = state.speaks_socket;
  if (state.last_step) {
    map["last_step"] = number(count(*state.last_step));
  }
  if (state.length_reported) {
    map["length_reported"] = number(count(*state.length_reported));
  }
  map["reported_checkpoint"] = state.reported_checkpoint;
  map["reported_invalid"] = state.reported_invalid;
  if (state.no_progress) {
    map["no_progress"] = true;
  }
  if (state.paused_alone) {
    map["paused_alone"] = true;
  }
  if (state.ended_here) {
    map["ended_here"] = true;
  }
  if (state.unkillable) {
    map["unkillable"] = true;
  }
  map["lost_checkpoint"] = state.lost_checkpoint;
  map["asking"] = list_of(state.asking);
  if (!state.saved.empty()) {
    map["saved"] = list_of(state.saved);
  }
  Value::List checkpoints;
  for (const WantedCheckpoint& wanted : state.checkpoints) {
    checkpoints.emplace_back(checkpoint_map(wanted));
  }
  map["checkpoints"] = std::move(checkpoints);
  return engine::compact_json(Value(std::move(map)));
}

std::optional<std::uint64_t> count_in(const Value::Map& map, std::string_view key) {
  const Value* value = map.find(key);
  const std::int64_t* integer = value == nullptr ? nullptr : value->as_integer();
  return integer == nullptr || *integer < 0 ? std::nullopt
                                            : std::optional(static_cast<std::uint64_t>(*integer));
}

std::optional<Units> units_in(const Value::Map& map, std::string_view key) {
  const std::optional<std::uint64_t> units = count_in(map, key);
  return units ? std::optional(Units{*units}) : std::nullopt;
}

bool is_true(const Value::Map& map, std::string_view key) {
  const Value* value = map.find(key);
  return value != nullptr && value->as_bool() != nullptr && *value->as_bool();
}

std::string text_in(const Value::Map& map, std::string_view key) {
  const Value* value = map.find(key);
  return value != nullptr && value->as_text() != nullptr ? *value->as_text() : "";
}

const Value::List& list_in(const Value::Map& map, std::string_view key) {
  static const Value::List none;
  const Value* value = map.find(key);
  return value != nullptr && value->as_list() != nullptr ? *value->as_list() : none;
}

std::vector<QuestionId> questions_in(const Value::Map& map, std::string_view key) {
  std::vector<QuestionId> questions;
  for (const Value& question : list_in(map, key)) {
    if (question.as_integer() != nullptr) {
      questions.emplace_back(static_cast<std::uint64_t>(*question.as_integer()));
    }
  }
  return questions;
}

std::optional<SpooledState> state_from(std::string_view text) {
  const Result<Value> value = proto::parse_json(text);
  if (!value || value->as_map() == nullptr) {
    return std::nullopt;
  }
  const Value::Map& map = *value->as_map();
  const auto position = count_in(map, "position");
  const auto acked = count_in(map, "acked");
  const auto last_decision = count_in(map, "last_decision");
  const auto length = units_in(map, "length");
  const std::string told = text_in(map, "told");
  if (!position || !acked || !last_decision || !length || (!told.empty() && !engine::directive_named(told))) {
    return std::nullopt;
  }
  SpooledState state;
  state.exited = is_true(map, "exited");
  state.position = *position;
  state.acked = *acked;
  state.last_decision = engine::Lsn{*last_decision};
  state.told = engine::directive_named(told);
  state.length = *length;
  state.speaks_lines = is_true(map, "speaks_lines");
  state.speaks_socket = is_true(map, "speaks_socket");
  state.last_step = units_in(map, "last_step");
  state.length_reported = units_in(map, "length_reported");
  state.reported_checkpoint = is_true(map, "reported_checkpoint");
  state.reported_invalid = is_true(map, "reported_invalid");
  state.no_progress = is_true(map, "no_progress");
  state.paused_alone = is_true(map, "paused_alone");
  state.ended_here = is_true(map, "ended_here");
  state.unkillable = is_true(map, "unkillable");
  state.lost_checkpoint = text_in(map, "lost_checkpoint");
  state.asking = questions_in(map, "asking");
  state.saved = questions_in(map, "saved");
  for (const Value& wanted : list_in(map, "checkpoints")) {
    if (wanted.as_map() == nullptr) {
      return std::nullopt;
    }
    const auto question = count_in(*wanted.as_map(), "question");
    state.checkpoints.push_back({.step = units_in(*wanted.as_map(), "step").value_or(Units{}),
                                 .question = question ? std::optional(QuestionId{*question}) : std::nullopt});
  }
  return state;
}

// --- records ---

std::size_t size_of(const Report& report) {
  if (const auto* metrics = std::get_if<engine::MetricsReport>(&report)) {
    std::size_t bytes = 64;
    for (const auto& [name, value] : metrics->metrics) {
      bytes += name.size() + 16;
    }
    return bytes;
  }
  return 16 * 1024;  // Longer ones are rare; each of these fits.
}

void put_reports(std::string& to, const AttemptKey& key, std::uint64_t first_seq,
                 const std::vector<Report>& reports) {
  for (std::size_t at = 0; at < reports.size();) {
    proto::Reports frame{.key = key, .first_seq = first_seq + at, .reports = {}};
    std::size_t bytes = 0;
    do {
      bytes += size_of(reports[at]);
      frame.reports.push_back(reports[at]);
      ++at;
    } while (at < reports.size() && frame.reports.size() < reports_per_frame &&
             bytes + size_of(reports[at]) <= frame_bytes);
    put_frame(to, proto::encode(proto::Envelope{}, proto::FromWorker(std::move(frame))));
  }
}

std::string sealed(const std::string& body) {
  std::string record;
  record.reserve(head_bytes + body.size());
  put_u32(record, static_cast<std::uint32_t>(body.size()));
  put_u32(record, checksum(body));
  record.append(body);
  return record;
}

/// The spool as far as it is read.
class Reading {
 public:
  /// False when the record does not fit behind those before it.
  bool take(std::string_view body) {
    const auto text = take_piece(body);
    std::optional<SpooledState> state = text ? state_from(*text) : std::nullopt;
    if (!state) {
      return false;
    }
    found_.state = *std::move(state);
    while (!body.empty()) {
      const auto frame = take_piece(body);
      if (!frame || !take_frame(std::as_bytes(std::span(*frame)))) {
        return false;
      }
    }
    return leased_;
  }

  /// Nothing when reports are missing.
  std::optional<SpooledAttempt> finish() && {
    if (!leased_) {
      return std::nullopt;
    }
    for (; first_seq_ <= found_.state.acked && !found_.reports.empty(); ++first_seq_) {
      found_.reports.pop_front();
    }
    if (!found_.reports.empty() && first_seq_ != found_.state.acked + 1) {
      return std::nullopt;
    }
    return std::move(found_);
  }

 private:
  bool take_frame(std::span<const std::byte> bytes) {
    if (!leased_) {
      Result<proto::Framed<proto::FromDaemon>> frame = proto::decode_from_daemon(bytes);
      auto* lease = frame ? std::get_if<proto::Lease>(&frame->message) : nullptr;
      if (lease == nullptr) {
        return false;
      }
      found_.spec = std::move(lease->spec);
      leased_ = true;
      return true;
    }
    Result<proto::Framed<proto::FromWorker>> frame = proto::decode_from_worker(bytes);
    auto* told = frame ? std::get_if<proto::Reports>(&frame->message) : nullptr;
    if (told == nullptr) {
      return false;
    }
    if (found_.reports.empty()) {
      first_seq_ = told->first_seq;
    }
    if (told->first_seq != first_seq_ + found_.reports.size()) {
      return false;
    }
    std::move(told->reports.begin(), told->reports.end(), std::back_inserter(found_.reports));
    return true;
  }

  SpooledAttempt found_;
  bool leased_ = false;
  std::uint64_t first_seq_ = 1;
};

Error damaged(std::size_t at, const char* how) {
  return Error{Errc::corrupt, "the record at byte " + std::to_string(at) + " of the spool " + how};
}

}  // namespace

std::string spool_anew(const LaunchSpec& spec, const SpooledState& state, std::uint64_t first_seq,
                       const std::vector<Report>& reports) {
  std::string body;
  put_piece(body, state_text(state));
  put_frame(body, proto::encode(proto::Envelope{}, proto::FromDaemon(proto::Lease{spec})));
  put_reports(body, spec.key, first_seq, reports);
  return sealed(body);
}

std::string spool_more(const AttemptKey& key, const SpooledState& state, std::uint64_t first_seq,
                       const std::vector<Report>& reports) {
  std::string body;
  put_piece(body, state_text(state));
  put_reports(body, key, first_seq, reports);
  return sealed(body);
}

Result<SpooledAttempt> read_spool(std::string_view bytes) {
  Reading reading;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::string_view rest = bytes.substr(at);
    // Space that was taken for a record and never written reads as zeros.
    const bool whole =
        rest.size() > head_bytes && u32_at(rest, 0) > 0 && rest.size() - head_bytes >= u32_at(rest, 0);
    const std::string_view body = whole ? rest.substr(head_bytes, u32_at(rest, 0)) : std::string_view();
    if (!whole || checksum(body) != u32_at(rest, 4)) {
      if (whole && rest.size() > head_bytes + body.size()) {
        return damaged(at, "does not have its checksum");
      }
      if (at == 0) {
        return damaged(at, "is not whole, and it is the first");
      }
      break;  // The write that was going on when the worker died.
    }
    if (!reading.take(body)) {
      return damaged(at, "does not fit what stands before it");
    }
    at += head_bytes + body.size();
  }
  std::optional<SpooledAttempt> found = std::move(reading).finish();
  if (!found) {
    return damaged(0, "is missing, or reports after it are");
  }
  return *std::move(found);
}

}  // namespace hpsearch::workers
