#include "hpsearch/workers/determined/harness_host.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/files/random_bytes.hpp"
#include "hpsearch/jobs/dialects/determined.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/workers/core/adapters/determined/determined_config.hpp"
#include "hpsearch/workers/core/adapters/determined/determined_launch.hpp"
#include "hpsearch/workers/core/program_message.hpp"
#include "hpsearch/workers/determined/bind_mounts.hpp"
#include "hpsearch/workers/determined/private_root.hpp"
#include "hpsearch/workers/shell/shim/local_socket.hpp"

namespace hpsearch::workers {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Instant;
using engine::Result;
using engine::Status;
using engine::Units;
using engine::Value;

namespace {

constexpr const char* cluster = "hpsearch";
constexpr std::size_t most_body_bytes = 64UL * 1024 * 1024;  // Includes metrics of each batch.
constexpr std::size_t longest_answer = 4 * max_message_bytes;
constexpr int exit_failed = 1;
constexpr std::chrono::seconds look_for_parts_every{2};

// The steps of Determined's own container entry point, in their order.
constexpr const char* sequence = R"(
python="${DET_PYTHON_EXECUTABLE:-python3}"
if ! "$python" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("determined") is None)'; then
  echo "hpsearch-determined: $python ($(command -v "$python" || echo "not on PATH")) has no package determined;" \
    "install determined==0.24.0, or name the Python that has it in environment_variables:" \
    "DET_PYTHON_EXECUTABLE, and PATH for the programs that it starts" >&2
  exit 1
fi
set -e
"$python" -m determined.exec.prep_container --trial --resources --proxy
if [ -f startup-hook.sh ]; then . ./startup-hook.sh; fi
"$python" -m determined.exec.prep_container --rendezvous
exec "$python" -m determined.exec.launch
)";

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

/// Free ports. Each stays bound until all are found, so they differ.
std::vector<std::string> free_ports(std::size_t wanted) {
  std::vector<Descriptor> sockets;
  std::vector<std::string> ports;
  for (std::size_t i = 0; i < wanted; ++i) {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
        ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      break;
    }
    ports.push_back(std::to_string(ntohs(address.sin_port)));
    sockets.push_back(std::move(socket));
  }
  return ports;
}

/// Writes a line to the attempt's log.
void say(const std::string& text) {
  std::fprintf(stderr, "hpsearch-determined: %s\n", text.c_str());
}

}  // namespace

HarnessHost::HarnessHost(net::Loop& loop, Environment environment, OnEnd on_end)
    : loop_(loop),
      environment_(std::move(environment)),
      on_end_(std::move(on_end)),
      answers_(longest_answer) {
}

std::string HarnessHost::variable(const std::string& name) const {
  const auto found = environment_.find(name);
  return found == environment_.end() ? "" : found->second;
}

Status HarnessHost::start() {
  for (const auto step :
       {&HarnessHost::read_trial, &HarnessHost::connect, &HarnessHost::listen, &HarnessHost::launch}) {
    if (const Status done = (this->*step)(); !done) {
      return done;
    }
  }
  return Done{};
}

