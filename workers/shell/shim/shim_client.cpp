#include "hpsearch/workers/shell/shim/shim_client.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/io/net/log.hpp"
#include "hpsearch/workers/shell/processes/control_group.hpp"
#include "hpsearch/workers/shell/processes/process_table.hpp"
#include "hpsearch/workers/shell/shim/launch_order.hpp"
#include "hpsearch/workers/shell/shim/local_socket.hpp"

extern char** environ;  // NOLINT(readability-identifier-naming): POSIX names it.

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using namespace std::chrono_literals;

namespace {

constexpr int records_per_turn = 256;
constexpr std::chrono::milliseconds next_look = 20ms;
constexpr std::int64_t looks_before_warning = 250;
// The shim always reads; only a stopped one makes us wait, and then the next time the socket is writable is
// soon enough.
constexpr int longest_send_ms = 200;
constexpr std::int64_t sweeps_before_warning = 3000;
constexpr std::chrono::milliseconds shim_look_every = 1s;
// Somebody who stops a shim this often doesn't just inspect it. Fewer times if its program has to end.
constexpr int most_stopped_looks = 10;
constexpr int most_stopped_looks_at_end = 2;

}  // namespace

Result<StartedShim> start_shim(const std::filesystem::path& shim, std::vector<std::string> arguments,
                               const std::filesystem::path& messages) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Error{Errc::unavailable, "cannot make a socket: " + error_text(errno)};
  }
  Descriptor ours(ends[0]);
  const Descriptor theirs(ends[1]);
  ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  std::string program = shim.string();
  std::vector<char*> argv{program.data()};
  for (std::string& argument : arguments) {
    argv.push_back(argument.data());
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                     0644);
  ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  // In its own session, so that it doesn't get a terminal's signals to the agent.
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    return Error{Errc::unavailable, "cannot run " + program + ": " + error_text(error)};
  }
  return StartedShim{pid, std::move(ours)};
}

ShimClient::ShimClient(net::Loop& loop, AttemptDirectory directory, Handlers handlers)
    : loop_(loop), directory_(std::move(directory)), handlers_(std::move(handlers)) {
}

ShimClient::~ShimClient() {
  *present_ = false;
}

Result<pid_t> ShimClient::start(const std::filesystem::path& shim) {
  Result<StartedShim> started =
      start_shim(shim, {directory_.root().string()}, directory_.root() / "shim.log");
  if (!started) {
    return started.error();
  }
  serve(std::move(started->connection));
  watch_over(started->pid);
  return started->pid;
}

void ShimClient::run_in(StartedShim waiting) {
  serve(std::move(waiting.connection));
  watch_over(waiting.pid);
  send(RunAttempt{directory_.root().string()});
}

void ShimClient::attach(std::uint64_t position) {
  attached_ = true;
  position_ = position;
  look_for_shim();
}

/// Reads the first record, which says that the program was started.
void ShimClient::read_beginning() {
  std::uint64_t beginning = 0;
  if (position_ == 0 || started_ || !journal_) {
    return;
  }
  if (const auto first = journal_->next(beginning)) {
    take(*first);
  }
}

// --- to the shim ---

void ShimClient::answer(std::uint64_t question, std::string_view line) {
  send(AnswerQuestion{question, std::string(line)});
}

void ShimClient::answer_ahead(std::uint64_t below, std::string_view line) {
  send(AnswerBelow{below, std::string(line)});
}

void ShimClient::signal(Signal signal, std::chrono::milliseconds grace) {
  kill_wanted_ = kill_wanted_ || signal == Signal::kill;
  send(SendSignal{static_cast<std::uint64_t>(signal),
                  static_cast<std::uint64_t>(std::max<std::int64_t>(0, grace.count()))});
}

void ShimClient::drop_before(std::uint64_t position) {
  send(DropJournal{position});
}

void ShimClient::send(const ToShim& message) {
  if (over_) {
    return;
  }
  unsent_ += framed(message);
  flush();
}

/// The kernel delivers sent bytes even if this process ends, so messages aren't delayed without need.
void ShimClient::flush() {
  while (connection_ && !unsent_.empty()) {
    const ssize_t put =
        ::send(connection_.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put > 0) {
      unsent_.erase(0, static_cast<std::size_t>(put));
      continue;
    }
    if (put < 0 && errno == EINTR) {
      continue;
    }
    if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      pollfd writable{.fd = connection_.get(), .events = POLLOUT, .revents = 0};
      if (::poll(&writable, 1, longest_send_ms) > 0) {
        continue;
      }
      again_ = loop_.after(next_look, [this] { flush(); });
    }
    return;  // The reader notices a dead shim.
  }
}

