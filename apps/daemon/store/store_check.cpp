#include "daemon/store/store_check.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "hpsearch/engine/engine.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Lsn;
using engine::Status;

class Checking {
 public:
  Checking(ClosedStore& store, const SnapshotFiles& files, engine::SearcherRegistry registry)
      : store_(store), files_(files), engine_(registry) {}

  StoreCheck run() {
    read_snapshots();
    if (const auto pages = store_.damaged_pages(); !pages || !pages->empty()) {
      check_.damages.push_back(store_.path() + ": " + (pages ? *pages : pages.error().message));
    }
    const Status read = store_.read([this](const RecordView& record, const engine::Event& event) -> Status {
      return take(record, event);
    });
    if (!read) {
      check_.damages.push_back(store_.path() + ": " + read.error().message);
    } else if (const Status sizes = store_.check_table_sizes(metrics_, trial_events_); !sizes) {
      check_.damages.push_back(store_.path() + ": " + sizes.error().message);
    }
    for (const auto& [lsn, place] : waiting_) {
      check_.snapshots[place.first].problem = "it is of event " + std::to_string(lsn.number()) +
                                              ", the log " + (read ? "ends with " : "is good up to ") +
                                              std::to_string(check_.last.number());
    }
    return std::move(check_);
  }

 private:
  void read_snapshots() {
    for (const Lsn lsn : files_.list()) {
      const auto read = files_.read(lsn);
      std::string problem;
      if (!read) {
        problem = read.error().message;
      } else if (read->snapshot.cluster != store_.cluster()) {
        problem = "it is of another store";
      } else {
        waiting_.emplace(lsn,
                         std::pair(check_.snapshots.size(), std::pair(read->snapshot.chain, read->hash)));
      }
      check_.snapshots.push_back({files_.path_of(lsn), std::move(problem)});
    }
  }

  Status take(const RecordView& record, const engine::Event& event) {
    if (auto replayed = engine_.replay(event); !replayed) {
      return engine::Error{replayed.error().code, "event " + std::to_string(event.lsn.number()) +
                                                      " of the log: " + replayed.error().message};
    }
    check_.last = event.lsn;
    // A table that is wrong in many places is told of once: one damage explains the others.
    if (const Status tables = store_.check_tables(event); !tables && !std::exchange(told_of_tables_, true)) {
      check_.damages.push_back(store_.path() + ": " + tables.error().message);
    }
    metrics_ += metrics_in(event) != nullptr ? 1U : 0U;
    trial_events_ += history_of(event) ? 1U : 0U;
    if (const auto found = waiting_.find(event.lsn); found != waiting_.end()) {
      const auto& [place, expected] = found->second;
      if (expected.first != record.chain) {
        check_.snapshots[place].problem = "it is of another history than the log's";
      } else if (expected.second != state_hash(engine_.save())) {
        check_.snapshots[place].problem = "its state is not what replaying the log comes to";
      }
      waiting_.erase(found);
    }
    return Done{};
  }

  ClosedStore& store_;
  const SnapshotFiles& files_;
  engine::Engine engine_;
  StoreCheck check_;
  /// Snapshots not come to yet: which one, and the chain and the hash it claims.
  std::map<Lsn, std::pair<std::size_t, std::pair<std::uint32_t, std::uint64_t>>> waiting_;
  std::uint64_t metrics_ = 0;
  std::uint64_t trial_events_ = 0;
  bool told_of_tables_ = false;
};

}  // namespace

bool StoreCheck::sound() const noexcept {
  return damages.empty() && std::all_of(snapshots.begin(), snapshots.end(),
                                        [](const OfSnapshot& snapshot) { return snapshot.problem.empty(); });
}

StoreCheck check_store(ClosedStore& store, const SnapshotFiles& snapshots,
                       engine::SearcherRegistry registry) {
  return Checking(store, snapshots, registry).run();
}

}  // namespace hpsearch::daemon
