#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/events.hpp"
#include "hpsearch/proto/wire.hpp"

namespace hpsearch::daemon {

/// An event beside its columns, as every store keeps it.
struct StoredRecord {
  engine::Lsn lsn;
  engine::Instant at;
  std::uint64_t epoch = 0;  ///< The daemon start that wrote it.
  std::string type;
  proto::Bytes body;
  std::uint32_t chain = 0;  ///< CRC-32C over the chain before and everything above.
};

/// What the first record chains to: differs from store to store, so records do not fit into another log.
[[nodiscard]] std::uint32_t chain_start(std::uint64_t cluster) noexcept;

[[nodiscard]] std::uint32_t chain_of(std::uint32_t before, const StoredRecord& record) noexcept;

[[nodiscard]] StoredRecord make_record(const engine::Event& event, std::uint64_t epoch,
                                       std::uint32_t chain_before);

/// The event in a record that has to follow `last` and chain to `chain_before`. corrupt, version_mismatch:
/// with the record's lsn.
[[nodiscard]] engine::Result<engine::Event> open_record(const StoredRecord& record, engine::Lsn last,
                                                        std::uint32_t chain_before);

/// The same without the chain, for records that were checked when the store was opened.
[[nodiscard]] engine::Result<engine::Event> decode_record(const StoredRecord& record);

/// Whose history an event belongs to; nothing for reports of programs and for what concerns no single trial.
struct TrialPlace {
  engine::ExperimentId experiment;
  engine::TrialNumber trial;
  friend bool operator==(TrialPlace, TrialPlace) = default;
};
[[nodiscard]] std::optional<TrialPlace> history_of(const engine::Event& event) noexcept;

/// The metrics report in an event; nullptr when it is none.
[[nodiscard]] const engine::MetricsReport* metrics_in(const engine::Event& event) noexcept;

}  // namespace hpsearch::daemon
