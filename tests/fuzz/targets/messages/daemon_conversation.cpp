#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "daemon/core/runtime.hpp"
#include "daemon/sessions/worker_sessions.hpp"
#include "daemon/store/memory_store.hpp"
#include "engine/state_text.hpp"
#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/searchers/registry.hpp"
#include "simulation/cluster/nodes/process.hpp"
#include "simulation/invariants.hpp"

// Whatever four workers say to a daemon, in whatever order: its state is consistent after each message,
// everything it says can be read, and a restart gives the same state.
//
// The input is a sequence of steps, each a byte that says what happens, and its operands.

namespace hpsearch::fuzz {
namespace {

using engine::Duration;
using engine::Instant;

constexpr std::size_t most_steps = 60;
constexpr std::size_t peers = 4;

class Stage {
 public:
  Stage() : process_(time_) {
    net::set_log_level("error");
    disk_->cluster = 77;
    boot();
    engine::CreateExperiment command;
    command.config = *proto::parse_json(R"({
      "name": "small", "entrypoint": ["true"],
      "hyperparameters": {"lr": {"type": "double", "minval": 0.0, "maxval": 1.0}},
      "reproducibility": {"experiment_seed": 7},
      "searcher": {"name": "async_halving", "metric": "loss", "smaller_is_better": true, "max_trials": 8,
                   "max_length": {"epochs": 4}, "num_rungs": 2, "divisor": 2}})");
    HPSEARCH_CHECK(runtime_->perform(command).has_value(), "the search is accepted");
    pass(Duration{});
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage() { end(); }

  void step(Parts& parts) {
    const unsigned what = parts.byte();
    switch (what % 8) {
      case 6:
        pass(Duration::millis(parts.byte() * 100));
        break;
      case 7:
        restart();
        break;
      default:
        hear(what, parts.chunk());
    }
    const std::string broken = engine::broken_invariant(runtime_->engine());
    HPSEARCH_CHECK(broken.empty(), broken.c_str());
  }

  void restart() {
    pass(Duration{});
    HPSEARCH_CHECK(runtime_->idle(), "everything was stored");
    const std::string lived = engine::state_text(runtime_->engine());
    end();
    boot();
    HPSEARCH_CHECK(recovered_ == lived, "a restart gives the same state");
  }

 private:
  struct Connection {
    std::uint64_t session = 0;
    std::uint64_t said = 0;
    std::optional<engine::AttemptKey> leased;
  };

  class Port final : public net::PeerPort {
   public:
    explicit Port(Stage& stage) : stage_(stage) {}
    [[nodiscard]] std::string endpoint() const override { return "fuzz"; }
    bool send(const net::Peer& peer, std::span<const std::byte> frame) override {
      stage_.note(peer, frame);
      return true;
    }

   private:
    Stage& stage_;
  };

  /// The store's disk, which takes everything at once.
  class Prompt final : public daemon::StoreExecutor {
   public:
    Prompt(net::Timeline& time, std::function<bool()> work) : time_(time), work_(std::move(work)) {}
    void wake() override {
      next_ = time_.after(std::chrono::microseconds(0), [this] {
        while (work_()) {
        }
      });
    }

   private:
    net::Timeline& time_;
    std::function<bool()> work_;
    net::Watch next_;
  };

  void boot() {
    process_.begin(time_.now() + Duration::seconds(1'000'000));
    store_ = std::make_unique<daemon::MemoryStore>(disk_);
    runtime_ = std::make_unique<daemon::Runtime>(
        process_, *store_, searchers::registry(), engine::Patience{},
        [this](std::function<bool()> work) -> std::unique_ptr<daemon::StoreExecutor> {
          return std::make_unique<Prompt>(process_, std::move(work));
        });
    const auto recovered = runtime_->recover();
    HPSEARCH_CHECK(recovered.has_value(), "what was stored can be read");
    recovered_ = engine::state_text(runtime_->engine());  // The start itself adds to it.
    auto opened = daemon::WorkerSessions::open(
        *runtime_,
        [this](net::PeerPort::OnFrame on_frame) -> engine::Result<std::unique_ptr<net::PeerPort>> {
          on_frame_ = std::move(on_frame);
          return std::unique_ptr<net::PeerPort>(std::make_unique<Port>(*this));
        },
        {.checkpoint_root = "/checkpoints"});
    sessions_ = std::move(opened).value();
    runtime_->start([this](const engine::Order& order) { sessions_->carry_out(order); },
                    [](const engine::Error&) { HPSEARCH_CHECK(false, "this disk never fails"); });
  }

  void end() {
    process_.kill();
    sessions_.reset();
    runtime_.reset();
    store_.reset();
    for (Connection& connection : connections_) {
      connection = {};
    }
  }

