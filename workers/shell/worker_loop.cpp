#include "hpsearch/workers/shell/worker_loop.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>

#include "hpsearch/io/files/random_bytes.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/jobs/fields/remote_storage.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "hpsearch/workers/shell/attempt_preparation.hpp"
#include "hpsearch/workers/shell/files.hpp"
#include "hpsearch/workers/shell/processes/container_runtime.hpp"
#include "hpsearch/workers/shell/processes/process_table.hpp"
#include "hpsearch/workers/shell/shim/program_log.hpp"
#include "hpsearch/workers/shell/transfer/checkpoint_publisher.hpp"
#include "hpsearch/workers/shell/transfer/checkpoint_root.hpp"
#include "hpsearch/workers/shell/transfer/condemned_checkpoints.hpp"
#include "hpsearch/workers/shell/transfer/object_storage.hpp"
#include "hpsearch/workers/shell/transfer/user_checkpoints.hpp"

namespace hpsearch::workers {

using engine::AttemptKey;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Instant;
using engine::Result;
using engine::Status;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t longest_log_part = 128 * 1024;
// libzmq drops what it has not sent when the connection goes, and does not say when it has.
constexpr std::chrono::milliseconds farewell_time = 200ms;
// Where our key is not allowed, or theirs is not what we were told.
constexpr std::chrono::milliseconds knock_again_after = 3s;
// While a device has not let go of a program that has ended.
constexpr std::chrono::milliseconds next_device_look = 500ms;
// The daemon tries as often.
constexpr std::chrono::seconds remove_condemned_every = 60s;

double seconds_since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

std::string attempt_text(const AttemptKey& key) {
  return "experiment " + std::to_string(key.experiment.number()) + " trial " +
         std::to_string(key.trial.number()) + " attempt " + std::to_string(key.attempt.number());
}

ProgramNotStarted start_failure(const AttemptKey& key, const std::string& why, bool not_its_fault = false) {
  return {key, why, not_its_fault || reports_scarcity(why), reports_a_bad_disk(why)};
}

WorkerIdentity identity_of(const WorkerState& state, const WorkerOptions& options) {
  return {.uid = state.uid(),
          .name = options.name,
          .incarnation = state.incarnation(),
          .boot_id = boot_id(),
          .pid = static_cast<std::uint64_t>(::getpid()),
          .slots = options.machine.slots,
          .slot_kind = options.slot_kind,
          .kills_by = options.kills_by,
          .devices = options.devices,
          .pool = options.pool,
          .labels = options.labels,
          .ailing = options.ailing,
          .address = options.address,
          .nonce = files::random_number(),
          .max_unslotted = options.max_unslotted,
          .host = options.host,
          .version = options.version};
}

}  // namespace

WorkerLoop::WorkerLoop(net::Loop& loop, const WorkerState& state, WorkerOptions options, OnEnd on_end)
    : loop_(loop),
      state_(state),
      options_(std::move(options)),
      on_end_(std::move(on_end)),
      machine_(identity_of(state, options_), options_.rules,
               engine::Draw(files::random_number(), engine::TrialNumber{}, "retry")),
      kept_files_(state.directory()),
      contexts_(state.contexts(), boot_id(), options_.most_context_bytes),
      file_delivery_(loop, kept_files_, end_of_deliveries_.get_token()),
      spares_(loop, state.spares(), state.incarnation(), options_.shim,
              [this](pid_t pid) { shims_.insert(pid); }),
      use_(options_.devices),
      background_(loop) {
  if (!options_.look.command.empty() && !options_.devices.empty()) {
    devices_ = std::make_unique<DeviceWatch>(loop_, options_.look);
    look_again_ = loop_.every(options_.look.every, [this] { look_at_devices(); });
  }
  child_signals_ = loop_.on_signals({SIGCHLD}, [this](int) { reap_shims(); });
  if (options_.machine.run_as.submitter) {
    condemned_ = loop_.every(remove_condemned_every, [this] { remove_condemned(); });
  }
}

