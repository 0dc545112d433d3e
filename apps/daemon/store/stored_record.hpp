#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/events.hpp"
#include "hpsearch/proto/events/stored.hpp"
#include "hpsearch/proto/wire/wire.hpp"

namespace hpsearch::daemon {

/// An event as every store keeps it; its body is stored separately.
struct RecordView {
  engine::Lsn lsn;
  engine::Instant at;
  std::uint64_t epoch = 0;  ///< The daemon start that wrote it.
  std::span<const std::byte> body;
  std::uint32_t chain =
      0;  ///< CRC-32C over the chain before, the numbers above, the body's size and the body.
};

/// A record that owns its body.
struct StoredRecord {
  engine::Lsn lsn;
  engine::Instant at;
  std::uint64_t epoch = 0;
  proto::Bytes body;
  std::uint32_t chain = 0;

  [[nodiscard]] RecordView view() const noexcept { return {lsn, at, epoch, body, chain}; }
};

/// The chain value before the first record: differs from store to store, so records do not fit into another
/// log.
[[nodiscard]] std::uint32_t chain_start(std::uint64_t cluster) noexcept;

[[nodiscard]] std::uint32_t chain_of(std::uint32_t before, const RecordView& record) noexcept;

[[nodiscard]] StoredRecord make_record(const engine::Event& event, std::uint64_t epoch,
                                       std::uint32_t chain_before);

/// The error of an event that is not as it was written. corrupt.
[[nodiscard]] engine::Error damaged(engine::Lsn lsn, const std::string& how);

/// Checks that a record follows `last` and chains to `chain_before`. corrupt: with the lsn that is missing or
/// wrong.
[[nodiscard]] engine::Status check_record(const RecordView& record, engine::Lsn last,
                                          std::uint32_t chain_before);

/// Decodes the event of a checked record into `event`. corrupt, version_mismatch: with the record's lsn.
[[nodiscard]] engine::Status decode_record(const RecordView& record, proto::EventDecoder& decoder,
                                           engine::Event& event);

/// The trial to whose history an event belongs; null for reports of programs before their exit and for events
/// that concern no single trial.
struct TrialPlace {
  engine::ExperimentId experiment;
  engine::TrialNumber trial;
  friend bool operator==(TrialPlace, TrialPlace) = default;
};
[[nodiscard]] std::optional<TrialPlace> history_of(const engine::Event& event);

/// Reports of one attempt that follow each other.
struct RemovedReports {
  engine::AttemptNumber attempt;
  std::uint64_t first = 0;  ///< Sequence numbers.
  std::uint64_t last = 0;

  [[nodiscard]] bool has(engine::AttemptNumber of, std::uint64_t seq) const noexcept {
    return of == attempt && seq >= first && seq <= last;
  }
};
/// The rows of reports that the event removes from the curve of its trial.
[[nodiscard]] std::vector<RemovedReports> removed_reports(const engine::CurveThinned& event);

/// Whether the event removes the rows of that trial.
[[nodiscard]] bool removes_rows_of(const engine::Event& event, engine::ExperimentId experiment,
                                   engine::TrialNumber trial) noexcept;

/// The metrics report in an event; nullptr if there is none.
[[nodiscard]] const engine::MetricsReport* metrics_in(const engine::Event& event) noexcept;

}  // namespace hpsearch::daemon
