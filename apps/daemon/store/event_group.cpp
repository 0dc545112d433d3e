#include "daemon/store/event_group.hpp"

#include <bit>
#include <cstring>

#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::size_t head_bytes = 16;

template <class Number>
void put(std::byte* to, Number number) noexcept {
  // Compilers turn this into one store on little-endian machines.
  for (std::size_t i = 0; i < sizeof number; ++i) {
    to[i] = static_cast<std::byte>(number >> (8 * i) & 0xFFU);
  }
}

template <class Number>
Number get(const std::byte* from) noexcept {
  if constexpr (std::endian::native == std::endian::little) {
    Number number = 0;
    std::memcpy(&number, from, sizeof number);
    return number;
  }
  Number number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i) {
    number |= static_cast<Number>(std::to_integer<Number>(from[i]) << (8 * i));
  }
  return number;
}

}  // namespace

bool GroupWriter::add(const RecordView& record) {
  const std::size_t size = head_bytes + record.body.size();
  if (count_ == 0) {
    first_ = record.lsn;
    epoch_ = record.epoch;
  } else if (record.epoch != epoch_ || bytes_.size() + size > most_bytes) {
    return false;
  }
  HPSEARCH_CHECK(record.lsn.number() == first_.number() + count_, "the events of a group follow each other");
  HPSEARCH_CHECK(record.body.size() <= UINT32_MAX, "no event is that large");
  const std::size_t at = bytes_.size();
  bytes_.resize(at + head_bytes);
  put(&bytes_[at], static_cast<std::uint64_t>(record.at.micros()));
  put(&bytes_[at + 8], static_cast<std::uint32_t>(record.body.size()));
  put(&bytes_[at + 12], record.chain);
  bytes_.insert(bytes_.end(), record.body.begin(), record.body.end());
  ++count_;
  return true;
}

void GroupWriter::clear() noexcept {
  count_ = 0;
  bytes_.clear();
}

std::optional<RecordView> GroupReader::next() noexcept {
  if (read_ == group_.count || rest_.size() < head_bytes) {
    return std::nullopt;
  }
  const std::size_t size = get<std::uint32_t>(&rest_[8]);
  if (size > rest_.size() - head_bytes) {
    return std::nullopt;
  }
  RecordView record;
  record.lsn = engine::Lsn(group_.first.number() + read_);
  record.at = engine::Instant::from_micros(static_cast<std::int64_t>(get<std::uint64_t>(rest_.data())));
  record.epoch = group_.epoch;
  record.chain = get<std::uint32_t>(&rest_[12]);
  record.body = rest_.subspan(head_bytes, size);
  rest_ = rest_.subspan(head_bytes + size);
  ++read_;
  return record;
}

engine::Status check_group(const EventGroup& group, engine::Lsn& last, std::uint32_t& chain,
                           EventGroup& sound) {
  GroupReader reader(group);
  sound = {group.first, 0, group.epoch, {}};
  while (const std::optional<RecordView> record = reader.next()) {
    if (engine::Status checked = check_record(*record, last, chain); !checked) {
      return checked;
    }
    last = record->lsn;
    chain = record->chain;
    ++sound.count;
    sound.bytes = group.bytes.subspan(0, reader.bytes_read());
  }
  const engine::Lsn next(last.number() + 1);
  return reader.finished() && group.count > 0 ? engine::Status(engine::Done{}) : damaged(next, "is cut off");
}

}  // namespace hpsearch::daemon