WorkerLoop::~WorkerLoop() {
  *present_ = false;
  end_of_deliveries_.request_stop();
  links_.clear();
  state_.tidy_sockets();
}

Status WorkerLoop::start(std::vector<SpooledAttempt> found) {
  if (const Status connected = connect(); !connected) {
    return connected;
  }
  port_.reset();
  if (const Status served = serve_metrics(); !served) {
    return served;
  }
  working_ = true;
  for (const SpooledAttempt& attempt : found) {
    const std::optional<ProcessRecord> process = state_.attempt(attempt.spec.key).read_process();
    hold_devices(attempt.spec, process ? process->mark : "", attempt.state.unkillable);
  }
  for (const Effect& effect : machine_.start(loop_.now(), std::move(found), state_.known())) {
    std::visit([this](const auto& known) { carry_out(known); }, effect);
  }
  work_off();
  return Done{};
}

void WorkerLoop::stop() {
  ending_ = true;
  spares_.stop();
  push(StopAsked{});
}

void WorkerLoop::leave() {
  spares_.stop();
  push(LeaveAsked{});
}

// --- inputs ---

void WorkerLoop::push(Input input) {
  inputs_.push_back(std::move(input));
  if (!std::exchange(working_, true)) {
    work_off();
  }
}

void WorkerLoop::work_off() {
  for (;;) {
    if (std::exchange(refused_, false)) {
      inputs_.emplace_front(SendRefused{});
    }
    if (inputs_.empty()) {
      break;
    }
    const Input input = std::move(inputs_.front());
    inputs_.pop_front();
    for (const Effect& effect : machine_.step(input, loop_.now())) {
      std::visit([this](const auto& known) { carry_out(known); }, effect);
    }
  }
  working_ = false;
  const std::optional<Instant> next = machine_.next_wake();
  if (next == wake_at_ && wake_) {
    return;
  }
  wake_at_ = next;
  wake_ = net::Watch();
  if (next) {
    const std::int64_t wait = std::max<std::int64_t>(0, (*next - loop_.now()).in_micros());
    wake_ = loop_.after(std::chrono::microseconds(wait), [this] {
      wake_ = net::Watch();
      push(TimePassed{});
    });
  }
}

Status WorkerLoop::connect() {
  knock_again_ = net::Watch{};
  const std::uint64_t number = ++connection_;
  connected_before_ = false;
  auto port = net::DealerPort::connect(
      loop_, options_.daemon, proto::max_frame_bytes,
      [this, number](std::span<const std::byte> frame) {
        // Answering may replace the port, which is not for its own delivery to do.
        loop_.post([this, present = present_, number, bytes = proto::Bytes(frame.begin(), frame.end())] {
          if (*present && number == connection_) {
            receive(bytes);
          }
        });
      },
      options_.curve,
      [this, number](net::DealerPort::Met met) {
        if (met != net::DealerPort::Met::connected) {
          notice_refusal(met);
          return;
        }
        // Answering may replace the port, which is not for its own delivery to do.
        loop_.post([this, present = present_, number, again = std::exchange(connected_before_, true)] {
          if (*present && number == connection_) {
            push(ConnectionMade{again});
          }
        });
      },
      options_.over_ipv6);
  if (!port) {
    return port.error();
  }
  port_ = *std::move(port);
  noticed_bad_frame_ = false;
  return Done{};
}

void WorkerLoop::knock_again() {
  knock_again_ = loop_.after(knock_again_after, [this] {
    if (const Status connected = connect(); !connected) {
      net::log(net::Level::warning, connected.error().message);
      knock_again();
    }
  });
}

