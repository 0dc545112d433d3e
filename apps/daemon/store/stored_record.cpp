#include "daemon/store/stored_record.hpp"

#include <array>
#include <cstddef>
#include <type_traits>
#include <variant>

#include "hpsearch/proto/stored.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Error;

std::uint32_t add_number(std::uint32_t chain, std::uint64_t number) noexcept {
  std::array<std::byte, 8> bytes{};
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(number & 0xffU);
    number >>= 8U;
  }
  return proto::crc32c(chain, bytes);
}

Error damaged(engine::Lsn lsn, const std::string& how) {
  return Error{Errc::corrupt, "event " + std::to_string(lsn.number()) + " of the log " + how};
}

}  // namespace

std::uint32_t chain_start(std::uint64_t cluster) noexcept {
  return add_number(0, cluster);
}

std::uint32_t chain_of(std::uint32_t before, const StoredRecord& record) noexcept {
  std::uint32_t chain = add_number(before, record.lsn.number());
  chain = add_number(chain, static_cast<std::uint64_t>(record.at.micros()));
  chain = add_number(chain, record.epoch);
  chain = add_number(chain, record.type.size());
  chain = proto::crc32c(chain, std::as_bytes(std::span(record.type)));
  chain = add_number(chain, record.body.size());
  return proto::crc32c(chain, record.body);
}

StoredRecord make_record(const engine::Event& event, std::uint64_t epoch, std::uint32_t chain_before) {
  StoredRecord record;
  record.lsn = event.lsn;
  record.at = event.at;
  record.epoch = epoch;
  record.type = proto::type_of(event.body);
  record.body = proto::encode_event(event.body);
  record.chain = chain_of(chain_before, record);
  return record;
}

engine::Result<engine::Event> open_record(const StoredRecord& record, engine::Lsn last,
                                          std::uint32_t chain_before) {
  const engine::Lsn expected(last.number() + 1);
  if (record.lsn != expected) {
    return damaged(expected, "is missing; the next one is " + std::to_string(record.lsn.number()));
  }
  if (record.chain != chain_of(chain_before, record)) {
    return damaged(record.lsn, "does not match its checksum");
  }
  return decode_record(record);
}

engine::Result<engine::Event> decode_record(const StoredRecord& record) {
  auto body = proto::decode_event(record.body);
  if (!body) {
    return Error{body.error().code,
                 "event " + std::to_string(record.lsn.number()) + " of the log: " + body.error().message};
  }
  return engine::Event{record.lsn, record.at, std::move(body).value()};
}

std::optional<TrialPlace> history_of(const engine::Event& event) noexcept {
  return std::visit(
      [](const auto& body) -> std::optional<TrialPlace> {
        using Body = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<Body, engine::ReportTaken>) {
          return std::nullopt;
        } else if constexpr (requires { body.key; }) {
          return TrialPlace{body.key.experiment, body.key.trial};
        } else if constexpr (requires { body.trial; }) {
          return TrialPlace{body.experiment, body.trial};
        } else {
          return std::nullopt;
        }
      },
      event.body);
}

const engine::MetricsReport* metrics_in(const engine::Event& event) noexcept {
  const auto* taken = std::get_if<engine::ReportTaken>(&event.body);
  return taken == nullptr ? nullptr : std::get_if<engine::MetricsReport>(&taken->report);
}

}  // namespace hpsearch::daemon
