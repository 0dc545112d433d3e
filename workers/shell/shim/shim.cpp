#include "hpsearch/workers/shell/shim/shim.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>
#include <variant>

#include "hpsearch/io/net/log.hpp"
#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/workers/core/malformed_report.hpp"
#include "hpsearch/workers/core/program_message.hpp"
#include "hpsearch/workers/shell/shim/local_socket.hpp"
#include "hpsearch/workers/shell/slots/slot_table.hpp"

namespace hpsearch::workers {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using engine::Units;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t read_piece = 64 * 1024;
constexpr int pieces_per_turn = 16;
// A program leaves at most the pipe's size in its pipe when it ends; if there is more, another process still
// writes.
constexpr int turns_at_end = 64;
// How often a reader of the log sees its end if the log can't keep up.
constexpr std::chrono::milliseconds catch_up_after = 100ms;
constexpr std::size_t log_tail_bytes = 4 * 1024;
constexpr std::chrono::seconds agent_patience{60};
constexpr std::chrono::milliseconds end_without_agent{10'000};
// Beyond it, only messages that decide are written, because the agent has been down for long.
constexpr std::uint64_t largest_journal = std::uint64_t{256} * 1024 * 1024;
// The size of lines that a disk rejects.
constexpr std::size_t most_unwritten = std::size_t{16} * 1024 * 1024;
constexpr std::chrono::milliseconds again_after = 500ms;
constexpr std::uint64_t longest_grace_ms = 7ULL * 24 * 3'600 * 1'000;

bool blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

Shim::Shim(net::Loop& loop, AttemptDirectory directory, OnEnd on_end, std::unique_ptr<SpareProgram> spare)
    : loop_(loop),
      directory_(std::move(directory)),
      on_end_(std::move(on_end)),
      out_{.pipe = {}, .log = {}, .lines = LineSplitter(max_message_bytes), .watch = {}, .catch_up = {}},
      err_{.pipe = {}, .log = {}, .lines = LineSplitter(max_message_bytes), .watch = {}, .catch_up = {}},
      spare_(std::move(spare)),
      programs_(spare_ ? spare_->take_programs() : std::make_unique<ProgramShim>(loop)) {
  programs_->when_stuck([this](pid_t pid) { record(JournalStuck{pid}, false); });
}

Shim::~Shim() {
  if (listener_) {
    ::unlink(agent_path_.c_str());
  }
}

Status Shim::start(Descriptor agent) {
  Result<JournalWriter> journal = JournalWriter::open(directory_.journal());
  if (!journal) {
    return journal.error();
  }
  if (journal->size() > 0) {
    return Error{Errc::wrong_state, directory_.journal().string() + " tells of an earlier run"};
  }
  journal_ = *std::move(journal);
  if (agent) {
    serve(std::move(agent));
  }
  Result<LaunchOrder> order = read_launch_order(directory_.launch());
  const Status launched = order ? launch(*std::move(order)) : Status(order.error());
  if (launched) {
    record(JournalStarted{followed_by_}, false);
  } else {
    record(JournalNotStarted{launched.error().message}, false);
    ended_ = true;
    end_if_done();
  }
  return Done{};
}

Status Shim::launch(LaunchOrder order) {
  Result<std::vector<Descriptor>> slots = hold_claims(order.slot_files);
  if (!slots) {
    return slots.error();
  }
  slots_ = *std::move(slots);
  if (Status listening = listen_to_agents(order.agent_socket); !listening) {
    return listening;
  }
  Result<MetricScanner> scanner = MetricScanner::compile(order.metric_patterns, order.first_step);
  if (!scanner) {
    return scanner.error();
  }
  Result<ProgramLog> out_log = ProgramLog::create(directory_.log("stdout"));
  Result<ProgramLog> err_log = ProgramLog::create(directory_.log("stderr"));
  if (!out_log || !err_log) {
    return out_log ? err_log.error() : out_log.error();
  }
  out_.log = *std::move(out_log);
  err_.log = *std::move(err_log);
  Result<std::unique_ptr<ReportSocket>> socket = ReportSocket::listen(
      loop_, order.report_socket,
      [this](ConnectionId connection, std::string_view line) { heard(connection, line); });
  if (!socket) {
    return socket.error();
  }
  // Only its user and root can then connect to it.
  if (const auto& account = order.program.account;
      account && ::lchown(order.report_socket.c_str(), static_cast<uid_t>(account->uid),
                          static_cast<gid_t>(account->gid)) != 0) {
    return file_error("cannot give its user", order.report_socket, errno);
  }
  Result<RunningProgram> running = run(order);
  if (!running) {
    return running.error();
  }
  socket_ = *std::move(socket);
  if (!order.metric_patterns.empty()) {
    scanner_.emplace(*std::move(scanner));
  }
  unread_ = UnreadMetric(order.metric);
  pid_ = running->pid;
  ends_without_agent_ = order.ends_without_agent;
  checkpoint_signal_ = order.checkpoint_signal == "SIGUSR1"   ? SIGUSR1
                       : order.checkpoint_signal == "SIGUSR2" ? SIGUSR2
                                                              : 0;
  followed_by_ = running->group.empty() ? "process table" : "cgroup";
  out_.pipe = ProgramPipe(std::move(running->out));
  err_.pipe = ProgramPipe(std::move(running->err));
  for (Output* output : {&out_, &err_}) {
    output->watch = loop_.when_readable(output->pipe.get(), [this, output] { read_output(*output); });
  }
  return Done{};
}

/// Runs the program in the spare, or starts it like any program.
Result<RunningProgram> Shim::run(const LaunchOrder& order) {
  const auto on_record = [this, &order](const RunningProgram& program) {
    return directory_.write_process({.pid = program.pid,
                                     .start_time = program.start_time,
                                     .boot_id = boot_id(),
                                     .socket = order.report_socket,
                                     .group = program.group,
                                     .mark = program.mark});
  };
  const auto on_end = [this](const ProgramEnd& end) { program_ended(end); };
  if (order.ends_without_agent && order.checkpoint_signal.empty()) {
    programs_->let_ignore_warnings();
  }
  if (spare_) {
    Result<RunningProgram> taken = spare_->become(order.program, on_record, on_end);
    if (taken) {
      return taken;
    }
    net::log(net::Level::info, "the spare is not used: " + taken.error().message);
    spare_->kill();
  }
  return programs_->start(order.program, on_record, on_end);
}

// --- agents ---

Status Shim::listen_to_agents(const std::string& path) {
  Result<Descriptor> listener = listen_locally(path);
  if (!listener) {
    return listener.error();
  }
  agent_path_ = path;
  listener_ = *std::move(listener);
  listening_ = loop_.when_readable(listener_.get(), [this] { accept_agent(); });
  return Done{};
}

void Shim::accept_agent() {
  for (;;) {
    Descriptor agent(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!agent) {
      return;
    }
    if (is_ours(agent)) {
      serve(std::move(agent));
    }
  }
}

void Shim::serve(Descriptor agent) {
  without_agent_ = net::Watch();
  agent_watch_ = net::Watch();
  agent_ = std::move(agent);
  agent_messages_ = {};
  agent_watch_ = loop_.when_readable(agent_.get(), [this] { read_agent(); });
  send_to_agent();
}

void Shim::read_agent() {
  std::array<char, read_piece> piece;  // Filled by recv().
  const ssize_t got = ::recv(agent_.get(), piece.data(), piece.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    return;
  }
  const auto messages =
      agent_messages_.feed({piece.data(), static_cast<std::size_t>(std::max<ssize_t>(0, got))});
  if (got <= 0 || !messages) {
    agent_left();
    return;
  }
  for (const ToShim& message : *messages) {
    std::visit([this](const auto& known) { execute(known); }, message);
  }
}

/// The next agent connects to the listener. In an allocation there may be none, and nothing else would end
/// the program, which uses what others pay for.
void Shim::agent_left() {
  agent_watch_ = net::Watch();
  agent_.reset();
  if (ends_without_agent_ && pid_ != 0) {
    without_agent_ = loop_.after(agent_patience, [this] {
      asked_ = true;
      programs_->terminate(pid_, end_without_agent);
    });
  }
}

void Shim::execute(const AnswerQuestion& answer) {
  const auto open = open_.find(answer.question);
  if (open != open_.end()) {
    const ConnectionId connection = open->second;
    open_.erase(open);
    socket_->answer(connection, answer.line);
  }
}

void Shim::execute(const AnswerBelow& answer) {
  ahead_below_ = Units{answer.step};
  thinning_.decides_from(ahead_below_);
  ahead_line_ = answer.line;
}

void Shim::execute(const SendSignal& signal) {
  asked_ = true;
  switch (static_cast<SendSignal::Which>(signal.which)) {
    case SendSignal::Which::checkpoint:
      return programs_->notify(pid_, checkpoint_signal_);
    case SendSignal::Which::terminate:
      return programs_->terminate(pid_,
                                  std::chrono::milliseconds(std::min(signal.grace_ms, longest_grace_ms)));
    case SendSignal::Which::kill:
      return programs_->kill(pid_);
  }
}

void Shim::execute(const DropJournal& drop) {
  journal_->drop_before(drop.before);
}

void Shim::execute(const RunAttempt& /*run*/) {
  // It already runs one.
}

void Shim::send_to_agent() {
  if (telling_ || !agent_) {
    return;
  }
  telling_ = true;
  loop_.post([this] {
    telling_ = false;
    if (!agent_) {
      return;
    }
    const std::string text = framed(JournalNews{});
    if (::send(agent_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
        (errno == EAGAIN || errno == EWOULDBLOCK)) {
      tell_again_ = loop_.after(again_after, [this] { send_to_agent(); });
    }
  });
}

/// The agent's own files may have space when the journal has none, and only this message can report it.
void Shim::send_reason_to_agent(const std::string& why) {
  if (std::exchange(unwritten_because_, why) != why) {
    net::log(net::Level::warning, why);
  }
  if (agent_) {  // An agent that doesn't read gets it the next time.
    const std::string text = framed(JournalNews{why});
    static_cast<void>(::send(agent_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  }
}

// --- the program ---

void Shim::heard(ConnectionId connection, std::string_view line) {
  const std::uint64_t question = ++last_question_;
  ProgramMessage message = understood(parse_socket_line(line));
  unread_.hear(message);
  const auto* remark = std::get_if<RemarkMessage>(&message);
  if (remark != nullptr) {
    show(*remark);
  }
  const bool below = ahead_below_ != Units{} && (remark != nullptr || is_below_length(message));
  // In order: an answer must not overtake the answer to an earlier question.
  const bool answered = below && socket_->unanswered(connection) == 1;
  if (!answered) {
    open_[question] = connection;
  }
  record(JournalMessageReceived{question, answered, std::move(message)}, answered);
  if (answered) {
    socket_->answer(connection, ahead_line_);
  }
}

/// Remarks become lines of the log; progress becomes one when its percentage changes.
void Shim::show(const RemarkMessage& remark) {
  std::string line = remark.log;
  if (remark.percent && remark.percent != shown_percent_) {
    shown_percent_ = remark.percent;
    line = "progress " + std::to_string(*remark.percent) + "%";
  }
  if (!line.empty()) {
    read_output(out_);  // Earlier output comes before it.
    out_.log->append(line + "\n");
  }
}

bool Shim::read_output(Output& output) {
  for (int turn = 0; (turn < pieces_per_turn || output.pipe.holds()) && output.pipe; ++turn) {
    const std::span<char> room = output.log->room();
    const ssize_t got = output.pipe.read(room);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      catch_up_soon(output);
      return false;
    }
    if (got <= 0) {
      output.log->catch_up();
      output.watch = net::Watch();
      output.pipe = ProgramPipe();
      return false;
    }
    const auto size = static_cast<std::size_t>(got);
    output.log->take(size, loop_.now());
    look_for_lines(output, {room.data(), size});
  }
  catch_up_soon(output);
  return static_cast<bool>(output.pipe);
}

void Shim::look_for_lines(Output& output, std::string_view bytes) {
  const auto line = [this, &output](std::string_view text) { take_line(output, text); };
  if (scanner_ || !unread_.done()) {
    output.lines.feed(bytes, line);
  } else {
    output.lines.feed_lines_with(report_word, bytes, line);
  }
}

void Shim::catch_up_soon(Output& output) {
  if (!output.log->waits() || output.catch_up) {
    return;
  }
  output.catch_up = loop_.after(catch_up_after, [&output] {
    output.catch_up = net::Watch();
    output.log->catch_up();
  });
}

void Shim::take_line(const Output& output, std::string_view line) {
  if (&output == &out_) {
    if (const auto payload = stdout_payload(line)) {
      take(understood(parse_stdout_payload(*payload)));
      return;
    }
  }
  if (!malformed_report_noted_) {
    const auto stream = &output == &out_ ? PrintedTo::stdout_stream : PrintedTo::stderr_stream;
    if (const std::optional<std::string> why = why_no_report(line, stream)) {
      malformed_report_noted_ = true;  // One example is enough.
      record(
          JournalMessageReceived{0, false, LookalikeMessage{beginning_of(without_escapes(line), 120), *why}},
          false);
    }
  }
  if (scanner_) {
    for (ProgramMessage& message : scanner_->scan(line)) {
      take(std::move(message));
    }
  }
  unread_.look_at(line);
  tell_unread(/*ended=*/false);
}

void Shim::take(ProgramMessage message) {
  unread_.hear(message);
  const bool droppable = thinning_.spares(message);
  record(JournalMessageReceived{0, false, std::move(message)}, droppable);
}

void Shim::tell_unread(bool ended) {
  if (const std::optional<UnreadMessage> found = unread_.take_finding(ended)) {
    record(JournalMessageReceived{0, false, *found}, false);
  }
}

/// False once something was decided: then the agent answers every question.
bool Shim::is_below_length(const ProgramMessage& message) const {
  const auto* metrics = std::get_if<MetricsMessage>(&message);
  return metrics != nullptr && metrics->step < ahead_below_;
}

void Shim::program_ended(const ProgramEnd& end) {
  for (Output* output : {&out_, &err_}) {
    for (int turn = 0; turn < turns_at_end && read_output(*output); ++turn) {
    }
    output->lines.finish([this, output](std::string_view line) { take_line(*output, line); });
    output->watch = net::Watch();
    output->catch_up = net::Watch();
    output->log->catch_up();
  }
  socket_->drain();
  tell_unread(/*ended=*/true);
  std::string tail = err_.log->last_lines(log_tail_bytes);
  if (blank(tail)) {
    tail = out_.log->last_lines(log_tail_bytes);
  }
  ended_ = true;
  record(JournalEnded{end.by_signal, end.code, asked_, end.out_of_memory, std::move(tail)}, false);
  end_if_done();
}

// --- the journal ---

/// Records in order. If the disk is full, `droppable` records are left out, and so are all lines that are no
/// questions once there are too many.
void Shim::record(JournalRecord record, bool droppable) {
  if (droppable && (!unwritten_.empty() || journal_->wanted() > largest_journal)) {
    return;
  }
  const auto* said = std::get_if<JournalMessageReceived>(&record);
  const bool is_endless = unwritten_bytes_ > most_unwritten || journal_->wanted() > 2 * largest_journal;
  if (said != nullptr && said->question == 0 && is_endless) {
    return;
  }
  const std::size_t bytes = sizeof(record) + (said == nullptr ? 0 : proto::encode_record(*said).size());
  unwritten_bytes_ += bytes;
  unwritten_.push_back({std::move(record), bytes});
  write_down();
}

/// A program that asks waits for its answer anyway. It is read again when the disk has accepted its messages.
void Shim::hold_questions() {
  if (socket_) {
    socket_->hold(unwritten_bytes_ > most_unwritten);
  }
}

void Shim::write_down() {
  while (!unwritten_.empty()) {
    // A line needn't survive a power failure: its program doesn't survive it either, and the daemon
    // receives it only when it is in the agent's spool.
    const auto& [record, bytes] = unwritten_.front();
    const bool durable = !std::holds_alternative<JournalMessageReceived>(record);
    if (!journal_->append(record, durable)) {
      send_reason_to_agent(file_error("cannot write", directory_.journal(), errno).message);
      hold_questions();
      write_again_ = loop_.after(again_after, [this] {
        write_down();
        end_if_done();
      });
      return;
    }
    unwritten_because_.clear();
    unwritten_bytes_ -= bytes;
    unwritten_.pop_front();
    send_to_agent();
  }
  hold_questions();
}

void Shim::end_if_done() {
  if (ended_ && unwritten_.empty()) {
    directory_.remove_process();
    loop_.post([this] { on_end_(); });  // After the last message to the agent.
  }
}

}  // namespace hpsearch::workers
