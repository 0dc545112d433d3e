#include "hpsearch/io/archive/kept_log.hpp"

#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"

// A log as a worker hands it over. Whatever it is, no more comes out of it than may be kept; and what is
// found good can be read from any byte on.

namespace hpsearch::fuzz {
namespace {

std::string packed(const std::string& stream) {
  return *logs::pack(
      logs::bytes_to_keep(stream.size(), stream.size(), 0),
      [&stream](std::uint64_t offset, std::uint64_t limit) { return stream.substr(offset, limit); });
}

void run_kept_log(std::string_view bytes) {
  const bool good = logs::check(bytes).has_value();
  const auto kept = logs::kept_bytes_of(bytes);
  HPSEARCH_CHECK(!good || kept.has_value(), "what is good says what it holds");
  const auto all = logs::unpack(bytes, 0, logs::most_kept_bytes, false);
  HPSEARCH_CHECK(!good || all.has_value(), "what is good can be read");
  if (!all) {
    return;
  }
  HPSEARCH_CHECK(all->bytes.size() <= kept->count() && all->offset <= kept->size, "no more than it says");
  for (const std::uint64_t offset : {kept->head, kept->tail, kept->size, kept->size / 2}) {
    const auto stretch = logs::unpack(bytes, offset, 10, false);
    if (!stretch) {
      HPSEARCH_CHECK(!good, "what is good can be read from any byte on");
      continue;
    }
    HPSEARCH_CHECK(stretch->bytes.size() <= 10 && stretch->offset + stretch->bytes.size() <= kept->size,
                   "a stretch lies in its stream");
  }
}

Seeds kept_log_seeds() {
  const auto with_a_gap = logs::pack(
      {1'000'000, 100, 999'900},
      [](std::uint64_t offset, std::uint64_t limit) { return std::string(limit, offset < 100 ? 'a' : 'z'); });
  return {packed(""), packed("one\n"), packed("one\ntwo \xE4\xB8\xAD\n"), packed(std::string(5000, 'x')),
          *with_a_gap};
}

const Registered kept_log({"kept_log", run_kept_log, kept_log_seeds, 500});

}  // namespace
}  // namespace hpsearch::fuzz