Status HarnessHost::read_trial() {
  const auto number = [this](const char* name, std::uint64_t& to) -> Status {
    const std::string text = variable(name);
    const auto found = engine::number_in<std::uint64_t>(text);
    if (!found) {
      return Error{Errc::bad_request, std::string(name) + " is \"" + text + "\"; it must be a whole number"};
    }
    to = *found;
    return Done{};
  };
  const auto tree = [this](const char* name, Value& to) -> Status {
    Result<Value> value = proto::parse_json(variable(name));
    if (!value) {
      return Error{Errc::bad_request, std::string(name) + " is no JSON: " + value.error().message};
    }
    to = *std::move(value);
    return Done{};
  };
  std::uint64_t length = 0;
  for (const Status& read :
       {number("HPSEARCH_EXPERIMENT_ID", trial_.experiment), number("HPSEARCH_TRIAL_ID", trial_.trial),
        number("HPSEARCH_ATTEMPT", trial_.run), number("HPSEARCH_LENGTH", length),
        tree("HPSEARCH_PARAMS", trial_.hparams), tree(jobs::determined_config_variable, trial_.config)}) {
    if (!read) {
      return read;
    }
  }
  for (const char* name : {"HPSEARCH_HARNESS_DIR", "HPSEARCH_CHECKPOINT_DIR", "HPSEARCH_OUTPUT_DIR"}) {
    if (!variable(name).starts_with('/')) {
      return Error{Errc::bad_request,
                   std::string(name) + " is \"" + variable(name) + "\"; it must be an absolute directory"};
    }
  }
  trial_.length = Units{length};
  trial_.unit = variable("HPSEARCH_UNIT");
  if (const Status read = read_nodes(); !read) {
    return read;
  }
  trial_.allocation = "trial-" + std::to_string(trial_.trial) + "." + std::to_string(trial_.run);
  if (trial_.rank > 0) {
    trial_.allocation += "." + std::to_string(trial_.rank);  // The harness has files with this name in /tmp.
  }
  trial_.token = files::random_hex(24);
  const Result<Value> devices = proto::parse_json(variable("DET_SLOT_IDS"));
  trial_.slots = devices && devices->as_list() != nullptr ? devices->as_list()->size() : 0;
  const Value* wanted = trial_.config.at_path("resources.slots_per_trial");
  if (trial_.slots == 0 && wanted != nullptr && wanted->number_or(0) > 1) {
    trial_.slots = static_cast<std::uint64_t>(wanted->number_or(0)) /
                   trial_.addresses.size();  // Processes without GPUs.
  }

  files_.emplace(variable("HPSEARCH_HARNESS_DIR"), variable("HPSEARCH_CHECKPOINT_DIR"),
                 variable("HPSEARCH_OUTPUT_DIR"));
  if (const Status made = files_->make(cluster); !made) {
    return made;
  }
  Result<Value> latest = files_->lend(variable("HPSEARCH_LATEST_CHECKPOINT"));
  if (!latest) {
    return latest.error();
  }
  trial_.latest_checkpoint = *std::move(latest);
  session_.emplace(trial_);
  return Done{};
}

/// The attempt's nodes, if it runs on several: all have the same number of slots.
Status HarnessHost::read_nodes() {
  if (variable(harness_nodes_variable).empty()) {
    return Done{};
  }
  const Result<Value> nodes = proto::parse_json(variable(harness_nodes_variable));
  const Value* addresses = nodes ? nodes->at_path("addresses") : nullptr;
  const Value* rank = nodes ? nodes->at_path("rank") : nullptr;
  const Value* ports = nodes ? nodes->at_path("ports") : nullptr;
  const Value::List* list = addresses != nullptr ? addresses->as_list() : nullptr;
  const Value::List* numbers = ports != nullptr ? ports->as_list() : nullptr;
  const bool well =
      list != nullptr && numbers != nullptr && rank != nullptr && rank->as_integer() != nullptr &&
      *rank->as_integer() >= 0 && *rank->as_integer() < static_cast<std::int64_t>(list->size()) &&
      std::all_of(list->begin(), list->end(), [](const Value& each) { return each.as_text() != nullptr; }) &&
      std::all_of(numbers->begin(), numbers->end(), [](const Value& each) { return each.is_number(); });
  if (!well) {
    return Error{Errc::bad_request, std::string(harness_nodes_variable) + " is " +
                                        variable(harness_nodes_variable) +
                                        "; it must name addresses, a rank among them and ports"};
  }
  trial_.addresses.clear();
  for (const Value& address : *list) {
    trial_.addresses.push_back(*address.as_text());
  }
  trial_.rank = static_cast<std::uint64_t>(*rank->as_integer());
  for (const Value& port : *numbers) {
    ports_.push_back(engine::compact_json(port));
  }
  return Done{};
}

