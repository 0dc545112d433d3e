#include "hpsearch/workers/shell/journal.hpp"

#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/workers/core/checked_record.hpp"
#include "scratch.hpp"

// A shim's journal, as a crash or a bad disk leaves it. Reading goes forward and ends; a record that was read
// is written the same after one round. If the first byte is odd, the rest is a journal as it lies on the
// disk; else it is bodies of records, which get their checksums here.

namespace hpsearch::fuzz {
namespace {

void run_journal(std::string_view bytes) {
  Parts parts(bytes);
  std::string journal;
  if (parts.byte() % 2 == 1) {
    journal = parts.rest();
  } else {
    while (!parts.done()) {
      const std::string_view body = parts.chunk();
      journal += body.empty() ? "" : workers::checked_record(body);
    }
  }
  const Scratch scratch;
  write_text(scratch.path("journal"), journal);
  auto reader = workers::JournalReader::open(scratch.path("journal"));
  HPSEARCH_CHECK(reader.has_value(), "the file can be opened");
  std::uint64_t position = 0;
  for (std::uint64_t before = 0; const auto record = reader->next(position); before = position) {
    HPSEARCH_CHECK(position > before && position <= journal.size(), "reading goes forward, within the file");
    const std::string written = proto::encode_record(*record);
    const auto again = proto::decode_record<workers::JournalRecord>(written);
    HPSEARCH_CHECK(again && proto::encode_record(*again) == written,
                   "what is written can be read, and is the same");
  }
  HPSEARCH_CHECK(reader->unreadable().empty(), "damage is no failure of the disk");
}

Seeds journal_seeds() {
  std::string raw = "\1";
  std::string bodies = "\2";
  for (const workers::JournalRecord& record : {
           workers::JournalRecord(workers::JournalStarted{"cgroup"}),
           workers::JournalRecord(workers::JournalNotStarted{"no program \"trian.py\""}),
           workers::JournalRecord(workers::JournalMessageReceived{
               7, true, workers::MetricsMessage{engine::Units{3}, {{"loss", 0.5}}, {}}}),
           workers::JournalRecord(workers::JournalStuck{4711}),
           workers::JournalRecord(workers::JournalEnded{true, 9, true, true, "MemoryError\n"}),
       }) {
    const std::string body = proto::encode_record(record);
    raw += workers::checked_record(body);
    bodies += as_chunk(body);
  }
  return {raw, bodies};
}

const Registered journal_target({"journal", run_journal, journal_seeds});

}  // namespace
}  // namespace hpsearch::fuzz
