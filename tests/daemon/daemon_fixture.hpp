#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "daemon/access/authentication.hpp"
#include "daemon/access/tokens.hpp"
#include "daemon/blobs/kept_store.hpp"
#include "daemon/core/runtime.hpp"
#include "daemon/http/http_routes.hpp"
#include "daemon/keys/invites.hpp"
#include "daemon/pump.hpp"
#include "daemon/sessions/worker_port.hpp"
#include "daemon/sessions/worker_sessions.hpp"
#include "daemon/sign_on/provider.hpp"
#include "daemon/store/gated_store.hpp"
#include "engine/state_text.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/experiment/experiment_state.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/io/net/background.hpp"
#include "hpsearch/io/zmq/zmq_port.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/wire/wire.hpp"
#include "hpsearch/searchers/registry.hpp"
#include "scratch.hpp"

namespace hpsearch::daemon {

/// A search of `max_trials` trials of four epochs each, without early stopping.
inline engine::Value small_search(std::int64_t max_trials) {
  const auto parsed = proto::parse_json(R"({
    "name": "small",
    "entrypoint": ["python3", "train.py"],
    "hyperparameters": {"lr": {"type": "double", "minval": 0.0, "maxval": 1.0}},
    "reproducibility": {"experiment_seed": 7},
    "searcher": {"name": "random", "metric": "loss", "smaller_is_better": true, "max_trials": )" +
                                        std::to_string(max_trials) + R"(, "max_length": {"epochs": 4}}
  })");
  EXPECT_TRUE(parsed) << parsed.error().message;
  return *parsed;
}

/// A whole daemon except its process, on a disk in memory.
class DaemonFixture {
 public:
  explicit DaemonFixture(engine::Patience patience = {}) : patience_(patience) { start(); }
  DaemonFixture(const DaemonFixture&) = delete;
  DaemonFixture& operator=(const DaemonFixture&) = delete;
  ~DaemonFixture() { crash(); }

  void start() {
    store = std::make_unique<GatedStore>(disk);
    runtime = std::make_unique<Runtime>(loop, *store, searchers::registry(), patience_);
    const auto recovered = runtime->recover();
    ASSERT_TRUE(recovered) << recovered.error().message;
    auto opened =
        WorkerSessions::open(*runtime, router_port(loop, "tcp://127.0.0.1:0"),
                             {.checkpoint_root = "/checkpoints/default",
                              .repeat_after = engine::Duration::millis(500),
                              .log_patience = engine::Duration::millis(500),
                              .new_http_key = new_secret,
                              .on_log_not_kept =
                                  [this](engine::WorkerId worker, const proto::LogNotKept& message) {
                                    kept->note_log_problem(message.key, worker, message.why);
                                  },
                              .open_secrets = opener()});
    ASSERT_TRUE(opened) << opened.error().message;
    sessions = std::move(opened).value();
    checks = std::make_unique<net::Background>(loop, 2);
    const auto ended_at = [this](engine::ExperimentId experiment) {
      const engine::ExperimentRecord* record = runtime->engine().find(experiment);
      return record != nullptr && engine::is_ended(record->state) ? std::optional(record->ended_at)
                                                                  : std::nullopt;
    };
    kept = std::make_unique<KeptStore>(loop, (folder.path() / "kept").string(), kept_limits, ended_at);
    serve_http(true);
    runtime->start([this](const engine::Order& order) { sessions->carry_out(order); },
                   [this](const engine::Error& error) { failure = error; });
  }
  [[nodiscard]] jobs::Programs::OpenSecrets opener() const {
    if (secrets == nullptr) {
      return {};
    }
    return [this](const engine::Value& config) { return secrets->open(config); };
  }
  /// `open`: no token is needed.
  void serve_http(bool open) {
    http.reset();
    authentication = std::make_unique<Authentication>(
        tokens, Authentication::Rules{.owner = ::geteuid(), .open = open, .proxy = proxy},
        [this](std::string_view key) { return sessions->is_http_key(key); }, Authentication::OnUse(),
        &browsers);
    authentication->use_roles(roles, provider == nullptr ? "" : provider->settings().issuer);
    const ServedRoutes routes = http_routes(*runtime, *sessions,
                                            {.version = "0.1.0",
                                             .state_dir = "/state",
                                             .started = loop.now(),
                                             .contexts = contexts.get(),
                                             .kept = kept.get(),
                                             .checks = checks.get(),
                                             .authentication = authentication.get(),
                                             .secrets = secrets,
                                             .audit = audit,
                                             .audits_reads = audits_reads,
                                             .sessions = &browsers,
                                             .tokens = &tokens,
                                             .provider = [this] { return provider; },
                                             .invites = &invites,
                                             .lag = &net::lag_of(loop)});
    std::filesystem::create_directories(folder.path() / "uploads");
    auto listening = net::HttpServer::listen(
        loop, "127.0.0.1:0", routes.handler,
        {.other_type = std::string(yaml_type),
         .large_bodies = {{"/api/v1/contexts/", "application/x-tar", 5'000'000},
                          {"/api/v1/logs/", "application/zstd", 5'000'000},
                          {"/api/v1/files/", "application/octet-stream", proto::most_piece_bytes}},
         .uploads = (folder.path() / "uploads").string(),
         .let_in = routes.let_in});
    ASSERT_TRUE(listening) << listening.error().message;
    http = std::move(listening).value();
  }
  /// Opens the workers' port again, with other settings; its HTTP routes are removed then.
  void reopen_gate(WorkerSessions::Settings settings) {
    http.reset();
    sessions.reset();
    auto opened = WorkerSessions::open(*runtime, router_port(loop, "tcp://127.0.0.1:0"), std::move(settings));
    ASSERT_TRUE(opened) << opened.error().message;
    sessions = std::move(opened).value();
  }
  /// Like a kill: what is not durable is lost.
  void crash() {
    checks.reset();
    http.reset();
    kept.reset();
    sessions.reset();
    runtime.reset();
    store.reset();
  }
  void restart() {
    crash();
    start();
  }

