#include "daemon/store/stored_record.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <type_traits>
#include <variant>

#include "hpsearch/proto/events/stored.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Error;

/// Numbers as the chain covers them: eight bytes each, the lowest first.
template <std::size_t count>
std::uint32_t add_numbers(std::uint32_t chain, const std::uint64_t (&numbers)[count]) noexcept {
  if constexpr (std::endian::native == std::endian::little) {
    return proto::crc32c(chain, std::as_bytes(std::span(numbers)));
  }
  std::array<std::byte, 8 * count> bytes{};
  std::size_t next = 0;
  for (const std::uint64_t number : numbers) {
    for (unsigned shift = 0; shift < 64; shift += 8) {
      bytes[next++] = static_cast<std::byte>(number >> shift & 0xFFU);
    }
  }
  return proto::crc32c(chain, bytes);
}

}  // namespace

std::uint32_t chain_start(std::uint64_t cluster) noexcept {
  return add_numbers(0, {cluster});
}

std::uint32_t chain_of(std::uint32_t before, const RecordView& record) noexcept {
  const std::uint32_t chain =
      add_numbers(before, {record.lsn.number(), static_cast<std::uint64_t>(record.at.micros()), record.epoch,
                           record.body.size()});
  return proto::crc32c(chain, record.body);
}

StoredRecord make_record(const engine::Event& event, std::uint64_t epoch, std::uint32_t chain_before) {
  StoredRecord record;
  record.lsn = event.lsn;
  record.at = event.at;
  record.epoch = epoch;
  record.body = proto::encode_event(event.body);
  record.chain = chain_of(chain_before, record.view());
  return record;
}

Error damaged(engine::Lsn lsn, const std::string& how) {
  return Error{Errc::corrupt, "event " + std::to_string(lsn.number()) + " of the log " + how};
}

engine::Status check_record(const RecordView& record, engine::Lsn last, std::uint32_t chain_before) {
  const engine::Lsn expected(last.number() + 1);
  if (record.lsn != expected) {
    return damaged(expected, "is missing; the next one is " + std::to_string(record.lsn.number()));
  }
  if (record.chain != chain_of(chain_before, record)) {
    return damaged(record.lsn, "does not match its checksum");
  }
  return engine::Done{};
}

engine::Status decode_record(const RecordView& record, proto::EventDecoder& decoder, engine::Event& event) {
  event.lsn = record.lsn;
  event.at = record.at;
  if (const auto decoded = decoder.decode(record.body, event.body); !decoded) {
    return Error{decoded.error().code,
                 "event " + std::to_string(record.lsn.number()) + " of the log: " + decoded.error().message};
  }
  return engine::Done{};
}

std::optional<TrialPlace> history_of(const engine::Event& event) {
  return std::visit(
      [](const auto& body) -> std::optional<TrialPlace> {
        if constexpr (requires { body.report; }) {
          if (!std::holds_alternative<engine::ExitReport>(body.report)) {
            return std::nullopt;
          }
        }
        if constexpr (requires { body.key.experiment; }) {
          return TrialPlace{body.key.experiment, body.key.trial};
        } else if constexpr (requires { body.trial.has_value(); }) {
          return body.trial ? std::optional(TrialPlace{body.experiment, *body.trial}) : std::nullopt;
        } else if constexpr (requires { body.trial; }) {
          return TrialPlace{body.experiment, body.trial};
        } else {
          return std::nullopt;
        }
      },
      event.body);
}

std::vector<RemovedReports> removed_reports(const engine::CurveThinned& event) {
  std::vector<RemovedReports> rows;
  for (std::size_t i = 0; i + 2 < event.removed.size(); i += 3) {
    rows.push_back({engine::AttemptNumber(event.removed[i]), event.removed[i + 1], event.removed[i + 2]});
  }
  return rows;
}

bool removes_rows_of(const engine::Event& event, engine::ExperimentId experiment,
                     engine::TrialNumber trial) noexcept {
  const auto* removed = std::get_if<engine::RowsRemoved>(&event.body);
  return removed != nullptr && removed->experiment == experiment && removed->first <= trial &&
         trial <= removed->last;
}

const engine::MetricsReport* metrics_in(const engine::Event& event) noexcept {
  const auto* taken = std::get_if<engine::ReportTaken>(&event.body);
  return taken == nullptr ? nullptr : std::get_if<engine::MetricsReport>(&taken->report);
}

}  // namespace hpsearch::daemon