Status HarnessHost::connect() {
  if (trial_.rank > 0) {
    return Done{};  // Its output is not read.
  }
  Result<Descriptor> worker = connect_locally(variable("HPSEARCH_SOCKET"));
  if (!worker) {
    return Error{worker.error().code, "HPSEARCH_SOCKET: " + worker.error().message};
  }
  worker_ = *std::move(worker);
  answering_ = loop_.when_readable(worker_.get(), [this] { read_answers(); });
  return Done{};
}

Status HarnessHost::listen() {
  const auto serve_it = [this](net::HttpRequest request, net::HttpServer::Reply reply) {
    serve(std::move(request), std::move(reply));
  };
  // Requests without the attempt's token are rejected, so the type of a body isn't checked.
  auto server = net::HttpServer::listen(loop_, "127.0.0.1:0", serve_it,
                                        {.most_body_bytes = most_body_bytes, .only_json = false});
  if (!server) {
    return server.error();
  }
  server_ = *std::move(server);
  return Done{};
}

Status HarnessHost::launch() {
  children_ = loop_.on_signals({SIGCHLD}, [this](int) { reap(); });
  harness_ = ::fork();
  if (harness_ < 0) {
    return Error{Errc::unavailable, "cannot start the harness: " + error_text(errno)};
  }
  if (harness_ == 0) {
    become_harness();
  }
  if (trial_.rank > 0) {
    parts_ = loop_.every(look_for_parts_every, [this] { look_for_parts(); });
  }
  return Done{};
}

/// Runs in the new process.
void HarnessHost::become_harness() const {
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGPIPE}) {
    ::signal(number, SIG_DFL);
  }
  const std::string directory = std::filesystem::current_path().string();
  std::map<std::filesystem::path, std::filesystem::path> places{{"/run/determined", files_->run()},
                                                                {determined_storage_path, files_->storage()}};
  if (const Value* mounts = trial_.config.at_path("bind_mounts")) {
    places.merge(missing_places(*mounts));
  }
  const Status entered = enter_private_root(files_->root(), places);
  if (!entered) {
    say("the Determined harness writes to /run/determined and " + std::string(determined_storage_path) +
        ", which it needs for itself alone, in a private mount namespace; " + entered.error().message);
    ::_exit(exit_failed);
  }
  if (const Value* mounts = trial_.config.at_path("bind_mounts")) {
    if (const Status made = make_bind_mounts(*mounts, directory); !made) {
      say(made.error().message);
      ::_exit(exit_failed);
    }
  }
  if (::chdir(directory.c_str()) != 0) {
    say("cannot enter " + directory + ": " + error_text(errno));
    ::_exit(exit_failed);
  }
  std::vector<std::string> texts;
  for (const auto& [name, value] : harness_environment()) {
    texts.push_back(name + "=" + value);
  }
  std::vector<char*> variables;
  for (std::string& text : texts) {
    variables.push_back(text.data());
  }
  variables.push_back(nullptr);
  // Startup hooks are written for bash.
  const char* shell = ::access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh";
  std::string name = shell;
  std::string flag = "-c";
  std::string script = sequence;
  const std::array<char*, 4> argv{name.data(), flag.data(), script.data(), nullptr};
  ::execve(shell, argv.data(), variables.data());
  say(std::string("cannot run ") + shell + ": " + error_text(errno));
  ::_exit(exit_failed);
}

