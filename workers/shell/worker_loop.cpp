#include "hpsearch/workers/shell/worker_loop.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>
#include <variant>

#include "hpsearch/net/log.hpp"
#include "hpsearch/workers/core/log_text.hpp"
#include "hpsearch/workers/core/program_message.hpp"
#include "hpsearch/workers/shell/checkpoint_publisher.hpp"
#include "hpsearch/workers/shell/metric_scanner.hpp"
#include "hpsearch/workers/shell/program_log.hpp"
#include "hpsearch/workers/shell/report_socket.hpp"

namespace hpsearch::workers {

using engine::AttemptKey;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Instant;
using engine::LaunchSpec;
using engine::Result;
using engine::Status;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t read_piece = 64 * 1024;
constexpr int pieces_per_turn = 8;
// What a program left in its pipe when it ended is at most the pipe's size; more means somebody still writes.
constexpr int pieces_at_end = 64;
constexpr std::size_t log_tail_bytes = 4 * 1024;
constexpr std::uint64_t longest_log_part = 128 * 1024;
// libzmq drops what it has not sent when the connection goes, and does not say when it has.
constexpr std::chrono::milliseconds farewell_time = 200ms;

std::uint64_t chance() {
  std::uint64_t seed = 0;
  // Only for waiting times: without random bytes all workers wait alike.
  static_cast<void>(::getrandom(&seed, sizeof seed, 0));
  return seed;
}

WorkerIdentity identity_of(const WorkerState& state, const WorkerOptions& options) {
  return {.uid = state.uid(),
          .name = options.name,
          .incarnation = state.incarnation(),
          .boot_id = boot_id(),
          .pid = static_cast<std::uint64_t>(::getpid()),
          .slots = options.machine.slots,
          .slot_kind = options.slot_kind};
}

bool blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

struct WorkerLoop::Attempt {
  Attempt(AttemptKey of, AttemptDirectory at) : key(of), directory(std::move(at)) {}

