#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "dispatch/servers.hpp"
#include "dispatch/swarm.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/proto/wire/wire.hpp"

// What a daemon does between a worker's report and its acknowledgement: decode, decide, store, fdatasync,
// answer; beside it what no daemon can go below: a ROUTER that echoes, and a disk that syncs.

namespace hpsearch::bench {
namespace {

constexpr int reports_per_trial = 8;
constexpr int rounds = 5;
constexpr std::chrono::duration<double> round_time{1.0};

/// Asks for its own words back; as long as a report.
class EchoTalker final : public Talker {
 public:
  void begin() override {}
  [[nodiscard]] bool can_ask() const override { return true; }
  void ask() override { send(words_); }
  bool on_event(std::span<const std::byte> /*frame*/) override { return true; }

 private:
  std::array<std::byte, 128> words_{};
};

/// A worker with one slot whose programs take no time: reports, exits when it has to, takes the next lease.
class WorkerTalker final : public Talker {
 public:
  explicit WorkerTalker(std::size_t number) : number_(number) {}

  void begin() override {
    proto::Hello hello;
    hello.uid = "bench-" + std::to_string(number_);
    hello.name = hello.uid;
    hello.incarnation = 1;
    hello.boot_id = "bench";
    hello.slots = 1;
    hello.slot_kind = "cpu";
    say(std::move(hello));
  }

  [[nodiscard]] bool can_ask() const override { return leased_ && (asked_to_end_ || step_ < length_); }

  void ask() override {
    proto::Reports reports{key_, ++seq_, {}};
    if (asked_to_end_) {
      reports.reports.emplace_back(engine::ExitReport{});
      leased_ = false;
    } else {
      const double loss = static_cast<double>((number_ * 7919 + ++step_ * 104729) % 1000) / 1000;
      reports.reports.emplace_back(engine::MetricsReport{engine::Units{step_}, {{"loss", loss}}});
    }
    asked_ = key_;
    say(std::move(reports));
  }

  bool on_event(std::span<const std::byte> frame) override {
    const auto framed = proto::decode_from_daemon(frame);
    HPSEARCH_CHECK(framed.has_value(), "the daemon speaks our protocol");
    envelope_.cluster = framed->envelope.cluster;
    envelope_.daemon_epoch = framed->envelope.daemon_epoch;
    envelope_.session_epoch = framed->envelope.session_epoch;
    if (const auto* lease = std::get_if<proto::Lease>(&framed->message)) {
      if (lease->spec.key != key_) {
        key_ = lease->spec.key;
        length_ = engine::count(lease->spec.length);
        step_ = 0;
        seq_ = 0;
        asked_to_end_ = false;
        leased_ = true;
      }
      say(proto::Started{key_});
    } else if (const auto* decide = std::get_if<proto::Decide>(&framed->message)) {
      if (decide->key == key_) {
        asked_to_end_ = decide->decision.directive != engine::Directive::train_on;
        length_ = engine::count(decide->decision.length);
      }
      say(proto::DecisionAck{decide->key, decide->decision.id});
    } else if (const auto* ack = std::get_if<proto::Ack>(&framed->message)) {
      return ack->key == asked_ && (ack->key != key_ || ack->upto >= seq_);
    } else if (std::holds_alternative<proto::RetryAfter>(framed->message)) {
      begin();  // Too many at once; nothing is measured before everybody is in.
    } else {
      HPSEARCH_CHECK(std::holds_alternative<proto::Welcome>(framed->message),
                     proto::name_of(framed->message));
    }
    return false;
  }

 private:
  void say(proto::FromWorker message) {
    ++envelope_.msg_no;
    send(proto::encode(envelope_, message));
  }