// --- from the shim ---

void ShimClient::serve(Descriptor connection) {
  connection_ = std::move(connection);
  messages_ = {};
  watch_ = loop_.when_readable(connection_.get(), [this] { read_connection(); });
  flush();
}

void ShimClient::watch_over(pid_t shim) {
  shim_ = process_info(shim);
  stopped_looks_ = 0;
  shim_watch_ = shim_ ? loop_.every(shim_look_every, [this] { look_at_shim(); }) : net::Watch();
}

/// A program may send signals to its shim: a stopped one neither reads nor writes, and would hold the
/// attempt's slot forever.
void ShimClient::look_at_shim() {
  const std::optional<ProcessInfo> now = process_info(shim_->pid);
  if (over_ || !now || now->start_time != shim_->start_time) {
    shim_watch_ = net::Watch();
    return;
  }
  if (now->state != 'T' && now->state != 't') {
    stopped_looks_ = 0;
    return;
  }
  const int most = kill_wanted_ ? most_stopped_looks_at_end : most_stopped_looks;
  if (++stopped_looks_ > most) {
    net::log(net::Level::warning,
             directory_.root().string() + ": its hpsearch-shim is stopped again and again; it is killed");
    signal_exactly(*shim_, SIGKILL);
    return;
  }
  if (stopped_looks_ == 1) {
    net::log(net::Level::warning,
             directory_.root().string() + ": its hpsearch-shim was stopped; it is continued");
  }
  signal_exactly(*shim_, SIGCONT);
}

void ShimClient::read_connection() {
  std::array<char, 4096> piece;  // Filled by recv().
  const ssize_t got = ::recv(connection_.get(), piece.data(), piece.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    return;
  }
  if (got <= 0) {
    connection_lost();
    return;
  }
  const auto messages = messages_.feed({piece.data(), static_cast<std::size_t>(got)});
  if (!messages) {
    connection_lost();
    return;
  }
  const std::shared_ptr<bool> present = present_;
  for (const ToAgent& message : *messages) {
    const auto* news = std::get_if<JournalNews>(&message);
    if (news != nullptr && !news->unwritten.empty() && *present) {
      handlers_.on_unwritten(news->unwritten);
    }
  }
  if (*present) {
    read_journal();
  }
}

bool ShimClient::open_journal() {
  if (!journal_) {
    const Result<files::Directory> root = directory_.opened();
    Result<JournalReader> journal = root ? JournalReader::open(*root, "journal") : root.error();
    if (journal) {
      journal_ = *std::move(journal);
    }
    // If a program has replaced it, there is none, as if it was removed.
    const bool gone =
        !journal && (journal.error().code == Errc::not_found || journal.error().code == Errc::wrong_state);
    unreadable_ = journal || gone ? "" : journal.error().message;
  }
  return journal_.has_value();
}

void ShimClient::read_journal() {
  if (over_) {
    return;
  }
  if (!open_journal()) {
    if (!unreadable_.empty()) {  // A shortage of files or memory is temporary.
      read_again_ = loop_.after(next_look, [this] { read_journal(); });
    }
    return;
  }
  for (int count = 0; count < records_per_turn; ++count) {
    const std::optional<JournalRecord> record = journal_->next(position_);
    if (!record) {
      if (!journal_->unreadable().empty()) {
        read_again_ = loop_.after(next_look, [this] { read_journal(); });
      }
      return;
    }
    if (!take(*record)) {
      return;
    }
  }
  loop_.post([this, present = present_] {
    if (*present) {
      read_journal();
    }
  });
}

/// False if it was the last one.
bool ShimClient::take(const JournalRecord& record) {
  const std::shared_ptr<bool> present = present_;
  if (const auto* started = std::get_if<JournalStarted>(&record)) {
    if (!std::exchange(started_, true)) {
      handlers_.on_started(*started);
    }
  } else if (const auto* said = std::get_if<JournalMessageReceived>(&record)) {
    handlers_.on_message(*said, position_);
  } else if (const auto* stuck = std::get_if<JournalStuck>(&record)) {
    handlers_.on_stuck(*stuck);
  } else if (const auto* not_started = std::get_if<JournalNotStarted>(&record)) {
    over_ = true;
    if (attached_) {
      handlers_.on_lost(not_started->why);
    } else {
      handlers_.on_not_started(not_started->why);
    }
  } else if (const auto* ended = std::get_if<JournalEnded>(&record)) {
    over_ = true;
    handlers_.on_ended(*ended);
  }
  return *present && !over_;
}

void ShimClient::connection_lost() {
  watch_ = net::Watch();
  shim_watch_ = net::Watch();
  connection_.reset();
  look_for_shim();
}

