#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/store/sqlite_store.hpp"
#include "engine_search.hpp"
#include "sizes.hpp"

// Recovery: what the daemon does between its start and its first answer, from the log.

namespace hpsearch {
namespace {

using namespace bench;  // NOLINT(google-build-using-namespace)

/// A finished search in a store: rungs at 4, 16 and 64, a report after each unit, ten reports a trial.
///
/// The largest takes minutes to make. With HPSEARCH_BENCH_STORES naming a folder, stores are kept there, and
/// whatever asks for one of this size next takes it as it is.
class StoredSearch {
 public:
  explicit StoredSearch(std::int64_t trials) {
    const char* kept = std::getenv("HPSEARCH_BENCH_STORES");
    keep_ = kept != nullptr && *kept != '\0';
    folder_ = (keep_ ? std::filesystem::path(kept) : std::filesystem::temp_directory_path()) /
              ("hpsearch-bench-" + std::to_string(trials));
    if (!keep_ || !std::filesystem::exists(file())) {
      make(trials);
    }
  }
  StoredSearch(const StoredSearch&) = delete;
  StoredSearch& operator=(const StoredSearch&) = delete;
  ~StoredSearch() {
    if (!keep_) {
      std::filesystem::remove_all(folder_);
    }
  }

  [[nodiscard]] std::filesystem::path file() const { return folder_ / "events.db"; }

 private:
  void make(std::int64_t trials) const {
    std::filesystem::remove_all(folder_);
    const std::filesystem::path unfinished = folder_.string() + "-unfinished";
    std::filesystem::remove_all(unfinished);
    std::filesystem::create_directories(unfinished);
    fill(unfinished / file().filename(), trials);
    std::filesystem::rename(unfinished, folder_);
  }

  static void fill(const std::filesystem::path& file, std::int64_t trials) {
    auto store = daemon::SqliteStore::open(file);
    HPSEARCH_CHECK(store.has_value(), "the bench has a disk");
    const engine::Status empty =
        (*store)->recover([](const engine::Event&) { return engine::Status(engine::Done{}); });
    HPSEARCH_CHECK(empty.has_value(), "a new store is empty");
    std::vector<engine::Event> group;
    const auto flush = [&] {
      HPSEARCH_CHECK((*store)->append(group).has_value(), "the bench has room on its disk");
      group.clear();
    };
    const SearchShape shape{.trials = trials, .max_length = 64, .rungs = 3, .every_unit = true};
    Search search(shape, [&](engine::Effects& effects, std::chrono::nanoseconds) {
      for (engine::Event& event : effects.events) {
        group.push_back(std::move(event));
      }
      if (group.size() >= 20'000) {
        flush();
      }
    });
    while (!search.over()) {
      search.advance();
    }
    flush();
  }

  std::filesystem::path folder_;
  bool keep_ = false;
};

/// The speed of reading a log of so many events.
void count_events(benchmark::State& state, std::uint64_t events) {
  state.SetComplexityN(state.range(0));
  state.SetItemsProcessed(static_cast<std::int64_t>(events) * state.iterations());
  state.counters["events_per_trial"] = static_cast<double>(events) / static_cast<double>(state.range(0));
}

void replay(benchmark::State& state) {
  const StoredSearch stored(state.range(0));
  std::uint64_t events = 0;
  for (auto _ : state) {
    auto store = daemon::SqliteStore::open(stored.file());
    engine::Engine engine(searchers::registry());
    const engine::Status done =
        (*store)->recover([&engine](const engine::Event& event) { return engine.replay(event); });
    HPSEARCH_CHECK(done.has_value(), "what was stored is read");
    events = (*store)->last_lsn().number();
    HPSEARCH_CHECK(engine.last_lsn().number() == events, "all of it");
    state.PauseTiming();
    { const engine::Engine gone = std::move(engine); }
    state.ResumeTiming();
  }
  count_events(state, events);
}

// The floor: SQLite returns every row, and the rows are not read.
void scan(benchmark::State& state) {
  const StoredSearch stored(state.range(0));
  std::uint64_t events = 0;
  for (auto _ : state) {
    auto store = daemon::SqliteStore::open(stored.file());
    const engine::Status done =
        (*store)->recover([](const engine::Event&) { return engine::Status(engine::Done{}); });
    HPSEARCH_CHECK(done.has_value(), "what was stored is read");
    events = (*store)->last_lsn().number();
  }
  count_events(state, events);
}

BENCHMARK(replay)->Name("store/replay")->Apply(hundred_to_million)->Iterations(1)->UseRealTime();
BENCHMARK(scan)->Name("store/scan")->Apply(hundred_to_million)->Iterations(1)->UseRealTime();

}  // namespace
}  // namespace hpsearch