  void pump_until(const std::function<bool()>& done) { pump(loop, done); }

  engine::ExperimentId submit(const engine::Value& config) {
    engine::CreateExperiment command;
    command.config = config;
    std::optional<engine::Result<Runtime::Outcome>> answer;
    static_cast<void>(runtime->perform(
        command, [&](const engine::Result<Runtime::Outcome>& outcome) { answer = outcome; }));
    pump_until([&] { return answer.has_value(); });
    EXPECT_TRUE(*answer) << (*answer ? "" : answer->error().message);
    return *answer && (*answer)->created ? *(*answer)->created : engine::ExperimentId{};
  }

  struct Answer {
    unsigned status = 0;
    engine::Value body;
    std::string text;
    net::HttpHeaders headers{};

    /// "" if there is none.
    [[nodiscard]] std::string header(std::string_view name) const {
      for (const auto& [known, value] : headers) {
        if (known == name) {
          return value;
        }
      }
      return "";
    }
    /// A member by its dotted path as JSON; "" if it is absent.
    [[nodiscard]] std::string at(std::string_view path) const {
      const engine::Value* value = body.at_path(path);
      return value == nullptr ? "" : engine::compact_json(*value);
    }
    [[nodiscard]] std::size_t count(std::string_view path) const {
      const engine::Value* value = body.at_path(path);
      return value == nullptr || value->as_list() == nullptr ? 0 : value->as_list()->size();
    }
  };
  Answer ask(const std::string& method, const std::string& target, const std::string& body = "",
             const net::HttpHeaders& headers = {}) {
    std::optional<engine::Result<net::HttpResponse>> response;
    std::thread client([&, address = http->address()] {
      auto got = net::http_request(address, method, target, body, std::chrono::minutes(5), headers);
      loop.post([&, got = std::move(got)] { response = got; });
    });
    pump_until([&] { return response.has_value(); });
    client.join();
    Answer answer;
    EXPECT_TRUE(*response) << (*response ? "" : response->error().message);
    if (*response) {
      answer.status = (*response)->status;
      answer.text = (*response)->body;
      answer.headers = (*response)->headers;
      if (!answer.text.empty() && (*response)->content_type.find("json") != std::string::npos) {
        auto parsed = proto::parse_json(answer.text);
        EXPECT_TRUE(parsed) << answer.text;
        answer.body = parsed ? *parsed : engine::Value{};
      }
    }
    return answer;
  }

  /// The body of the answer, of any type.
  std::string ask_text(const std::string& target) {
    std::optional<engine::Result<net::HttpResponse>> response;
    std::thread client([&, address = http->address()] {
      auto got = net::http_request(address, "GET", target, "", std::chrono::minutes(5), {});
      loop.post([&, got = std::move(got)] { response = got; });
    });
    pump_until([&] { return response.has_value(); });
    client.join();
    EXPECT_TRUE(*response) << (*response ? "" : response->error().message);
    return *response ? (*response)->body : std::string();
  }

  /// The engine's whole state, as text.
  [[nodiscard]] static std::string picture(const engine::Engine& engine) {
    return engine::state_text(engine);
  }
  [[nodiscard]] std::string picture() const { return picture(runtime->engine()); }

