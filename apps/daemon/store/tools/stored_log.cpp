#include "daemon/store/tools/stored_log.hpp"

#include <optional>

namespace hpsearch::daemon {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Lsn;
using engine::Status;

Status LogWalk::take(const EventGroup& group, const StoredLog::Visit& visit) {
  GroupReader reader(group);
  while (const std::optional<RecordView> record = reader.next()) {
    if (auto checked = check_record(*record, last_, chain_); !checked) {
      return checked;
    }
    if (auto decoded = decode_record(*record, decoder_, event_); !decoded) {
      return decoded;
    }
    if (auto visited = visit(*record, event_); !visited) {
      return visited;
    }
    last_ = record->lsn;
    chain_ = record->chain;
  }
  return reader.finished() && group.count > 0 ? Status(Done{})
                                              : damaged(Lsn(last_.number() + 1), "is cut off");
}

Status LogWalk::check_end(Lsn stored) const {
  return last_ == stored ? Status(Done{})
                         : damaged(Lsn(last_.number() + 1), "is missing, and so is every one up to " +
                                                                std::to_string(stored.number()) +
                                                                ", the last that was stored");
}

Error other_metrics(Lsn report) {
  return damaged(report, "is a report whose metrics stand otherwise in the table metric");
}

Error missing_metrics(Lsn report) {
  Error error = damaged(report, "is a report whose metrics are missing in the table metric");
  error.code = Errc::not_found;
  return error;
}

Error not_in_history(Lsn event) {
  Error error = damaged(event, "is not in the history of its trial (table trial_event)");
  error.code = Errc::not_found;
  return error;
}

Status same_sizes(std::uint64_t metric_rows, std::uint64_t history_rows, std::uint64_t metrics,
                  std::uint64_t trial_events) {
  if (metric_rows == metrics && history_rows == trial_events) {
    return Done{};
  }
  return Error{Errc::corrupt, "the tables metric and trial_event have " + std::to_string(metric_rows) +
                                  " and " + std::to_string(history_rows) + " rows; the log has events for " +
                                  std::to_string(metrics) + " and " + std::to_string(trial_events)};
}

}  // namespace hpsearch::daemon
