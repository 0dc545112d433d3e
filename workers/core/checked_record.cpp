#include "hpsearch/workers/core/checked_record.hpp"

#include <limits>
#include <span>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/proto/events/stored.hpp"

namespace hpsearch::workers {
namespace {

void put_u32(std::string& to, std::uint32_t number) {
  for (unsigned shift = 0; shift < 32; shift += 8) {
    to.push_back(static_cast<char>(number >> shift & 0xFFU));
  }
}

std::uint32_t u32_at(std::string_view text, std::size_t at) noexcept {
  std::uint32_t number = 0;
  for (std::size_t byte = 0; byte < 4; ++byte) {
    number |= static_cast<std::uint32_t>(static_cast<unsigned char>(text[at + byte])) << (8 * byte);
  }
  return number;
}

std::uint32_t checksum_of(std::string_view text) noexcept {
  return proto::crc32c(0, std::as_bytes(std::span(text)));
}

}  // namespace

bool CheckedHead::fits(std::string_view body) const noexcept {
  return body.size() == body_bytes && checksum_of(body) == checksum;
}

std::string checked_record(std::string_view body) {
  HPSEARCH_CHECK(!body.empty() && body.size() <= std::numeric_limits<std::uint32_t>::max(),
                 "a body's length is of 32 bits and not 0");
  std::string record;
  record.reserve(checked_head_bytes + body.size());
  put_u32(record, static_cast<std::uint32_t>(body.size()));
  put_u32(record, checksum_of(body));
  record.append(body);
  return record;
}

std::optional<CheckedHead> read_checked_head(std::string_view bytes) noexcept {
  if (bytes.size() < checked_head_bytes || u32_at(bytes, 0) == 0) {
    return std::nullopt;
  }
  return CheckedHead{.body_bytes = u32_at(bytes, 0), .checksum = u32_at(bytes, 4)};
}

}  // namespace hpsearch::workers