/// Said once until the daemon is heard again. libzmq gives such a connection up; the key may be allowed any
/// time, so another one is made for as long as the worker lives.
void WorkerLoop::notice_refusal(net::DealerPort::Met refusal) {
  knock_again();
  if (std::exchange(door_shut_, refusal) == refusal) {
    return;
  }
  const std::string whose = "the daemon at " + options_.daemon;
  if (refusal == net::DealerPort::Met::key_refused) {
    net::log(net::Level::warning,
             whose + " does not allow this worker's key; on its machine: hpsearch keys allow STATE_DIR " +
                 options_.name + " " + options_.curve->keys.public_key);
  } else {
    net::log(net::Level::warning,
             whose + (options_.curve
                          ? " has another key than --server-key or --server-key-file gives, or runs with "
                            "--workers-open"
                          : " demands keys: give --server-key or --server-key-file (hpsearch keys list)"));
  }
}

void WorkerLoop::receive(std::span<const std::byte> frame) {
  door_shut_.reset();
  Result<proto::Framed<proto::FromDaemon>> decoded = proto::decode_from_daemon(frame);
  if (!decoded) {
    if (!std::exchange(noticed_bad_frame_, true)) {
      net::log(net::Level::warning, "the daemon sent something unreadable: " + decoded.error().message);
    }
    return;
  }
  push(FrameReceived{*std::move(decoded)});
}

// --- devices ---

void WorkerLoop::look_at_devices() {
  devices_->ask([this](const DeviceReport& report) { take(report); });
}

void WorkerLoop::take(const DeviceReport& report) {
  last_report_ = report;
  use_.look(report);
  for (std::size_t slot = 0; slot < options_.devices.size() && slot < options_.machine.devices.size();
       ++slot) {
    for (const Device& device : report.devices) {
      if (device.uuid == options_.devices[slot].uuid) {
        options_.machine.devices[slot] = cuda_name(device);  // Numbers move when a GPU is gone.
      }
    }
  }
  push(DevicesJudged{with_withheld(ailing_slots(options_.devices, report), options_.withheld)});
  if (!report.problem.empty()) {
    return;
  }
  const std::map<AttemptKey, Input> lingering = lingering_;
  for (const auto& [key, end] : lingering) {
    if (use_.of(key, report).empty()) {
      let_go(key, end);
    }
  }
}

void WorkerLoop::hold_devices(const jobs::LaunchSpec& spec, const std::string& mark,
                              bool had_leaked_processes) {
  if (const Result<std::string> socket = state_.socket_path(spec.key, "socket"); devices_ && socket) {
    std::vector<std::string> marks = marks_of(*socket);
    if (!mark.empty()) {
      marks.push_back(mark);
    }
    use_.began(spec.key, spec.slots, std::move(marks), had_leaked_processes);
  }
}

template <class End>
void WorkerLoop::settle(const End& end, bool may_leave_a_container) {
  spares_.attempt_ended(end.key);
  const Result<files::Directory> root = state_.attempt(end.key).opened();
  const auto container =
      may_leave_a_container && root ? read_container_record(*root, "container.json") : std::nullopt;
  if (!container) {
    settle_files(end);
    return;
  }
  background_.run(
      [this, end, container, variables = options_.machine.environment]() -> net::Background::Afterwards {
        const Status removed = remove_container(*container, variables);
        return [this, end, removed] {
          if (!removed) {
            net::log(net::Level::warning,
                     attempt_text(end.key) + " has left a container: " + removed.error().message);
          }
          settle_files(end);
        };
      });
}

/// Before anybody hears of the end: who does may look for them.
template <class End>
void WorkerLoop::settle_files(const End& end) {
  const std::optional<Keeping> wanted = machine_.keeping(end.key);
  if (!wanted || wanted->max_bytes == 0) {
    settle_devices(end);
    return;
  }
  background_.run([this, end, keeping = *wanted, attempt = state_.attempt(end.key),
                   store = machine_.store()]() -> net::Background::Afterwards {
    const Result<std::string> kept = kept_files_.take(attempt, end.key, store, keeping);
    return [this, end, kept] {
      if (!kept) {
        net::log(net::Level::warning,
                 attempt_text(end.key) +
                     ": the files in its working directory are not kept: " + kept.error().message);
      } else if (!kept->empty()) {
        net::log(net::Level::warning, attempt_text(end.key) + ": " + *kept);
      }
      file_delivery_.go_on();
      settle_devices(end);
    };
  });
}

