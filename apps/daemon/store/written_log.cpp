#include "daemon/store/written_log.hpp"

#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::daemon {

void WrittenLog::check_before_recovery() const {
  HPSEARCH_CHECK(!recovered, "recovery happens once");
}

engine::Error WrittenLog::other_end(const std::string& log, engine::Lsn head) const {
  return {engine::Errc::corrupt, log + ": the log ends with event " + std::to_string(last.number()) +
                                     ", but event " + std::to_string(head.number()) + " was stored"};
}

engine::Status WrittenLog::check_before_append(std::span<const engine::Event> group) const {
  HPSEARCH_CHECK(recovered, "nothing is appended before recovery");
  if (broken) {
    return *broken;
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    HPSEARCH_CHECK(group[i].lsn.number() == last.number() + 1 + i, "events are appended without gaps");
  }
  return engine::Done{};
}

}  // namespace hpsearch::daemon
