#include "dispatch/servers.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>
#include <zmq.hpp>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::bench {
namespace {

using engine::Value;
using namespace std::chrono_literals;

/// Starts `run` in a process of its own, which does not outlive this one.
template <class Run>
pid_t fork_child(Run run) {
  const pid_t pid = ::fork();
  HPSEARCH_CHECK(pid >= 0, "the bench can fork");
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    run();
    ::_exit(1);
  }
  return pid;
}

std::uint16_t port_of(const std::string& endpoint) {
  return static_cast<std::uint16_t>(std::stoul(endpoint.substr(endpoint.rfind(':') + 1)));
}

[[noreturn]] void echo(int say) {
  zmq::context_t context(1);
  zmq::socket_t router(context, zmq::socket_type::router);
  router.set(zmq::sockopt::backlog, 4'096);
  router.bind("tcp://127.0.0.1:*");
  const std::uint16_t port = port_of(router.get(zmq::sockopt::last_endpoint));
  HPSEARCH_CHECK(::write(say, &port, sizeof port) == sizeof port, "the bench hears its child");
  for (;;) {
    zmq::message_t peer;
    zmq::message_t frame;
    const bool got = router.recv(peer).has_value() && router.recv(frame).has_value();
    if (got) {
      router.send(peer, zmq::send_flags::sndmore);
      router.send(frame, zmq::send_flags::none);
    }
  }
}

std::pair<std::uint16_t, pid_t> start_echo() {
  int pipe_ends[2];
  HPSEARCH_CHECK(::pipe2(pipe_ends, O_CLOEXEC) == 0, "the bench has a pipe");
  const pid_t pid = fork_child([&] { echo(pipe_ends[1]); });
  std::uint16_t port = 0;
  HPSEARCH_CHECK(::read(pipe_ends[0], &port, sizeof port) == sizeof port, "the echo server starts");
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
  return {port, pid};
}

pid_t start_daemon(const std::filesystem::path& folder) {
  return fork_child([&] {
    const std::string state = folder / "state";
    const int log = ::open((folder / "log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    ::execl(HPSEARCHD, HPSEARCHD, "--state-dir", state.c_str(), "--http", "127.0.0.1:0", "--http-open",
            "--workers", "tcp://127.0.0.1:0", "--workers-open", "--log-level", "error", nullptr);
  });
}

/// The daemon's description of itself once it listens.
Value announcement(const std::filesystem::path& folder) {
  for (int tries = 0; tries < 1'000; ++tries) {
    std::ifstream file(folder / "state" / "daemon.json");
    std::ostringstream text;
    text << file.rdbuf();
    if (file) {
      auto parsed = proto::parse_json(text.str());
      HPSEARCH_CHECK(parsed.has_value(), "the daemon's announcement is JSON");
      return *std::move(parsed);
    }
    std::this_thread::sleep_for(10ms);
  }
  HPSEARCH_CHECK(false, "the daemon starts within ten seconds");
  return {};
}

Value endless_search(int reports_per_trial) {
  return Value::Map{
      {"config",
       Value::Map{
           {"name", "dispatch"},
           {"entrypoint", "true"},
           {"hyperparameters",
            Value::Map{
                {"lr", Value::Map{{"type", "log"}, {"base", 10}, {"minval", -4}, {"maxval", -1}}},
                {"momentum", Value::Map{{"type", "double"}, {"minval", 0.0}, {"maxval", 1.0}}},
                {"layers", Value::Map{{"type", "int"}, {"minval", 1}, {"maxval", 8}}},
                {"optimizer", Value::Map{{"type", "categorical"}, {"vals", Value::List{"adam", "sgd"}}}}}},
           {"searcher", Value::Map{{"name", "random"},
                                   {"metric", "loss"},
                                   {"max_length", Value::Map{{"batches", reports_per_trial}}},
                                   {"max_trials", 100'000'000},
                                   {"max_concurrent_trials", 0}}}}}};
}

}  // namespace

std::filesystem::path bench_folder(const std::string& name) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("hpsearch-bench-" + name + "-" + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

Child::Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {
}

Child::~Child() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

EchoServer::EchoServer()
    : child_([this] {
        const auto [port, pid] = start_echo();
        port_ = port;
        return Child(pid);
      }()) {
}

DaemonServer::DaemonServer(int reports_per_trial)
    : folder_(bench_folder("dispatch")), child_(start_daemon(folder_)) {
  const Value said = announcement(folder_);
  port_ = port_of(*said.at_path("workers")->as_text());
  const auto submitted = net::http_request(*said.at_path("http")->as_text(), "POST", "/api/v1/experiments",
                                           engine::compact_json(endless_search(reports_per_trial)), 10s);
  HPSEARCH_CHECK(submitted.has_value() && submitted->status < 300,
                 submitted ? submitted->body.c_str() : submitted.error().message.c_str());
}

DaemonServer::~DaemonServer() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace hpsearch::bench