/// There is no connection: the shim has finished, has died, or was started by an earlier agent.
void ShimClient::look_for_shim() {
  if (over_) {
    return;
  }
  if (!open_journal() && !unreadable_.empty()) {
    look_again(unreadable_);  // A shim may hold it and run.
    return;
  }
  const std::shared_ptr<bool> present = present_;
  read_beginning();
  if (!*present || over_) {
    return;
  }
  if (journal_ && journal_->kept()) {
    const Result<LaunchOrder> order = read_launch_order(directory_.launch());
    Result<Descriptor> connection =
        order ? connect_locally(order->agent_socket) : Result<Descriptor>(order.error());
    if (connection && is_ours(*connection)) {
      const pid_t shim = peer_of(*connection);
      serve(*std::move(connection));
      watch_over(shim);
      read_journal();
      return;
    }
    // It is starting, or ending; or its socket is missing, and then only its journal can be
    // read.
    const std::string why = connection ? "somebody else listens there" : connection.error().message;
    read_journal();
    if (*present && !over_) {
      kill_unknown();
      look_again(why);
    }
    return;
  }
  // No shim holds the journal or writes to it any more: it is complete.
  if (journal_) {
    while (std::optional<JournalRecord> record = journal_->next(position_)) {
      if (!take(*record)) {
        return;
      }
    }
    if (!journal_->unreadable().empty()) {
      look_again(journal_->unreadable());  // It may contain the end of the program.
      return;
    }
  }
  give_up();
}

void ShimClient::look_again(const std::string& why) {
  if (++looks_ == looks_before_warning) {
    net::log(net::Level::warning, directory_.root().string() + ": its hpsearch-shim is not reached: " + why);
  }
  again_ = loop_.after(next_look, [this] { look_for_shim(); });
}

/// The shim runs but can't be reached: a program that must end now is ended by its process record.
void ShimClient::kill_unknown() {
  const std::optional<ProcessRecord> program = kill_wanted_ ? directory_.read_process() : std::nullopt;
  const auto all = program ? all_processes() : std::nullopt;
  if (all) {
    for (const ProcessInfo& process : leaked_processes_of(*program, *all)) {
      signal_exactly(process, SIGKILL);
    }
  }
}

void ShimClient::give_up() {
  if (!started_) {
    // A shim that was started and hasn't begun yet must find that it is too late.
    Result<JournalWriter> journal = JournalWriter::open(directory_.journal());
    if (!journal) {
      const Error why = journal.error();
      const std::shared_ptr<bool> present = present_;
      if (reports_a_bad_disk(why.message)) {
        handlers_.on_unwritten(why.message);  // First: otherwise its trial would come back at once.
      }
      if (!*present) {
        return;
      }
      // Another agent's shim may still start, and could not be stopped. Ours has ended,
      // and starts nothing before it has a journal.
      if (why.code == Errc::wrong_state || (attached_ && why.code != Errc::not_found)) {
        look_again(why.message);
        return;
      }
      over_ = true;
      handlers_.on_lost(why.message);
      return;
    }
    if (journal->size() == 0) {
      const JournalNotStarted record{attached_ ? "the worker was ended before it could start the program"
                                               : "hpsearch-shim has died before it could start the program"};
      static_cast<void>(journal->append(record, true));
      over_ = true;
      handlers_.on_lost(record.why);
      return;
    }
  }
  sweep();
}

/// The shim is dead. Living processes of its program hold a slot, and their reports are lost.
void ShimClient::sweep() {
  const Status readable = directory_.process_can_be_read();
  const auto all = readable ? all_processes() : std::nullopt;
  if (!all) {  // The remaining processes are unknown.
    look_again(readable ? "/proc cannot be read" : readable.error().message);
    return;
  }
  const std::optional<ProcessRecord> program = directory_.read_process();
  const bool restarted = program && program->boot_id != boot_id();
  const std::vector<ProcessInfo> left =
      program ? leaked_processes_of(*program, *all) : std::vector<ProcessInfo>();
  if (!left.empty()) {
    for (const ProcessInfo& process : left) {
      signal_exactly(process, SIGKILL);
    }
    if (++sweeps_ == sweeps_before_warning) {
      handlers_.on_stuck({left.front().pid});
    }
    again_ = loop_.after(next_look, [this] { sweep(); });
    return;
  }
  if (program && !program->group.empty()) {
    ControlGroup(program->group).remove();
  }
  over_ = true;
  handlers_.on_lost(restarted ? "the machine was restarted while it ran"
                              : "hpsearch-shim, which kept it, has died; the program was ended with it");
}

}  // namespace hpsearch::workers