HarnessHost::Environment HarnessHost::harness_environment() const {
  Environment variables = environment_;
  const auto at_least = [&variables](const char* name, const std::string& value) {
    variables.emplace(name, value);
  };
  variables["DET_MASTER"] = "http://" + server_->address();
  variables["DET_CLUSTER_ID"] = cluster;
  variables["DET_AGENT_ID"] = host_name();
  variables["DET_TASK_ID"] = "trial-" + std::to_string(trial_.trial);
  variables["DET_TASK_TYPE"] = "TRIAL";
  variables["DET_ALLOCATION_ID"] = trial_.allocation;
  variables["DET_SESSION_TOKEN"] = trial_.token;
  variables["DET_RESOURCES_ID"] = trial_.allocation + ".0";
  variables["DET_RESOURCES_TYPE"] = "docker-container";
  variables["DET_CONTAINER_ID"] = trial_.allocation + ".0";
  variables["DET_SEGMENT_ENABLED"] = "false";
  variables["DET_SKIP_PIP_INSTALL"] = "1";
  variables["DET_WORKDIR"] = std::filesystem::current_path().string();
  if (variables["DET_SLOT_IDS"] == "[]" && (trial_.slots > 1 || trial_.addresses.size() > 1)) {
    Value::List slots;
    for (std::uint64_t slot = 0; slot < trial_.slots; ++slot) {
      slots.emplace_back(static_cast<std::int64_t>(slot));
    }
    variables["DET_SLOT_IDS"] = engine::compact_json(Value(std::move(slots)));
  }
  variables.erase("DET_LATEST_CHECKPOINT");
  variables["DET_STEPS_COMPLETED"] = "0";
  if (const Value* uuid = trial_.latest_checkpoint.at_path("uuid")) {
    variables["DET_LATEST_CHECKPOINT"] = *uuid->as_text();
    const Value* steps = trial_.latest_checkpoint.at_path("steps_completed");
    // The steps of another trial don't count for this one.
    variables["DET_STEPS_COMPLETED"] =
        steps == nullptr || !variable("HPSEARCH_WARM_START").empty() ? "0" : engine::compact_json(*steps);
  }
  // Trials with several processes on one machine must not share the harness's built-in ports.
  const std::array<const char*, 3> port_variables{"C10D_PORT", "INTER_TRAIN_PROCESS_COMM_PORT_1",
                                                  "INTER_TRAIN_PROCESS_COMM_PORT_2"};
  if (trial_.addresses.size() > 1 || trial_.slots > 1) {
    const std::vector<std::string> ports =
        trial_.addresses.size() > 1 ? ports_ : free_ports(port_variables.size());
    for (std::size_t i = 0; i < std::min(ports.size(), port_variables.size()); ++i) {
      at_least(port_variables[i], ports[i]);
    }
  }
  // A site's proxy can't reach this machine's loopback.
  for (const char* name : {"no_proxy", "NO_PROXY"}) {
    std::string& hosts = variables[name];
    hosts.append(hosts.empty() ? "" : ",").append("127.0.0.1");
  }
  return variables;
}

// --- events ---

void HarnessHost::serve(net::HttpRequest request, net::HttpServer::Reply reply) {
  DeterminedRequest asked;
  asked.id = DeterminedRequestId(++last_request_);
  asked.timeout_seconds = request.query_or("timeout_seconds", "");
  asked.authorization = request.header("Grpc-Metadata-x-allocation-token");
  if (asked.authorization.empty()) {
    asked.authorization = request.header("Authorization");
  }
  asked.method = std::move(request.method);
  asked.path = std::move(request.path);
  asked.body = std::move(request.body);
  replies_[asked.id] = std::move(reply);
  DeterminedSession::Effects effects;
  session_->asked(asked, loop_.now(), effects);
  carry_out(std::move(effects));
}

void HarnessHost::read_answers() {
  std::array<char, 16UL * 1024> piece;  // Filled by recv().
  const ssize_t got = ::recv(worker_.get(), piece.data(), piece.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    return;
  }
  if (got <= 0) {
    // Without the worker, the harness's reports would be lost, and nothing would end it.
    answering_ = net::Watch();
    say("the attempt's shim is gone; ending the harness");
    ::kill(harness_, SIGKILL);
    return;
  }
  answers_.feed({piece.data(), static_cast<std::size_t>(got)}, [this](std::string_view line) {
    DeterminedSession::Effects effects;
    session_->answered(line, loop_.now(), effects);
    carry_out(std::move(effects));
  });
}