template <class End>
void WorkerLoop::settle_devices(const End& end) {
  settle_devices_until(end, loop_.now() + engine::Duration::millis(options_.look.settle.count()));
}

template <class End>
void WorkerLoop::settle_devices_until(const End& end, Instant until) {
  if (!devices_ || !use_.on_devices(end.key)) {
    push(end);
    return;
  }
  devices_->ask([this, end, until](const DeviceReport& report) {
    const AttemptKey& key = end.key;
    take(report);  // First: a program that fails because its device did is not to blame.
    if (!use_.on_devices(key) || lingering_.contains(key)) {
      return;
    }
    const std::vector<pid_t> left = use_.of(key, report);
    if (left.empty()) {
      const std::string memory = report.problem.empty() ? use_.memory(key, report) : report.problem;
      net::log(net::Level::info, attempt_text(key) + " has left its devices: " + memory);
      let_go(key, end);
    } else if (loop_.now() < until) {
      settling_[key] =
          loop_.after(next_device_look, [this, end, until] { settle_devices_until(end, until); });
    } else {
      lingering_.emplace(key, end);
      ProgramStuck stuck{
          key, "its process " + std::to_string(left.front()) + " has ended, and its GPU still lists it"};
      if constexpr (std::is_same_v<End, ProgramEnded>) {
        stuck.end = end;
      }
      push(std::move(stuck));
    }
  });
}

void WorkerLoop::let_go(const AttemptKey& key, const Input& end) {
  lingering_.erase(key);
  settling_.erase(key);
  use_.over(key);
  push(end);
}

// --- metrics ---

Status WorkerLoop::serve_metrics() {
  if (options_.metrics.empty()) {
    return Done{};
  }
  auto listening =
      net::HttpServer::listen(loop_, options_.metrics,
                              [this](const net::HttpRequest& request, const net::HttpServer::Reply& reply) {
                                reply(answer_scraper(request));
                              },
                              {.most_body_bytes = 1024});
  if (!listening) {
    return Error{listening.error().code, "--metrics: " + listening.error().message};
  }
  metrics_ = std::move(listening).value();
  net::log(net::Level::info, "serves metrics on " + metrics_->address());
  return Done{};
}

net::HttpResponse WorkerLoop::answer_scraper(const net::HttpRequest& request) const {
  net::HttpResponse response;
  if (request.path != "/metrics" || (request.method != "GET" && request.method != "HEAD")) {
    response.status = 404;
    response.content_type = "text/plain; charset=utf-8";
    response.body = "only GET /metrics is served here\n";
    return response;
  }
  WorkerMetricsSources sources{.version = options_.version,
                               .slot_kind = options_.slot_kind,
                               .status = machine_.status(),
                               .transfers = transfers_,
                               .devices = options_.devices,
                               .report = last_report_};
  for (const AttemptKey& key : sources.status.attempts) {
    const AttemptDirectory directory = state_.attempt(key);
    std::error_code absent;
    const std::uintmax_t spool = std::filesystem::file_size(directory.spool(), absent);
    sources.spool_bytes += absent ? 0 : spool;
    const std::uintmax_t journal = std::filesystem::file_size(directory.journal(), absent);
    sources.journal_bytes += absent ? 0 : journal;
  }
  const auto format = proto::PrometheusText::format_for(request.header("Accept"));
  response.content_type = proto::PrometheusText::content_type(format);
  response.body = worker_metrics(sources, format).take();
  return response;
}

// --- effects ---

void WorkerLoop::carry_out(const SendMessage& send) {
  const proto::Bytes frame = proto::encode(send.envelope, send.message);
  if (frame.size() > proto::max_frame_bytes) {
    net::log(net::Level::error, std::string("a ") + proto::name_of(send.message) + " of " +
                                    std::to_string(frame.size()) + " bytes is too large to send");
    return;
  }
  if (!port_ && !connect()) {  // Short of files when it was wanted, and still.
    refused_ = true;
    return;
  }
  if (!port_->send(frame)) {
    refused_ = true;
  }
}