  AttemptKey key;
  AttemptDirectory directory;
  std::string socket_path;
  std::unique_ptr<ReportSocket> socket;
  pid_t pid = 0;
  std::optional<ProgramLog> out_log;
  std::optional<ProgramLog> err_log;
  LineSplitter out_lines{max_message_bytes};
  LineSplitter err_lines{max_message_bytes};
  std::optional<MetricScanner> scanner;
  bool noticed_lost_output = false;
  // The watches go before what they watch.
  Descriptor out;
  Descriptor err;
  net::Watch out_watch;
  net::Watch err_watch;
};

WorkerLoop::WorkerLoop(net::Loop& loop, const WorkerState& state, WorkerOptions options, OnEnd on_end)
    : loop_(loop),
      state_(state),
      options_(std::move(options)),
      on_end_(std::move(on_end)),
      machine_(identity_of(state, options_), options_.rules,
               engine::Draw(chance(), engine::TrialNumber{}, "retry")),
      boot_id_(boot_id()),
      keeper_(loop),
      background_(loop) {
}

WorkerLoop::~WorkerLoop() {
  *present_ = false;
  attempts_.clear();
  state_.tidy_sockets();
}

Status WorkerLoop::start() {
  if (const Status connected = connect(); !connected) {
    return connected;
  }
  port_.reset();
  working_ = true;
  for (const Effect& effect : machine_.start(loop_.now())) {
    std::visit([this](const auto& known) { carry_out(known); }, effect);
  }
  work_off();
  return Done{};
}

void WorkerLoop::stop() {
  push(StopAsked{});
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
  const std::uint64_t number = ++connection_;
  auto port = net::DealerPort::connect(
      loop_, options_.daemon, proto::max_frame_bytes, [this, number](std::span<const std::byte> frame) {
        // Answering may replace the port, which is not for its own delivery to do.
        loop_.post([this, present = present_, number, bytes = proto::Bytes(frame.begin(), frame.end())] {
          if (*present && number == connection_) {
            receive(bytes);
          }
        });
      });
  if (!port) {
    return port.error();
  }
  port_ = *std::move(port);
  noticed_bad_frame_ = false;
  return Done{};
}

void WorkerLoop::receive(std::span<const std::byte> frame) {
  Result<proto::Framed<proto::FromDaemon>> decoded = proto::decode_from_daemon(frame);
  if (!decoded) {
    if (!std::exchange(noticed_bad_frame_, true)) {
      net::log(net::Level::warning, "the daemon sent something unreadable: " + decoded.error().message);
    }
    return;
  }
  push(FrameReceived{*std::move(decoded)});
}

// --- effects ---

void WorkerLoop::carry_out(const SendMessage& send) {
  const proto::Bytes frame = proto::encode(send.envelope, send.message);
  if (frame.size() > proto::max_frame_bytes) {
    net::log(net::Level::error, std::string("a ") + proto::name_of(send.message) + " of " +
                                    std::to_string(frame.size()) + " bytes is too large to send");
    return;
  }
  if (!port_ || !port_->send(frame)) {
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
  attempts_[key] = std::make_unique<Attempt>(key, state_.attempt(key));
  background_.run([this, spec = start.spec, directory = state_.attempt(key)]() -> Background::Afterwards {
    Status made = directory.make(spec.context_directory);
    return [this, spec, made = std::move(made)] {
      Attempt* attempt = find(spec.key);
      if (attempt == nullptr) {
        return;
      }
      const Status launched = made ? launch(*attempt, spec) : made;
      if (launched) {
        push(ProgramStarted{spec.key});
      } else {
        attempt->socket.reset();
        push(ProgramNotStarted{spec.key, launched.error().message});
      }
    };
  });
}

Status WorkerLoop::launch(Attempt& attempt, const LaunchSpec& spec) {
  const AttemptKey key = spec.key;
  const AttemptDirectory& directory = attempt.directory;
  Result<std::string> socket_path = state_.socket_path(key);
  if (!socket_path) {
    return socket_path.error();
  }
  attempt.socket_path = *std::move(socket_path);
  const AttemptPlaces places{.work_directory = directory.work().string(),
                             .checkpoint_directory = directory.checkpoint().string(),
                             .output_directory = directory.output().string(),
                             .params_file = directory.params().string(),
                             .socket = attempt.socket_path};
  Result<Launch> plan = plan_launch(spec, places, options_.machine);
  if (!plan) {
    return plan.error();
  }
  Result<MetricScanner> scanner = MetricScanner::compile(spec.metric_patterns, spec.latest_step);
  if (!scanner) {
    return scanner.error();
  }
  if (const Status written = write_file(directory.params(), plan->params_json + "\n", false); !written) {
    return written;
  }
  Result<ProgramLog> out_log = ProgramLog::create(directory.log("stdout"));
  Result<ProgramLog> err_log = ProgramLog::create(directory.log("stderr"));
  if (!out_log || !err_log) {
    return out_log ? err_log.error() : out_log.error();
  }
  Result<std::unique_ptr<ReportSocket>> socket = ReportSocket::listen(
      loop_, attempt.socket_path, [this, key](ConnectionId connection, std::string_view line) {
        push(ProgramSaid{key, connection, std::string(line)});
      });
  if (!socket) {
    return socket.error();
  }
  const ProgramStart start{.argv = std::move(plan->argv),
                           .environment = std::move(plan->environment),
                           .directory = places.work_directory,
                           .token = "HPSEARCH_SOCKET=" + attempt.socket_path};
  const auto on_record = [this, &attempt](pid_t pid, std::uint64_t start_time) {
    return attempt.directory.write_process(
        {.pid = pid, .start_time = start_time, .boot_id = boot_id_, .socket = attempt.socket_path});
  };
  Result<RunningProgram> running = keeper_.start(
      start, on_record, [this, key](bool by_signal, int code) { program_ended(key, by_signal, code); });
  if (!running) {
    return running.error();
  }
  attempt.socket = *std::move(socket);
  attempt.out_log = *std::move(out_log);
  attempt.err_log = *std::move(err_log);
  if (!spec.metric_patterns.empty()) {
    attempt.scanner.emplace(*std::move(scanner));
  }
  attempt.pid = running->pid;
  attempt.out = std::move(running->out);
  attempt.err = std::move(running->err);
  attempt.out_watch =
      loop_.when_readable(attempt.out.get(), [this, &attempt] { read_output(attempt, true); });
  attempt.err_watch =
      loop_.when_readable(attempt.err.get(), [this, &attempt] { read_output(attempt, false); });
  return Done{};
}

void WorkerLoop::carry_out(const SignalProgram& signal) {
  const Attempt* attempt = find(signal.key);
  if (attempt == nullptr || attempt->pid == 0) {
    return;
  }
  if (signal.kill) {
    keeper_.kill(attempt->pid);
  } else {
    keeper_.terminate(attempt->pid);
  }
}

void WorkerLoop::carry_out(const AnswerProgram& answer) {
  const Attempt* attempt = find(answer.key);
  if (attempt != nullptr && attempt->socket) {
    attempt->socket->answer(answer.connection, answer.line);
  }
}

void WorkerLoop::carry_out(const PublishCheckpoint& publish) {
  const AttemptKey key = publish.key;
  const std::filesystem::path root =
      publish.root.empty() ? state_.checkpoints() : std::filesystem::path(publish.root);
  background_.run([this, key, root, step = publish.step,
                   from = state_.attempt(key).checkpoint()]() -> Background::Afterwards {
    auto published = publish_checkpoint(from, root, key, step);
    return [this, key, from, published = std::move(published)] {
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
  const auto found = attempts_.find(remove.key);
  if (found != attempts_.end()) {
    // We may be inside one of its own handlers.
    loop_.post(
        [attempt = std::shared_ptr<Attempt>(std::move(found->second))] { static_cast<void>(attempt); });
    attempts_.erase(found);
  }
  background_.run(
      [directory = state_.attempt(remove.key), keep = remove.keep_logs]() -> Background::Afterwards {
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
    Result<LogPiece> piece =
        read_log(state_.attempt(request.key).log(request.stream), request.offset, limit, request.from_end);
    if (piece) {
      part.offset = piece->offset;
      part.size = piece->size;
      part.text = std::move(piece->text);
    } else if (piece.error().code == Errc::not_found) {
      part.problem = "worker " + options_.name + " has no " + request.stream + " of " + attempt +
                     "; its program was never started there";
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

// --- a program's output ---

/// False when there is nothing to read for now.
bool WorkerLoop::read_output(Attempt& attempt, bool is_out) {
  Descriptor& pipe = is_out ? attempt.out : attempt.err;
  std::array<char, read_piece> piece;  // Filled by read().
  for (int turn = 0; turn < pieces_per_turn && pipe; ++turn) {
    const ssize_t got = ::read(pipe.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return false;
    }
    if (got <= 0) {
      (is_out ? attempt.out_watch : attempt.err_watch) = net::Watch();
      pipe.reset();
      return false;
    }
    take_output(attempt, is_out, {piece.data(), static_cast<std::size_t>(got)});
  }
  return static_cast<bool>(pipe);
}

void WorkerLoop::take_output(Attempt& attempt, bool is_out, std::string_view bytes) {
  if (!(is_out ? attempt.out_log : attempt.err_log)->append(bytes) &&
      !std::exchange(attempt.noticed_lost_output, true)) {
    net::log(net::Level::warning, "output of " + attempt.directory.root().string() +
                                      " is being lost: the disk does not take it (" + error_text(errno) +
                                      ")");
  }
  if (is_out || attempt.scanner) {
    LineSplitter& lines = is_out ? attempt.out_lines : attempt.err_lines;
    lines.feed(bytes, [this, &attempt, is_out](std::string_view line) { take_line(attempt, is_out, line); });
  }
}

void WorkerLoop::take_line(Attempt& attempt, bool is_out, std::string_view line) {
  if (is_out) {
    if (const auto payload = stdout_payload(line)) {
      push(ProgramSaid{attempt.key, std::nullopt, std::string(*payload)});
      return;
    }
  }
  if (attempt.scanner) {
    for (std::string& payload : attempt.scanner->scan(line)) {
      push(ProgramSaid{attempt.key, std::nullopt, std::move(payload)});
    }
  }
}

void WorkerLoop::program_ended(const AttemptKey& key, bool by_signal, int code) {
  Attempt* attempt = find(key);
  if (attempt == nullptr) {
    return;
  }
  for (const bool is_out : {true, false}) {
    for (int turn = 0; turn < pieces_at_end && read_output(*attempt, is_out); ++turn) {
    }
    LineSplitter& lines = is_out ? attempt->out_lines : attempt->err_lines;
    lines.finish([this, attempt, is_out](std::string_view line) { take_line(*attempt, is_out, line); });
  }
  attempt->out_watch = net::Watch();
  attempt->err_watch = net::Watch();
  attempt->socket->drain();
  std::string tail = attempt->err_log->last_lines(log_tail_bytes);
  if (blank(tail)) {
    tail = attempt->out_log->last_lines(log_tail_bytes);
  }
  net::log(net::Level::debug, "process " + std::to_string(attempt->pid) + " ended " +
                                  (by_signal ? "by signal " : "with status ") + std::to_string(code));
  attempt->pid = 0;
  std::error_code error;
  std::filesystem::remove(attempt->directory.process(), error);
  push(ProgramEnded{key, by_signal, code, std::move(tail)});
}

WorkerLoop::Attempt* WorkerLoop::find(const AttemptKey& key) {
  const auto found = attempts_.find(key);
  return found == attempts_.end() ? nullptr : found->second.get();
}

}  // namespace hpsearch::workers