/// If a trial runs on several nodes, only the chief's files become a checkpoint. A file that is seen only
/// once may be the harness's test for write access, which it removes at once.
void HarnessHost::look_for_parts() {
  const std::string part = files_->part_of_a_checkpoint();
  const bool stays = !part.empty() && part == part_seen_;
  part_seen_ = part;
  if ((stays || harness_ == 0) && !part.empty() && !std::exchange(wrote_a_part_, true)) {
    say("the checkpoint " + part +
        " has a part on this node, which is not the chief's: checkpoints in parts (shard=True) "
        "are not kept of trials on several nodes");
    if (harness_ > 0) {
      ::kill(harness_, SIGKILL);
    }
  }
}

void HarnessHost::reap() {
  int status = 0;
  if (harness_ <= 0 || ::waitpid(harness_, &status, WNOHANG) != harness_) {
    return;
  }
  harness_ = 0;
  if (trial_.rank > 0) {
    look_for_parts();
  }
  DeterminedSession::Effects effects;
  session_->ended(effects);
  carry_out(std::move(effects));
  files_->tidy();
  if (wrote_a_part_) {
    on_end_({.by_signal = false, .code = exit_failed});
  } else if (WIFSIGNALED(status)) {
    on_end_({.by_signal = true, .code = WTERMSIG(status)});
  } else {
    on_end_({.by_signal = false, .code = session_->exit_status(WEXITSTATUS(status))});
  }
}

// --- effects of the session ---

void HarnessHost::carry_out(DeterminedSession::Effects effects) {
  for (const DeterminedEffect& effect : effects) {
    std::visit([this](const auto& known) { carry_out(known); }, effect);
  }
  wake_in_time();
}

void HarnessHost::wake_in_time() {
  const std::optional<Instant> next = session_->next_wake();
  wake_ = net::Watch();
  if (next) {
    const std::int64_t wait = std::max<std::int64_t>(0, (*next - loop_.now()).in_micros());
    wake_ = loop_.after(std::chrono::microseconds(wait), [this] {
      DeterminedSession::Effects effects;
      session_->check_timers(loop_.now(), effects);
      carry_out(std::move(effects));
    });
  }
}

void HarnessHost::carry_out(const DeterminedReply& reply) {
  const auto found = replies_.find(reply.request);
  if (found != replies_.end()) {
    const net::HttpServer::Reply answer = std::move(found->second);
    replies_.erase(found);
    answer({.status = reply.status, .content_type = "application/json", .body = reply.body});
  }
}

void HarnessHost::carry_out(const SendToWorker& say_it) {
  const std::string line = say_it.line + "\n";
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t sent = ::send(worker_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      rest.remove_prefix(static_cast<std::size_t>(sent));
    } else if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      pollfd writable{.fd = worker_.get(), .events = POLLOUT, .revents = 0};
      ::poll(&writable, 1, -1);  // The shim always reads.
    } else if (sent >= 0 || errno != EINTR) {
      return;  // The connection is closed; read_answers() notices it.
    }
  }
}

void HarnessHost::carry_out(const CheckpointToTake& take) {
  DeterminedSession::Effects effects;
  session_->taken(files_->take(take.uuid, take.record), effects);
  carry_out(std::move(effects));
}

void HarnessHost::carry_out(const ModelToPack& pack) {
  const Result<std::string> packed = pack_in_base64(std::filesystem::current_path());
  if (packed) {
    carry_out(DeterminedReply{pack.request, 200, R"({"b64Tgz":")" + *packed + R"("})"});
  } else {
    carry_out(DeterminedReply{pack.request, 500,
                              engine::compact_json(Value::Map{{"message", packed.error().message}})});
  }
}

void HarnessHost::carry_out(const UnknownRequest& unknown) {
  say("the harness asks for " + unknown.what + ", which is not served here");
}

}  // namespace hpsearch::workers