void WorkerLoop::carry_out(const NewConnection& /*connection*/) {
  port_.reset();
  refused_ = false;
  if (const Status connected = connect(); !connected) {
    net::log(net::Level::error, connected.error().message);
  }
}

void WorkerLoop::carry_out(const StartProgram& start) {
  const AttemptKey key = start.spec.key;
  Result<std::string> report_socket = state_.socket_path(key, "socket");
  Result<std::string> agent_socket = state_.socket_path(key, "agent.socket");
  if (!report_socket || !agent_socket) {
    const std::string why = (report_socket ? agent_socket : report_socket).error().message;
    inputs_.emplace_back(start_failure(key, why));
    return;
  }
  if (options_.machine.run_as.submitter &&
      std::filesystem::path(*report_socket).parent_path() != state_.attempt(key).root()) {
    inputs_.emplace_back(start_failure(key, "the path " + state_.attempt(key).root().string() +
                                                " is too long for a socket that the program's user finds; "
                                                "give the worker a shorter --state-dir"));
    return;
  }
  hold_devices(start.spec);
  preparing_[key] = Preparing{start.spec, {*std::move(report_socket), *std::move(agent_socket)}, 0, {}};
  prepare(key);
}

void WorkerLoop::prepare(const AttemptKey& key) {
  Preparing& preparing = preparing_.at(key);
  ++preparing.tries;
  background_.run([this, spec = preparing.spec, machine = options_.machine, directory = state_.attempt(key),
                   setups = state_.setups(), sockets = preparing.sockets]() -> net::Background::Afterwards {
    Result<ContextCache::Tree> tree = ContextCache::Tree();
    std::optional<double> fetched;
    if (!spec.context_digest.empty()) {
      const auto began = std::chrono::steady_clock::now();
      tree = contexts_.provide(spec.context_digest);
      fetched = seconds_since(began);
      if (!tree) {
        return [this, key = spec.key, why = tree.error()] { not_prepared(key, why); };
      }
    }
    const Status can_meet = meeting_port_is_free(spec);
    Prepared prepared;
    if (can_meet) {
      prepared = prepare_attempt(spec, directory, machine, sockets, setups, tree->get());
    }
    return [this, key = spec.key, spec, prepared = std::move(prepared), can_meet, fetched] {
      preparing_.erase(key);
      if (fetched) {
        transfers_.contexts.add(*fetched);
      }
      if (!can_meet) {
        push(ProgramNotStarted{key, can_meet.error().message, true});  // The next lease names another port.
        return;
      }
      const Result<pid_t> shim = prepared.made ? start_program(spec) : Result<pid_t>(prepared.made.error());
      if (shim) {
        shims_.insert(*shim);
      } else {
        ProgramNotStarted failure = start_failure(key, shim.error().message, prepared.outage);
        failure.checkpoint_gone = prepared.checkpoint_gone;
        failure.status = prepared.status;
        push(std::move(failure));
      }
    };
  });
}

/// In the spare for its slots, or as any program is started.
Result<pid_t> WorkerLoop::start_program(const jobs::LaunchSpec& spec) {
  const Result<LaunchOrder> order = read_launch_order(state_.attempt(spec.key).launch());
  std::optional<SpareShims::Taken> spare =
      order ? spares_.take(spec, order->program) : std::optional<SpareShims::Taken>();
  if (spare) {
    hold_devices(spec, spare->mark);
    const pid_t pid = spare->shim.pid;
    link(spec.key).run_in(std::move(spare->shim));
    spares_.attempt_started(spec, order->program);
    return pid;
  }
  const Result<pid_t> started = link(spec.key).start(options_.shim);
  if (started && order) {
    spares_.attempt_started(spec, order->program);
  }
  return started;
}