  void pass(Duration wait) {
    bool over = false;
    time_.after(wait, [&over] { over = true; });
    // The commit of what was just asked for, and what is done behind it.
    for (int round = 0; !over || (!runtime_->idle() && round < 1'000); ++round) {
      HPSEARCH_CHECK(time_.step(), "the daemon has a clock");
    }
  }

  /// As it is; or, so that a changed message is not merely one of a wrong session, in the peer's session, and
  /// about the attempt that it was given last.
  void hear(unsigned what, std::string_view frame) {
    const std::size_t peer = what / 8 % peers;
    Connection& connection = connections_.at(peer);
    std::string said(frame);
    if (auto framed = proto::decode_from_worker(bytes_of(frame)); framed && what < 128) {
      ++connection.said;
      const bool hello = std::holds_alternative<proto::Hello>(framed->message);
      framed->envelope = {77, disk_->opened, hello ? 0 : connection.session, connection.said};
      std::visit(
          [&connection](auto& message) {
            if constexpr (requires { message.key; }) {
              message.key = connection.leased.value_or(message.key);
            }
          },
          framed->message);
      const proto::Bytes encoded = proto::encode(framed->envelope, framed->message);
      said.assign(reinterpret_cast<const char*>(encoded.data()), encoded.size());
    }
    if (said.size() <= proto::max_frame_bytes) {
      on_frame_(std::to_string(peer), bytes_of(said));
    }
    pass(Duration{});
  }

  void note(const net::Peer& peer, std::span<const std::byte> frame) {
    HPSEARCH_CHECK(frame.size() <= proto::max_frame_bytes, "no frame is too large");
    const auto framed = proto::decode_from_daemon(frame);
    HPSEARCH_CHECK(framed.has_value(), "what the daemon says can be read");
    Connection& connection = connections_.at(std::stoul(peer));
    if (std::holds_alternative<proto::Welcome>(framed->message)) {
      connection.session = framed->envelope.session_epoch;
    } else if (const auto* lease = std::get_if<proto::Lease>(&framed->message)) {
      connection.leased = lease->spec.key;
    }
  }

  simulation::VirtualTime time_;
  simulation::Process process_;
  std::shared_ptr<daemon::MemoryDisk> disk_ = std::make_shared<daemon::MemoryDisk>();
  std::unique_ptr<daemon::MemoryStore> store_;
  std::string recovered_;
  std::unique_ptr<daemon::Runtime> runtime_;
  std::unique_ptr<daemon::WorkerSessions> sessions_;
  net::PeerPort::OnFrame on_frame_;
  std::vector<Connection> connections_ = std::vector<Connection>(peers);
};

void run_daemon_conversation(std::string_view bytes) {
  Stage stage;
  Parts parts(bytes);
  for (std::size_t step = 0; step < most_steps && !parts.done(); ++step) {
    stage.step(parts);
  }
  stage.restart();
}

/// A message of this peer, with the envelope that fits.
std::string say(unsigned peer, const proto::FromWorker& message) {
  const proto::Bytes frame = proto::encode(proto::Envelope{}, message);
  return static_cast<char>(peer * 8) + as_chunk({reinterpret_cast<const char*>(frame.data()), frame.size()});
}

proto::Hello hello(const std::string& uid, std::uint64_t slots) {
  proto::Hello greeting;
  greeting.uid = uid;
  greeting.name = "worker " + uid;
  greeting.incarnation = 1;
  greeting.boot_id = "boot";
  greeting.slots = slots;
  greeting.slot_kind = "cpu";
  return greeting;
}

Seeds daemon_conversation_seeds() {
  const engine::AttemptKey key;  // That of the lease takes its place.
  const auto metrics = [](std::uint64_t step, double loss) {
    return engine::Report(engine::MetricsReport{engine::Units{step}, {{"loss", loss}}});
  };
  const engine::Report exit = engine::ExitReport{engine::ExitReport::Cause::exited, 0, "", ""};
  const std::string lived =
      say(0, hello("a", 1)) + say(0, proto::Started{key}) +
      say(0, proto::Reports{key, 1, {metrics(1, 0.5)}}) +
      say(0,
          proto::Reports{
              key, 2, {metrics(2, 0.4), engine::CheckpointReport{engine::Units{2}, "/c/1", 2, 30}}}) +
      say(0, proto::Reports{key, 4, {exit}});
  const std::string again = say(0, proto::Started{key}) + say(0, proto::Beat{}) +
                            say(0, proto::Reports{key, 1, {metrics(4, 0.1), exit}});
  const std::string pause{'\6', '\x7F'};
  const std::string restart{'\7'};
  Seeds all{
      lived + again + pause + say(0, proto::Goodbye{"done"}),
      say(0, hello("a", 2)) + say(1, hello("b", 1)) + say(1, proto::Started{key}) + restart +
          say(1, hello("b", 1)) + say(0, hello("a", 2)) + pause + again,
      say(0, hello("a", 1)) + say(1, hello("a", 1)) + say(0, proto::Beat{}),
  };
  std::string every = say(0, hello("a", 1));
  for (const std::string& golden : files_in("tests/golden/wire_v1/from_worker")) {
    every += '\0' + as_chunk(golden);
  }
  all.push_back(every);
  return all;
}

const Registered daemon_conversation_target({"daemon_conversation", run_daemon_conversation,
                                             daemon_conversation_seeds, 500});

}  // namespace
}  // namespace hpsearch::fuzz
