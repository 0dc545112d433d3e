#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/access/authentication.hpp"
#include "daemon/access/tokens.hpp"
#include "daemon/core/runtime.hpp"
#include "daemon/http/http_routes.hpp"
#include "daemon/sessions/worker_sessions.hpp"
#include "daemon/store/sqlite_store.hpp"
#include "engine_search.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/net/background.hpp"
#include "hpsearch/io/net/loop_lag.hpp"
#include "hpsearch/proto/wire/wire.hpp"

// How long each route, and each message of a worker, holds the daemon's loop at the largest sizes. It asks
// the handlers of the daemon themselves, over a store on disk, and prints a table: no assertion, one run.
//
//   turns_bench [TRIALS [EXPERIMENTS [WORKERS]]]

namespace hpsearch {
namespace {

using daemon::AboutDaemon;
using engine::Value;

/// Takes what the daemon sends to workers and lets the bench speak for them.
class Workers final : public net::PeerPort {
 public:
  Workers(OnFrame on_frame, std::vector<proto::Lease>& leases)
      : on_frame_(std::move(on_frame)), leases_(leases) {}
  [[nodiscard]] std::string endpoint() const override { return "none"; }
  bool send(const net::Peer& peer, std::span<const std::byte> frame) override {
    auto framed = proto::decode_from_daemon(frame);
    if (framed && peer == "worker 0") {
      ++answers_[std::string(proto::name_of(framed->message))];
    }
    if (framed && std::holds_alternative<proto::Welcome>(framed->message)) {
      session_of_[peer] = framed->envelope;
    } else if (framed && std::holds_alternative<proto::Lease>(framed->message) && peer == "worker 0") {
      leases_.push_back(std::get<proto::Lease>(framed->message));
    }
    return true;
  }
  void hear(const net::Peer& peer, const proto::FromWorker& message) {
    proto::Envelope envelope = session_of_[peer];
    envelope.msg_no = ++messages_;
    const proto::Bytes frame = proto::encode(envelope, message);
    last_bytes_ = frame.size();
    on_frame_(peer, frame);
  }
  [[nodiscard]] std::size_t last_bytes() const { return last_bytes_; }
  /// The messages to worker 0 since the last call, and how many.
  [[nodiscard]] std::map<std::string, std::uint64_t> take_answers() { return std::exchange(answers_, {}); }

