#include "hpsearch/workers/core/spool.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/proto/wire/spell_attempt.hpp"
#include "hpsearch/workers/core/checked_record.hpp"

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::Report;
using engine::Result;
using jobs::LaunchSpec;

namespace {

// A write with the whole state of an attempt is read in parts.
constexpr std::size_t reports_per_part = 1024;

struct SpooledReports {
  std::uint64_t first_seq = 0;
  std::vector<Report> reports;
};

void spell(auto& fields, proto::Is<SpooledReports> auto& part) {
  fields("first_seq", part.first_seq);
  fields("reports", part.reports);
}

/// A write is one checked record, so that it is complete or missing.
struct SpoolWrite {
  SpooledState state;
  std::optional<LaunchSpec> spec;  ///< In the first write of a spool, and only there.
  std::vector<std::string> parts;  ///< Each is SpooledReports.
};

void spell(auto& fields, proto::Is<SpoolWrite> auto& write) {
  fields("state", write.state);
  fields.maybe("spec", write.spec);
  fields.bytes("parts", write.parts);
}

std::vector<std::string> parts_of(std::uint64_t first_seq, const std::vector<Report>& reports) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < reports.size(); at += reports_per_part) {
    const auto begin = reports.begin() + static_cast<std::ptrdiff_t>(at);
    const auto size = static_cast<std::ptrdiff_t>(std::min(reports_per_part, reports.size() - at));
    parts.push_back(
        proto::encode_record(SpooledReports{.first_seq = first_seq + at, .reports = {begin, begin + size}}));
  }
  return parts;
}

/// The spool as far as it has been read.
class Reading {
 public:
  /// False if the write doesn't continue the earlier ones.
  bool take(std::string_view body) {
    Result<SpoolWrite> write = proto::decode_record<SpoolWrite>(body);
    if (!write || write->spec.has_value() == leased_) {
      return false;
    }
    if (write->spec) {
      found_.spec = *std::move(write->spec);
      leased_ = true;
    }
    found_.state = std::move(write->state);
    return std::all_of(write->parts.begin(), write->parts.end(),
                       [this](const std::string& part) { return take_part(part); });
  }

  /// Nothing if reports are missing.
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
  bool take_part(std::string_view bytes) {
    Result<SpooledReports> part = proto::decode_record<SpooledReports>(bytes);
    if (!part) {
      return false;
    }
    if (found_.reports.empty()) {
      first_seq_ = part->first_seq;
    }
    if (part->first_seq != first_seq_ + found_.reports.size()) {
      return false;
    }
    std::move(part->reports.begin(), part->reports.end(), std::back_inserter(found_.reports));
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
  return checked_record(
      proto::encode_record(SpoolWrite{.state = state, .spec = spec, .parts = parts_of(first_seq, reports)}));
}

std::string spool_more(const SpooledState& state, std::uint64_t first_seq,
                       const std::vector<Report>& reports) {
  return checked_record(proto::encode_record(
      SpoolWrite{.state = state, .spec = std::nullopt, .parts = parts_of(first_seq, reports)}));
}

Result<SpooledAttempt> read_spool(std::string_view bytes) {
  Reading reading;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::string_view rest = bytes.substr(at);
    const std::optional<CheckedHead> head = read_checked_head(rest);
    const bool whole = head && rest.size() - checked_head_bytes >= head->body_bytes;
    const std::string_view body =
        whole ? rest.substr(checked_head_bytes, head->body_bytes) : std::string_view();
    if (!whole || !head->fits(body)) {
      if (whole && rest.size() > checked_head_bytes + body.size()) {
        return damaged(at, "does not have its checksum");
      }
      if (at == 0) {
        return damaged(at, "is not whole, and it is the first");
      }
      break;  // The write that was in progress when the worker ended.
    }
    if (!reading.take(body)) {
      return damaged(at, "does not fit what stands before it");
    }
    at += checked_head_bytes + body.size();
  }
  std::optional<SpooledAttempt> found = std::move(reading).finish();
  if (!found) {
    return damaged(0, "is missing, or reports after it are");
  }
  return *std::move(found);
}

}  // namespace hpsearch::workers