/// Its context could not be had. Tries again for a while: a daemon may be starting, a disk be tidied.
void WorkerLoop::not_prepared(const AttemptKey& key, const Error& why) {
  Preparing& preparing = preparing_.at(key);
  const bool may_help = why.code == Errc::unavailable;
  if (may_help && preparing.tries < options_.context_tries) {
    net::log(net::Level::warning, why.message + "; trying again");
    preparing.again =
        loop_.after(options_.context_wait * (1U << (preparing.tries - 1)), [this, key] { prepare(key); });
    return;
  }
  preparing_.erase(key);
  push(start_failure(key, why.message, may_help));
}

void WorkerLoop::carry_out(const ContextsServed& served) {
  log_taker_ = {contexts_address(served.http, options_.daemon), served.key};
  contexts_.fetch_from(log_taker_.address, log_taker_.key);
  file_delivery_.in_session(log_taker_, machine_.store());
}

void WorkerLoop::remove_condemned() {
  if (log_taker_.address.empty() || ending_ || std::exchange(removing_condemned_, true)) {
    return;
  }
  background_.run([this, daemon = log_taker_, store = machine_.store(),
                   min_uid = options_.machine.run_as.min_uid]() -> net::Background::Afterwards {
    remove_condemned_checkpoints(daemon, store, min_uid);
    return [this] { removing_condemned_ = false; };
  });
}

void WorkerLoop::carry_out(const HandOverLog& hand_over) {
  background_.run([this, hand_over, directory = state_.attempt(hand_over.key), taker = log_taker_,
                   store = machine_.store(), ending = ending_,
                   stop = end_of_deliveries_.get_token()]() -> net::Background::Afterwards {
    const std::chrono::milliseconds within(hand_over.within.in_micros() / 1'000);
    const auto until = std::chrono::steady_clock::now() + within;
    const std::string problem = deliver_log(directory, hand_over.key, taker, within, stop);
    if (ending) {  // The worker waits for its logs alone, and then its key opens nothing any more.
      file_delivery_.send_all(
          taker, store,
          std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()));
    }
    return [this, hand_over, problem] { push(LogHandedOver{hand_over.key, hand_over.delivery, problem}); };
  });
}

/// The attempt's, made now.
ShimClient& WorkerLoop::link(const AttemptKey& key) {
  ShimClient::Handlers handlers;
  handlers.on_started = [this, key](const JournalStarted& started) {
    net::log(net::Level::debug, state_.attempt(key).root().string() + " is kept by its " + started.means);
    push(ProgramStarted{key});
    if (devices_ && use_.on_devices(key)) {
      devices_->ask([this, key](const DeviceReport& report) {
        take(report);
        if (const std::string strangers = use_.strangers(key, report); !strangers.empty()) {
          net::log(net::Level::warning,
                   attempt_text(key) + " does not have its devices for itself: " + strangers);
        }
      });
    }
  };
  handlers.on_not_started = [this, key](const std::string& why) { push(start_failure(key, why)); };
  handlers.on_message = [this, key](const JournalMessageReceived& said, std::uint64_t position) {
    const auto question = said.question == 0 ? std::nullopt : std::optional(QuestionId{said.question});
    push(ProgramMessageReceived{key, question, said.line, position, said.answered});
  };
  handlers.on_unwritten = [this](const std::string& why) { push(JournalNotWritten{why}); };
  handlers.on_stuck = [this, key](const JournalStuck& stuck) {
    push(ProgramStuck{
        key, "process " + std::to_string(stuck.pid) + " survives SIGKILL, probably stuck in the kernel"});
  };
  handlers.on_ended = [this, key](const JournalEnded& ended) {
    // A runtime's client that ends well has seen its container go.
    settle(ProgramEnded{key, ended.by_signal, ended.code, ended.log_tail, ended.asked, ended.out_of_memory},
           ended.by_signal || ended.code != 0);
  };
  handlers.on_lost = [this, key](const std::string& why) { settle(ProgramLost{key, why}, true); };
  auto& made = links_[key];
  made = std::make_unique<ShimClient>(loop_, state_.attempt(key), std::move(handlers));
  return *made;
}

void WorkerLoop::reap_shims() {
  // One by one: other children, of the script that became us, are not our business.
  std::erase_if(shims_, [](pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG) != 0; });
}