  std::size_t number_;
  proto::Envelope envelope_;
  engine::AttemptKey key_;
  engine::AttemptKey asked_;
  std::uint64_t length_ = 0;
  std::uint64_t step_ = 0;
  std::uint64_t seq_ = 0;
  bool leased_ = false;
  bool asked_to_end_ = false;
};

/// The time of one small durable append.
class SyncedFile {
 public:
  SyncedFile()
      : folder_(bench_folder("sync")),
        file_(::open((folder_ / "file").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
    HPSEARCH_CHECK(file_ >= 0, "the bench has a disk");
  }
  SyncedFile(const SyncedFile&) = delete;
  SyncedFile& operator=(const SyncedFile&) = delete;
  ~SyncedFile() {
    ::close(file_);
    std::filesystem::remove_all(folder_);
  }

  [[nodiscard]] Swarm::Course course(std::chrono::duration<double> time) const {
    constexpr std::array<char, 512> record{};
    Swarm::Course course;
    const Clock::time_point start = Clock::now();
    while (Clock::now() - start < time) {
      const Clock::time_point begun = Clock::now();
      HPSEARCH_CHECK(
          ::write(file_, record.data(), record.size()) == std::ssize(record) && ::fdatasync(file_) == 0,
          "the disk takes it");
      course.seconds.push_back(std::chrono::duration<double>(Clock::now() - begun).count());
    }
    course.wall_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return course;
  }

 private:
  std::filesystem::path folder_;
  int file_;
};

/// Rounds of the same thing, one after the other with rounds of what it is compared with.
struct Rounds {
  std::vector<double> seconds;
  double wall_seconds = 0;

  void add(const Swarm::Course& course) {
    seconds.insert(seconds.end(), course.seconds.begin(), course.seconds.end());
    wall_seconds += course.wall_seconds;
  }
  [[nodiscard]] double per_second() const { return static_cast<double>(seconds.size()) / wall_seconds; }
  [[nodiscard]] double percentile(double share) {
    HPSEARCH_CHECK(!seconds.empty(), "something was measured");
    const auto at =
        std::min(seconds.size() - 1, static_cast<std::size_t>(share * static_cast<double>(seconds.size())));
    std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(at), seconds.end());
    return seconds[at];
  }
};

enum class Pace : std::uint8_t {
  closed,  ///< Each worker reports again when its last report is acknowledged, which is after it was synced.
  steady,  ///< A thousand reports a second, due evenly, from all workers together.
};

/// Reports to a daemon; in turn with an echo to as many peers, and with syncs of a file.
void report(benchmark::State& state, Pace pace) {
  const auto workers = static_cast<std::size_t>(state.range(0));
  const EchoServer echo_server;
  const DaemonServer daemon(reports_per_trial);
  const SyncedFile file;
  Swarm echoes(echo_server.port(), workers, [](std::size_t) { return std::make_unique<EchoTalker>(); });
  Swarm reporters(daemon.port(), workers,
                  [](std::size_t number) { return std::make_unique<WorkerTalker>(number); });
  Rounds report;
  Rounds echo;
  Rounds sync;
  for (auto _ : state) {
    for (int round = 0; round < rounds; ++round) {
      sync.add(file.course(round_time / 2));
      echo.add(echoes.closed_loop(round_time));
      report.add(pace == Pace::closed ? reporters.closed_loop(round_time)
                                      : reporters.open_loop(1'000, round_time));
    }
    state.SetIterationTime(report.wall_seconds);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(report.seconds.size()));
  state.counters["echo_per_second"] = echo.per_second();
  state.counters["of_echo"] = report.per_second() / echo.per_second();
  state.counters["p50_us"] = report.percentile(0.5) * 1e6;
  state.counters["p99_us"] = report.percentile(0.99) * 1e6;
  state.counters["echo_p50_us"] = echo.percentile(0.5) * 1e6;
  state.counters["sync_p50_us"] = sync.percentile(0.5) * 1e6;
  state.counters["sync_p99_us"] = sync.percentile(0.99) * 1e6;
  state.counters["p50_of_floor"] = report.percentile(0.5) / (echo.percentile(0.5) + sync.percentile(0.5));
  state.counters["p99_in_syncs"] = report.percentile(0.99) / sync.percentile(0.5);
}

void once(benchmark::internal::Benchmark* bench) {
  bench->ArgName("workers")->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(report, closed, Pace::closed)->Name("dispatch/report")->Arg(1)->Arg(1000)->Apply(once);
BENCHMARK_CAPTURE(report, steady, Pace::steady)->Name("dispatch/steady")->Arg(100)->Apply(once);

}  // namespace
}  // namespace hpsearch::bench