  net::Loop loop;
  std::shared_ptr<MemoryDisk> disk = std::make_shared<MemoryDisk>();
  std::unique_ptr<GatedStore> store;
  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<WorkerSessions> sessions;
  std::unique_ptr<net::HttpServer> http;
  std::unique_ptr<net::Background> checks;
  std::unique_ptr<Contexts> contexts;  ///< Set by the test; used from serve_http() on.
  std::unique_ptr<KeptStore> kept;
  KeptStore::Limits kept_limits{.quota = std::uint64_t{20} << 30U};  ///< Used from start() on.
  Scratch folder;
  Tokens tokens{folder.path().string()};
  Invites invites{folder.path().string()};
  AuditQueue* audit = nullptr;  ///< Used from serve_http() on.
  bool audits_reads = false;    ///< Likewise.
  Sessions browsers{folder.path().string()};
  std::shared_ptr<Provider> provider;  ///< Where people sign in; used from serve_http() on, as the next two.
  RoleTable roles;
  ProxyHeader proxy;
  std::unique_ptr<Authentication> authentication;
  const SealedSecrets* secrets = nullptr;  ///< Seals configurations from start() on.
  std::optional<engine::Error> failure;

 private:
  engine::Patience patience_;
};

/// A worker that sends exactly what the test passes to it, over a real socket.
class ScriptedWorker {
 public:
  explicit ScriptedWorker(DaemonFixture& fixture, std::string uid = "uid-1")
      : daemon_(fixture), uid_(std::move(uid)) {
    connect();
  }

  /// Connects again to the daemon's present address.
  void connect() {
    port_.reset();
    auto connected =
        net::DealerPort::connect(daemon_.loop, daemon_.sessions->endpoint(), proto::max_frame_bytes,
                                 [this](std::span<const std::byte> frame) { on_event(frame); });
    ASSERT_TRUE(connected) << connected.error().message;
    port_ = std::move(connected).value();
  }
  void disconnect() { port_.reset(); }

  void send(const proto::FromWorker& message) {
    ++envelope.msg_no;
    send_bytes(proto::encode(envelope, message));
  }
  void send_bytes(const proto::Bytes& bytes) {
    daemon_.pump_until([&] { return port_->send(bytes); });
  }

  [[nodiscard]] proto::Hello greeting() const {
    proto::Hello hello;
    hello.uid = uid_;
    hello.name = "worker of " + uid_;
    hello.incarnation = incarnation;
    hello.boot_id = "boot";
    hello.pid = pid;
    hello.slots = slots;
    hello.slot_kind = "cpu";
    hello.held = held;
    hello.nonce = nonce;
    return hello;
  }
  void send_hello() {
    envelope.session_epoch = 0;
    send(greeting());
  }
  proto::Welcome join() {
    forget();
    send_hello();
    const auto welcome = wait_for<proto::Welcome>();
    return welcome;
  }

  template <class Message>
  [[nodiscard]] std::vector<Message> all() const {
    std::vector<Message> found;
    for (const proto::FromDaemon& message : heard) {
      if (const auto* wanted = std::get_if<Message>(&message)) {
        found.push_back(*wanted);
      }
    }
    return found;
  }
  /// Waits until `count` of them have arrived; returns the last.
  template <class Message>
  Message wait_for(std::size_t count = 1) {
    daemon_.pump_until([&] { return all<Message>().size() >= count; });
    const auto found = all<Message>();
    return found.empty() ? Message{} : found.back();
  }
  void forget() { heard.clear(); }

  proto::Envelope envelope;
  std::uint64_t incarnation = 1;
  std::uint64_t pid = 0;
  std::uint64_t nonce = 0;
  std::uint64_t slots = 1;
  std::vector<engine::HeldAttempt> held;
  std::vector<proto::FromDaemon> heard;

 private:
  void on_event(std::span<const std::byte> frame) {
    const auto framed = proto::decode_from_daemon(frame);
    ASSERT_TRUE(framed) << framed.error().message;
    if (std::holds_alternative<proto::Welcome>(framed->message)) {
      envelope.cluster = framed->envelope.cluster;
      envelope.daemon_epoch = framed->envelope.daemon_epoch;
      envelope.session_epoch = framed->envelope.session_epoch;
    }
    heard.push_back(framed->message);
  }

  DaemonFixture& daemon_;
  std::string uid_;
  std::unique_ptr<net::DealerPort> port_;
};

inline engine::Report metrics_report(std::uint64_t step, double loss) {
  return engine::MetricsReport{engine::Units(step), {{"loss", loss}}};
}

inline engine::Report exit_report(engine::ExitReport::Cause cause, int code) {
  return engine::ExitReport{cause, code, "", ""};
}

}  // namespace hpsearch::daemon