 private:
  OnFrame on_frame_;
  std::vector<proto::Lease>& leases_;
  std::map<net::Peer, proto::Envelope> session_of_;
  std::map<std::string, std::uint64_t> answers_;
  std::uint64_t messages_ = 0;
  std::size_t last_bytes_ = 0;
};

/// A search in which so many trials were created and some still run, in a store.
void fill(const std::filesystem::path& file, std::uint64_t trials) {
  auto store = daemon::SqliteStore::open(file);
  HPSEARCH_CHECK(store.has_value(), "the bench has a disk");
  const auto empty = (*store)->recover([](const engine::Event&) { return engine::Status(engine::Done{}); });
  HPSEARCH_CHECK(empty.has_value(), "a new store is empty");
  std::vector<engine::Event> group;
  const auto flush = [&] {
    HPSEARCH_CHECK((*store)->append(group).has_value(), "the bench has room on its disk");
    group.clear();
  };
  const bench::SearchShape shape{.trials = static_cast<std::int64_t>(trials) + 1'000};
  bench::Search search(shape, [&](engine::Effects& effects, std::chrono::nanoseconds) {
    std::move(effects.events.begin(), effects.events.end(), std::back_inserter(group));
    if (group.size() >= 20'000) {
      flush();
    }
  });
  while (!search.over() && search.trials() < trials) {
    search.advance();
  }
  flush();
}

/// Time of this thread alone: other programs of the machine do not count.
std::uint64_t own_nanoseconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

class Bench {
 public:
  explicit Bench(const std::filesystem::path& folder)
      : store_(*daemon::SqliteStore::open(folder / "events.db")),
        runtime_(loop_, *store_, searchers::registry(), {}),
        tokens_(folder.string()) {
    HPSEARCH_CHECK(runtime_.recover().has_value(), "what was stored is read");
    net::lag_of(loop_).set_meter(&own_nanoseconds);
    sessions_ = *daemon::WorkerSessions::open(
        runtime_,
        [this](net::PeerPort::OnFrame on_frame) -> engine::Result<std::unique_ptr<net::PeerPort>> {
          auto port = std::make_unique<Workers>(std::move(on_frame), leases_);
          workers_ = port.get();
          return std::unique_ptr<net::PeerPort>(std::move(port));
        },
        {.checkpoint_root = "/checkpoints", .hellos_per_second = 1'000'000});
    const auto say = [](const engine::Error& error) { std::printf("storage: %s\n", error.message.c_str()); };
    runtime_.start([this](const engine::Order& order) { sessions_->carry_out(order); }, say, say);
    AboutDaemon about;
    about.checks = &checks_;
    about.authentication = &authentication_;
    routes_ = daemon::http_routes(runtime_, *sessions_, about);
    settle();
  }

  /// Runs the loop until nothing is left to do at once.
  void settle() {
    const net::Watch look = loop_.every(std::chrono::milliseconds(5), [this] {
      const auto due = runtime_.engine().next_deadline();
      if (runtime_.idle() && (!due || *due > runtime_.now())) {
        loop_.stop();
      }
    });
    loop_.run();
  }

  /// Does that in a turn of its own and prints the longest turn until everything is settled.
  void measure(const std::string& what, const std::function<void()>& task) {
    settle();
    static_cast<void>(net::lag_of(loop_).take_longest_turn());
    bytes_ = 0;
    const auto began = std::chrono::steady_clock::now();
    loop_.post(task);
    settle();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    const double turn = static_cast<double>(net::lag_of(loop_).take_longest_turn()) / 1e6;
    std::printf("%-64s %10zu bytes %8.2f ms a turn %9.1f ms in all\n", what.c_str(), bytes_, turn,
                took.count());
    std::fflush(stdout);
  }

  void ask(const std::string& method, const std::string& path, const std::string& body = "",
           const net::HttpHeaders& query = {}) {
    std::string shown = method + " " + path;
    for (const auto& [name, value] : query) {
      shown += " " + name + "=" + value;
    }
    bool done = false;
    unsigned status = 0;
    std::size_t size = 0;
    const auto request = [&] {
      net::HttpRequest asked{method, path, query, {}, body, {}, {std::nullopt, "127.0.0.1"}};
      routes_.handler(std::move(asked), [&](const net::HttpResponse& response) {
        done = true;
        status = response.status;
        size = response.body.size();
        bytes_ = size;
        last_ = response.body.substr(0, 160);
      });
    };
    measure(shown, request);
    while (!done) {
      settle();
    }
    if (status >= 300) {
      std::printf("    %u, %zu bytes: %s\n", status, size, last_.c_str());
    }
  }

  void hear(const std::string& peer, const proto::FromWorker& message) {
    measure(std::string(proto::name_of(message)) + " of " + peer, [&] {
      workers_->hear(peer, message);
      bytes_ = workers_->last_bytes();
    });
    for (const auto& [name, times] : workers_->take_answers()) {
      std::printf("    answered %s %llu times\n", name.c_str(), static_cast<unsigned long long>(times));
    }
  }

  void join(std::uint64_t number, std::uint64_t slots, bool shown) {
    proto::Hello hello;
    hello.uid = "uid-" + std::to_string(number);
    hello.name = "node" + std::to_string(number) + ".cluster.example.org";
    hello.incarnation = 1;
    hello.boot_id = "boot";
    hello.slots = slots;
    hello.slot_kind = "gpu";
    for (std::uint64_t slot = 0; slots <= 512 && slot < slots; ++slot) {
      hello.devices.push_back({"GPU-" + std::to_string(number) + "-" + std::to_string(slot), "NVIDIA H200",
                               slot, std::uint64_t{141} << 30U});
    }
    const std::string peer = "worker " + std::to_string(number);
    if (shown) {
      hear(peer, hello);
    } else {
      loop_.post([&] { workers_->hear(peer, hello); });
      settle();
    }
  }

  void submit(const Value& config) {
    ask("POST", "/api/v1/experiments", engine::compact_json(Value::Map{{"config", config}}));
  }
  void create_many(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      engine::CreateExperiment command;
      command.config = bench::search_of({.trials = 10});
      static_cast<void>(runtime_.perform(std::move(command)));
      if (i % 100 == 99) {
        settle();
      }
    }
    settle();
  }
  [[nodiscard]] std::vector<proto::Lease>& leases() { return leases_; }

 private:
  net::Loop loop_;
  std::unique_ptr<daemon::SqliteStore> store_;
  daemon::Runtime runtime_;
  std::vector<proto::Lease> leases_;
  Workers* workers_ = nullptr;
  std::unique_ptr<daemon::WorkerSessions> sessions_;
  net::Background checks_{loop_, 2};
  daemon::Tokens tokens_;
  daemon::Authentication authentication_{tokens_, {.owner = ::geteuid(), .open = true}};
  daemon::ServedRoutes routes_;
  std::size_t bytes_ = 0;
  std::string last_;
};

/// As large as fits: so many values of one parameter.
Value large_config() {
  Value::List values;
  for (std::int64_t i = 0; i < 40'000; ++i) {
    values.emplace_back(i % 100);
  }
  Value config = bench::search_of({.trials = 100});
  Value::Map& parameters = *(*config.as_map())["hyperparameters"].as_map();
  parameters["choice"] = Value::Map{{"type", "categorical"}, {"vals", std::move(values)}};
  return config;
}

/// As many reports as fit into a frame.
proto::Reports many_reports(const engine::AttemptKey& key, std::uint64_t first_seq, std::uint64_t count,
                            std::uint64_t metrics) {
  proto::Reports reports{key, first_seq, {}};
  for (std::uint64_t i = 0; i < count; ++i) {
    engine::Metrics values;
    for (std::uint64_t m = 0; m < metrics; ++m) {
      values.emplace_back("m" + std::to_string(m), 0.5 * static_cast<double>(i + m));
    }
    reports.reports.emplace_back(engine::MetricsReport{engine::Units(first_seq + i), std::move(values)});
  }
  return reports;
}

void run(std::uint64_t trials, std::uint64_t experiments, std::uint64_t workers) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("hpsearch-turns-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  fill(folder / "events.db", trials);
  {
    Bench bench(folder);
    const std::string first = "/api/v1/experiments/1";
    const std::string some_trial = first + "/trials/" + std::to_string(trials / 2);
    bench.submit(large_config());
    bench.create_many(experiments);
    for (std::uint64_t i = 0; i < workers; ++i) {
      bench.join(i, 8, i == 0);
    }
    bench.join(workers, 512, true);
    bench.join(workers + 1, 1'024, true);

    bench.ask("GET", "/api/v1/status");
    bench.ask("GET", "/api/v1/workers");
    bench.ask("GET", "/api/v1/experiments");
    bench.ask("GET", first);
    bench.ask("GET", first + "/config");
    bench.ask("GET", "/api/v1/experiments/2/config");
    bench.ask("GET", first + "/best");
    bench.ask("GET", first + "/trials");
    bench.ask("GET", "/api/v1/experiments/2/trials");
    bench.ask("GET", first + "/checkpoints");
    bench.ask("GET", some_trial);
    bench.ask("GET", some_trial + "/explain");
    for (const char* waiting : {"/trials/3", "/trials/7", "/trials/11"}) {
      bench.ask("GET", first + waiting + "/explain");
    }
    bench.ask("GET", some_trial + "/checkpoints");
    bench.ask("GET", "/api/v1/experiments/2/trials/0/log");
    bench.ask("GET", "/api/v1/events", "", {{"limit", "1000"}});
    bench.ask("GET", "/metrics");

    if (!bench.leases().empty()) {
      const engine::AttemptKey key = bench.leases().front().spec.key;
      const std::string its_trial = "/api/v1/experiments/" + std::to_string(key.experiment.number()) +
                                    "/trials/" + std::to_string(key.trial.number());
      bench.hear("worker 0", proto::Started{key});
      std::uint64_t seq = 1;
      bench.hear("worker 0", many_reports(key, seq, 1'000, 5));
      seq += 1'000;
      bench.hear("worker 0", many_reports(key, seq, 1'000, 1));
      seq += 1'000;
      bench.hear("worker 0", many_reports(key, seq, 450, 40));
      seq += 450;
      proto::Beat beat;
      for (std::uint64_t i = 0; i < 1'000; ++i) {
        beat.progress.push_back({key, engine::Units(i), i});
      }
      bench.hear("worker 0", beat);
      proto::Reports saved{key, seq, {}};
      for (std::uint64_t i = 0; i < 1'000; ++i) {
        saved.reports.emplace_back(engine::CheckpointReport{engine::Units(100'000 + i),
                                                            "/checkpoints/trial/" + std::to_string(i), 3, 5});
      }
      bench.hear("worker 0", saved);
      bench.ask("GET", its_trial + "/metrics");
      bench.ask("GET", its_trial + "/checkpoints");
      bench.ask("GET", its_trial + "/explain");
      bench.ask("GET", its_trial);
    }
    bench.ask("PATCH", first, R"({"resources": {"max_slots": 500}})");
    bench.ask("PATCH", first, R"({"resources": {"max_slots": null}})");
    bench.ask("POST", first + "/pause");
    bench.ask("POST", first + "/resume");
    bench.ask("POST", first + "/cancel");
    bench.ask("POST", first + "/kill");
    bench.ask("GET", first);
  }
  std::filesystem::remove_all(folder);
}

std::uint64_t argument(int argc, char** argv, int place, std::uint64_t otherwise) {
  return argc > place ? std::strtoull(argv[place], nullptr, 10) : otherwise;
}

}  // namespace
}  // namespace hpsearch

int main(int argc, char** argv) {
  hpsearch::run(hpsearch::argument(argc, argv, 1, 100'000), hpsearch::argument(argc, argv, 2, 2'000),
                hpsearch::argument(argc, argv, 3, 1'000));
}