void WorkerLoop::carry_out(const AttachProgram& attach) {
  link(attach.key).attach(attach.position);
}

void WorkerLoop::carry_out(const AnswerAhead& ahead) {
  if (ShimClient* shim = find(ahead.key)) {
    shim->answer_ahead(count(ahead.below), ahead.line);
  }
}

void WorkerLoop::carry_out(const RememberDaemon& remember_daemon) {
  unremembered_ = remember_daemon.daemon;
  if (const Status done = remember(); !done) {
    net::log(net::Level::warning, done.error().message + "; no spool is written before this is");
  }
}

/// Here and now: it happens once in a session at most, and nothing may overtake it.
Status WorkerLoop::remember() {
  Status done = unremembered_ ? state_.remember(*unremembered_) : Status(Done{});
  if (done) {
    unremembered_.reset();
  }
  return done;
}

void WorkerLoop::carry_out(const ProbeDisk& /*probe*/) {
  background_.run([this, directory = state_.attempts()]() -> net::Background::Afterwards {
    const Status tried = try_to_write_in(directory);
    return [this, tried] { push(DiskProbed{tried ? "" : tried.error().message}); };
  });
}

void WorkerLoop::carry_out(const CheckCheckpointRoot& check) {
  background_.run([this, check]() -> net::Background::Afterwards {
    const Status usable = check_checkpoint_root(check.root, check.store);
    return [this, root = check.root, usable] {
      push(CheckpointRootChecked{root, usable ? "" : usable.error().message});
    };
  });
}

void WorkerLoop::carry_out(const WriteSpool& write) {
  const AttemptKey key = write.key;
  if (const Status first = remember(); !first) {
    // A spool of a store nobody knows of would be another store's for the next agent.
    inputs_.emplace_back(SpoolNotWritten{key, write.write, first.error().message});
    return;
  }
  spooling_[key].reset();
  background_.run([this, write, directory = state_.attempt(key)]() -> net::Background::Afterwards {
    const Status written = directory.write_spool(write.bytes, write.anew);
    return [this, directory, key = write.key, number = write.write, position = write.position, written] {
      const std::optional<DeleteAttempt> afterwards = std::move(spooling_.at(key));
      spooling_.erase(key);
      if (afterwards) {
        carry_out(*afterwards);
      } else if (written) {
        ShimClient* shim = find(key);
        if (shim != nullptr && position > 0) {
          shim->drop_before(position);
        }
        push(SpoolWritten{key, number});
      } else {
        push(SpoolNotWritten{key, number, written.error().message, !directory.is_missing(written.error())});
      }
    };
  });
}

