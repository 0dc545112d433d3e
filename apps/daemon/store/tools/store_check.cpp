#include "daemon/store/tools/store_check.hpp"

#include <utility>

#include "hpsearch/engine/engine.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Status;

class Checking {
 public:
  Checking(StoredLog& store, engine::SearcherRegistry registry) : store_(store), engine_(registry) {}

  StoreCheck run() {
    if (const auto pages = store_.damaged_pages(); !pages || !pages->empty()) {
      check_.damages.push_back(store_.path() + ": " + (pages ? *pages : pages.error().message));
    }
    const Status read = store_.read(
        [this](const RecordView& /*record*/, const engine::Event& event) -> Status { return take(event); });
    if (!read) {
      check_.damages.push_back(store_.path() + ": " + read.error().message);
    } else if (const Status sizes = store_.check_table_sizes(metrics_, trial_events_); !sizes) {
      check_.damages.push_back(store_.path() + ": " + sizes.error().message);
    }
    return std::move(check_);
  }

 private:
  Status take(const engine::Event& event) {
    if (auto replayed = engine_.replay(event); !replayed) {
      return engine::Error{replayed.error().code, "event " + std::to_string(event.lsn.number()) +
                                                      " of the log: " + replayed.error().message};
    }
    check_.last = event.lsn;
    // A table that is wrong in many places is reported once: one damage explains the others.
    if (const Status tables = store_.check_tables(event); !tables && !std::exchange(reported_tables_, true)) {
      check_.damages.push_back(store_.path() + ": " + tables.error().message);
    }
    metrics_ += metrics_in(event) != nullptr ? 1U : 0U;
    trial_events_ += history_of(event) ? 1U : 0U;
    return Done{};
  }

  StoredLog& store_;
  engine::Engine engine_;
  StoreCheck check_;
  std::uint64_t metrics_ = 0;
  std::uint64_t trial_events_ = 0;
  bool reported_tables_ = false;
};

}  // namespace

bool StoreCheck::sound() const noexcept {
  return damages.empty();
}

StoreCheck check_store(StoredLog& store, engine::SearcherRegistry registry) {
  return Checking(store, registry).run();
}

}  // namespace hpsearch::daemon
