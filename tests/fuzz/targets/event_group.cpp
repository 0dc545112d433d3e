#include "daemon/store/event_group.hpp"

#include <algorithm>

#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"

// A row of the store's log. Its events lie within it; a row that was read to its end is written the same; an
// event with a damaged chain is not taken. The input: the number of events, whether their chain is to be made
// good, the row.

namespace hpsearch::fuzz {
namespace {

using daemon::RecordView;

constexpr std::uint64_t cluster = 77;

void run_event_group(std::string_view bytes) {
  Parts parts(bytes);
  const std::uint64_t count = parts.byte();
  const bool mended = parts.byte() % 2 == 1;
  const daemon::EventGroup group{engine::Lsn{10}, count, 3, bytes_of(parts.rest())};
  daemon::GroupReader reader(group);
  daemon::GroupWriter writer;
  proto::EventDecoder decoder;
  std::uint32_t chain = daemon::chain_start(cluster);
  engine::Lsn last{9};
  bool one_row = true;
  std::uint64_t read = 0;
  while (const auto record = reader.next()) {
    ++read;
    one_row = one_row && writer.add(*record);
    RecordView checked = *record;
    checked.chain = mended ? daemon::chain_of(chain, *record) : record->chain;
    if (daemon::check_record(checked, last, chain)) {
      HPSEARCH_CHECK(checked.chain == daemon::chain_of(chain, *record),
                     "a record that is taken has its chain");
      engine::Event event;
      if (const auto decoded = daemon::decode_record(checked, decoder, event); !decoded) {
        HPSEARCH_CHECK(!decoded.error().message.empty(), "an error has a reason");
      } else {
        HPSEARCH_CHECK(event.lsn == record->lsn, "an event has its number");
      }
    }
    chain = checked.chain;
    last = record->lsn;
  }
  HPSEARCH_CHECK(read <= count && reader.bytes_read() <= group.bytes.size(), "events lie within their row");
  if (reader.finished() && one_row) {
    const daemon::EventGroup written = writer.group();
    HPSEARCH_CHECK(written.count == group.count && std::ranges::equal(written.bytes, group.bytes),
                   "what is written again is the same");
  }
}

Seeds event_group_seeds() {
  daemon::GroupWriter writer;
  std::uint32_t chain = daemon::chain_start(cluster);
  std::uint64_t lsn = 10;
  for (const std::string& stored : files_in("tests/golden/store_v1")) {
    if (const auto body = proto::decode_event(bytes_of(stored)); body && lsn < 14) {
      const daemon::StoredRecord record =
          daemon::make_record({engine::Lsn{lsn}, engine::Instant::from_micros(5), *body}, 3, chain);
      HPSEARCH_CHECK(writer.add(record.view()), "the events of a seed fit in a row");
      chain = record.chain;
      ++lsn;
    }
  }
  const auto bytes = writer.group().bytes;
  const std::string row(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return {std::string{'\4', '\2'} + row, std::string{'\4', '\1'} + row};
}

const Registered event_group_target({"event_group", run_event_group, event_group_seeds});

}  // namespace
}  // namespace hpsearch::fuzz