void WorkerLoop::carry_out(const SignalProgram& signal) {
  if (ShimClient* shim = find(signal.key)) {
    shim->signal(signal.kill         ? ShimClient::Signal::kill
                 : signal.checkpoint ? ShimClient::Signal::checkpoint
                                     : ShimClient::Signal::terminate,
                 std::chrono::milliseconds(signal.grace.in_micros() / 1'000));
  }
}

void WorkerLoop::carry_out(const AnswerProgram& answer) {
  if (ShimClient* shim = find(answer.key)) {
    shim->answer(answer.question.number(), answer.line);
  }
}

void WorkerLoop::carry_out(const PublishCheckpoint& publish) {
  const AttemptKey key = publish.key;
  background_.run([this, key, publish, own_root = state_.checkpoints(), directory = state_.attempt(key),
                   store = machine_.store()]() -> net::Background::Afterwards {
    const auto began = std::chrono::steady_clock::now();
    const Result<OwnDirectory> from = directory.made_for_checkpoints();
    const Result<std::optional<UnixAccount>> account = directory.runs_as();
    Result<std::optional<engine::CheckpointReport>> published = std::optional<engine::CheckpointReport>();
    if (!from || !account) {
      published = from ? account.error() : from.error();
    } else if (jobs::is_remote(publish.root)) {
      const Result<files::Directory> attempt = directory.opened();
      published = attempt ? upload_checkpoint(*from, *attempt, publish) : attempt.error();
    } else {
      const std::filesystem::path root =
          publish.root.empty() ? own_root : std::filesystem::path(publish.root);
      published = *account
                      ? publish_checkpoint_as(
                            **account, *from, root,
                            publish.root.empty() ? own_root : std::filesystem::path(publish.default_storage),
                            key, publish.step, store)
                      : publish_checkpoint(*from, root, key, publish.step, store);
    }
    return [this, key, from = directory.checkpoint(), published = std::move(published),
            took = seconds_since(began)] {
      if (published && published.value()) {
        transfers_.checkpoints.add(took);
      }
      if (!published) {
        push(CheckpointNotPublished{key, false, published.error().message});
      } else if (!published.value()) {
        push(CheckpointNotPublished{
            key, true,
            "HPSEARCH_CHECKPOINT_DIR (" + from.string() + ") is empty; write the checkpoint there first"});
      } else {
        push(CheckpointPublished{key, *published.value()});
      }
    };
  });
}

void WorkerLoop::carry_out(const DeleteAttempt& remove) {
  const auto found = links_.find(remove.key);
  if (found != links_.end()) {
    // We may be inside one of its own handlers.
    loop_.post([link = std::shared_ptr<ShimClient>(std::move(found->second))] { static_cast<void>(link); });
    links_.erase(found);
  }
  use_.over(remove.key);
  settling_.erase(remove.key);
  lingering_.erase(remove.key);
  const auto spooling = spooling_.find(remove.key);
  if (spooling != spooling_.end()) {
    spooling->second = remove;
    return;
  }
  background_.run(
      [directory = state_.attempt(remove.key), keep = remove.keep_logs]() -> net::Background::Afterwards {
        if (keep) {
          directory.remove_working_files();
        } else {
          directory.remove_everything();
        }
        return [] {};
      });
}

void WorkerLoop::carry_out(const ReadLogPart& read) {
  const proto::ReadLog& request = read.request;
  proto::LogPart part;
  part.request = request.request;
  const std::string attempt = "experiment " + std::to_string(request.key.experiment.number()) + " trial " +
                              std::to_string(request.key.trial.number()) + " attempt " +
                              std::to_string(request.key.attempt.number());
  if (request.stream != "stdout" && request.stream != "stderr") {
    part.problem = "there is no stream \"" + request.stream + "\"; there are stdout and stderr";
  } else {
    const std::uint64_t limit =
        request.limit == 0 ? longest_log_part : std::min(request.limit, longest_log_part);
    const AttemptDirectory directory = state_.attempt(request.key);
    const Result<files::Directory> root = directory.opened();
    Result<LogPiece> piece = root ? read_log(*root, directory.log(request.stream, request.process).filename(),
                                             request.offset, limit, request.from_end)
                                  : Result<LogPiece>(root.error());
    if (piece) {
      part.offset = piece->offset;
      part.size = piece->size;
      part.text = std::move(piece->text);
    } else if (piece.error().code == Errc::not_found) {
      part.problem = "worker " + options_.name + " has no " + request.stream + " of " + attempt +
                     "; what would have written it was never started there";
    } else {
      part.problem = piece.error().message;
    }
  }
  inputs_.emplace_back(LogWasRead{std::move(part)});
}

void WorkerLoop::carry_out(const Notice& notice) {
  switch (notice.level) {
    case Notice::Level::info:
      net::log(net::Level::info, notice.text);
      break;
    case Notice::Level::warning:
      net::log(net::Level::warning, notice.text);
      break;
    case Notice::Level::error:
      net::log(net::Level::error, notice.text);
      break;
  }
}

void WorkerLoop::carry_out(const EndAgent& end) {
  end_ = loop_.after(farewell_time, [this, end] { on_end_(end.failed, end.why); });
}

ShimClient* WorkerLoop::find(const AttemptKey& key) {
  const auto found = links_.find(key);
  return found == links_.end() ? nullptr : found->second.get();
}

}  // namespace hpsearch::workers
