#include "hpsearch/workers/shell/processes/process.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <set>
#include <string_view>
#include <utility>

#include "hpsearch/workers/shell/processes/oom_kills.hpp"

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using namespace std::chrono_literals;

namespace {

// The time between checks whether all processes have exited; a killed process needs about one of the first.
constexpr std::chrono::milliseconds first_look = 5ms;
constexpr std::chrono::milliseconds longest_look = 100ms;
constexpr std::chrono::seconds patience_with_the_killed = 60s;

constexpr const char* oom_score_file = "/proc/self/oom_score_adj";
constexpr int highest_oom_score = 1000;
// Higher than its shim's and its agent's, by a tenth of the machine's memory: killing those first would gain
// nothing.
constexpr int oom_score_above_ours = 100;

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

/// People and patterns read whole lines, so a narrow terminal must not break them.
constexpr winsize terminal_size{.ws_row = 50, .ws_col = 240, .ws_xpixel = 0, .ws_ypixel = 0};

/// Its output arrives unchanged.
Result<Pipe> make_terminal() {
  Pipe pipe{Descriptor(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)), Descriptor()};
  std::array<char, 64> name{};
  if (!pipe.read_end || ::grantpt(pipe.read_end.get()) != 0 || ::unlockpt(pipe.read_end.get()) != 0 ||
      ::ptsname_r(pipe.read_end.get(), name.data(), name.size()) != 0) {
    return Error{Errc::unavailable, "environment.terminal: cannot make a terminal: " + error_text(errno)};
  }
  pipe.write_end = Descriptor(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  termios mode{};
  if (!pipe.write_end || ::tcgetattr(pipe.write_end.get(), &mode) != 0) {
    return Error{Errc::unavailable, "environment.terminal: cannot open a terminal: " + error_text(errno)};
  }
  ::cfmakeraw(&mode);
  ::tcsetattr(pipe.write_end.get(), TCSANOW, &mode);
  ::ioctl(pipe.write_end.get(), TIOCSWINSZ, &terminal_size);
  return pipe;
}

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error{Errc::unavailable, "cannot make a pipe: " + error_text(errno)};
  }
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

/// The failed step of a new process, sent to its parent through a pipe.
struct Failure {
  enum class Step : int { directory, user, run } step{};
  int error = 0;
};

/// The user of a process, in the kernel's types.
struct Identity {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;

  explicit Identity(const UnixAccount& account)
      : uid(static_cast<uid_t>(account.uid)),
        gid(static_cast<gid_t>(account.gid)),
        groups(account.groups.begin(), account.groups.end()) {}
};

/// Everything that the child needs, made before the fork: afterwards it may not allocate, because another
/// thread may have held the allocator's lock at that moment.
struct ChildPlan {
  const char* program = nullptr;
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  const char* directory = nullptr;
  const Identity* user = nullptr;  ///< nullptr = it keeps our user.
  std::string_view oom_score;
  int input = -1;
  int out = -1;
  int err = -1;
  int go = -1;
  int failure = -1;
  pid_t parent = 0;
  bool ignores_warnings = false;
};

[[noreturn]] void give_up(const ChildPlan& plan, Failure::Step step) noexcept {
  const Failure failure{step, errno};
  const ssize_t ignored = ::write(plan.failure, &failure, sizeof failure);
  ::_exit(ignored < 0 ? 126 : 127);
}

/// A program without a shim would hold its slots forever. If its shim ended before this line, the child
/// doesn't get here, because the pipe of become() is closed.
void die_with_parent(const ChildPlan& plan) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::getppid() != plan.parent) {
    ::_exit(127);
  }
}

/// Changes the groups first, while that is allowed, and the user last: then there is no way back, because all
/// three uids are the user's. Uses system calls, because the C library's functions would signal threads that
/// a fork doesn't copy.
void change_user(const ChildPlan& plan) noexcept {
  const Identity& user = *plan.user;
  if (::syscall(SYS_setgroups, user.groups.size(), user.groups.data()) != 0 ||
      ::syscall(SYS_setresgid, user.gid, user.gid, user.gid) != 0 ||
      ::syscall(SYS_setresuid, user.uid, user.uid, user.uid) != 0 || ::getuid() != user.uid ||
      ::geteuid() != user.uid) {
    give_up(plan, Failure::Step::user);
  }
  ::umask(022);
  die_with_parent(plan);  // Again, because the kernel resets it when the user changes.
}

[[noreturn]] void become(const ChildPlan& plan) noexcept {
  ::setsid();
  for (int number = 1; number < NSIG; ++number) {
    ::signal(number, SIG_DFL);
  }
  if (plan.ignores_warnings) {
    ::signal(SIGUSR1, SIG_IGN);
    ::signal(SIGUSR2, SIG_IGN);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(plan.input, STDIN_FILENO);
  ::dup2(plan.out, STDOUT_FILENO);
  ::dup2(plan.err, STDERR_FILENO);
  // All other open files, those of libraries included, are closed by the exec.
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  die_with_parent(plan);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (const int file = ::open(oom_score_file, O_WRONLY | O_CLOEXEC); file >= 0) {
    [[maybe_unused]] const ssize_t refused = ::write(file, plan.oom_score.data(), plan.oom_score.size());
  }
  char go = 0;
  ssize_t got = 0;
  do {
    got = ::read(plan.go, &go, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) {
    ::_exit(127);  // The parent has exited, or doesn't need it any more.
  }
  if (plan.user != nullptr) {
    change_user(plan);
  }
  if (::chdir(plan.directory) != 0) {
    give_up(plan, Failure::Step::directory);
  }
  ::execve(plan.program, plan.argv, plan.environment);
  give_up(plan, Failure::Step::run);
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

bool started_with_any(pid_t pid, const std::vector<std::string>& tokens) {
  return std::any_of(tokens.begin(), tokens.end(),
                     [pid](const std::string& token) { return !token.empty() && started_with(pid, token); });
}

std::vector<ProcessInfo> marked_with(const std::vector<std::string>& tokens,
                                     const std::vector<ProcessInfo>& all) {
  std::vector<ProcessInfo> marked;
  for (const ProcessInfo& process : all) {
    if (!process.dead() && process.pid != ::getpid() && started_with_any(process.pid, tokens)) {
      marked.push_back(process);
    }
  }
  return marked;
}

/// The program's oom_score_adj; "" if ours can't be read, and then the program inherits it.
std::string oom_score_of_programs() {
  const auto text = read_file(oom_score_file, 64);
  int ours = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), ours).ec != std::errc()) {
    return "";
  }
  return std::to_string(std::min(ours + oom_score_above_ours, highest_oom_score));
}

void wait_for(pid_t pid) {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

/// The pipes between this process and a new one.
struct Pipes {
  Descriptor null;  ///< Its input, unless it gets another.
  Pipe out;
  Pipe err;
  Pipe go;       ///< The child waits for a byte there before it becomes the program.
  Pipe failure;  ///< The child writes there why it failed.
};

Result<Pipes> make_pipes(bool terminal) {
  Pipes pipes;
  pipes.null = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!pipes.null) {
    return file_error("cannot open", "/dev/null", errno);
  }
  for (Pipe* pipe : {&pipes.out, &pipes.err, &pipes.go, &pipes.failure}) {
    Result<Pipe> made = terminal && pipe == &pipes.out ? make_terminal() : make_pipe();
    if (!made) {
      return made.error();
    }
    *pipe = *std::move(made);
  }
  ::fcntl(pipes.out.read_end.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(pipes.err.read_end.get(), F_SETFL, O_NONBLOCK);
  return pipes;
}

/// A process that waits to become the program. The child's ends of the pipes are closed here.
Result<pid_t> fork_program(const ProgramStart& what, const std::string& program, const Descriptor* input,
                           bool ignores_warnings, Pipes& pipes) {
  std::vector<std::string> argv = what.argv;
  std::vector<std::string> environment;
  for (const auto& [name, value] : what.environment) {
    environment.push_back(name + "=" + value);
  }
  const std::vector<char*> argv_pointers = pointers_to(argv);
  const std::vector<char*> environment_pointers = pointers_to(environment);
  const std::string oom_score = oom_score_of_programs();
  const auto user = what.account ? std::optional(Identity(*what.account)) : std::nullopt;
  if (user) {
    for (const Pipe* output : {&pipes.out, &pipes.err}) {
      // Programs open /dev/stdout and /dev/stderr by name.
      if (::fchown(output->write_end.get(), user->uid, user->gid) != 0) {
        return Error{Errc::unavailable,
                     "cannot give user " + what.account->name + " its output: " + error_text(errno)};
      }
    }
  }
  const ChildPlan plan{.program = program.c_str(),
                       .argv = argv_pointers.data(),
                       .environment = environment_pointers.data(),
                       .directory = what.directory.c_str(),
                       .user = user ? &*user : nullptr,
                       .oom_score = oom_score,
                       .input = input != nullptr ? input->get() : pipes.null.get(),
                       .out = pipes.out.write_end.get(),
                       .err = pipes.err.write_end.get(),
                       .go = pipes.go.read_end.get(),
                       .failure = pipes.failure.write_end.get(),
                       .parent = ::getpid(),
                       .ignores_warnings = ignores_warnings};
  const pid_t pid = ::fork();
  if (pid < 0) {
    return Error{Errc::unavailable, "cannot make a process: " + error_text(errno)};
  }
  if (pid == 0) {
    // Copies of our ends in the child would keep both pipes open forever.
    ::close(pipes.go.write_end.get());
    ::close(pipes.failure.read_end.get());
    become(plan);
  }
  pipes.out.write_end.reset();
  pipes.err.write_end.reset();
  pipes.go.read_end.reset();
  pipes.failure.write_end.reset();
  return pid;
}

/// A control group with that process; nothing if none can be made.
std::optional<ControlGroup> group_of(pid_t pid) {
  std::optional<ControlGroup> group = ControlGroup::make("hpsearch-" + std::to_string(pid));
  if (group && !group->take(pid)) {
    group->remove();
    group.reset();
  }
  return group;
}

/// Makes the waiting process become the program. Returns why it failed, or nothing.
std::optional<Failure> let_run(const Pipes& pipes) {
  const char word = 'g';
  while (::write(pipes.go.write_end.get(), &word, 1) < 0 && errno == EINTR) {
  }
  Failure failure;
  ssize_t got = 0;
  do {
    got = ::read(pipes.failure.read_end.get(), &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof failure) ? std::optional(failure) : std::nullopt;
}

Error cannot_run(const ProgramStart& what, const std::string& program, const Failure& failure) {
  if (failure.step == Failure::Step::directory) {
    return file_error("cannot enter", what.directory, failure.error);
  }
  if (failure.step == Failure::Step::user) {
    return Error{Errc::unavailable, "cannot become user " + what.account->name + " (uid " +
                                        std::to_string(what.account->uid) +
                                        "): " + error_text(failure.error)};
  }
  std::string text = "cannot run " + program + ": " + error_text(failure.error);
  if (failure.error == ENOENT) {
    text += " (if the file is there, the interpreter named in its first line is not)";
  } else if (failure.error == ENOEXEC) {
    text += " (a script needs a first line like #!/usr/bin/python3)";
  } else if (failure.error == E2BIG) {
    text += " (its hyperparameters are too large for the environment)";
  }
  return Error{failure.error == ENOENT ? Errc::not_found : Errc::unavailable, std::move(text)};
}

}  // namespace

Result<std::string> find_program(const ProgramStart& what) {
  const std::string& name = what.argv.front();
  if (name.find('/') != std::string::npos) {
    return name;
  }
  const auto found = what.environment.find("PATH");
  const std::string path = found == what.environment.end() ? "/usr/local/bin:/usr/bin:/bin" : found->second;
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::size_t end = rest.find(':');
    const std::string directory = end == 0 ? std::string(".") : std::string(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    const bool relative = directory.front() != '/';
    const std::string candidate = (relative ? what.directory + "/" : "") + directory + "/" + name;
    std::error_code error;
    if (::access(candidate.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(candidate, error)) {
      return candidate;
    }
  }
  return Error{Errc::not_found, "there is no program " + name + " on PATH (" + path + ")"};
}

ProgramShim::ProgramShim(net::Loop& loop, OnStuck on_stuck) : loop_(loop), on_stuck_(std::move(on_stuck)) {
  for (const ProcessInfo& process : all_processes().value_or(std::vector<ProcessInfo>())) {
    if (process.parent == ::getpid()) {
      before_us_.insert(process.pid);
    }
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  child_signals_ = loop_.on_signals({SIGCHLD}, [this](int) { reap(); });
}

ProgramShim::~ProgramShim() = default;

Result<RunningProgram> ProgramShim::start(const ProgramStart& what, const BeforeRun& before_run, OnEnd on_end,
                                          const Descriptor* input) {
  const Result<std::string> program = find_program(what);
  if (!program) {
    return program.error();
  }
  Result<Pipes> pipes = make_pipes(what.terminal);
  if (!pipes) {
    return pipes.error();
  }
  const Result<pid_t> forked = fork_program(what, *program, input, ignore_warnings_, *pipes);
  if (!forked) {
    return forked.error();
  }
  const pid_t pid = *forked;
  const std::uint64_t oom_before = oom_kills();
  const auto info = process_info(pid);
  std::optional<ControlGroup> group = group_of(pid);
  RunningProgram running;
  running.pid = pid;
  running.start_time = info ? info->start_time : 0;
  running.group = group ? group->directory().string() : "";
  const auto end_it = [&](Error why) {
    pipes->go.write_end.reset();
    wait_for(pid);
    if (group) {
      group->remove();
    }
    return why;
  };
  if (const Status ready = before_run(running); !ready) {
    return end_it(ready.error());
  }
  if (const std::optional<Failure> failure = let_run(*pipes)) {
    return end_it(cannot_run(what, *program, *failure));
  }
  running.out = std::move(pipes->out.read_end);
  running.err = std::move(pipes->err.read_end);
  Kept& kept = programs_[pid];
  kept.tokens = {what.token};
  kept.group = std::move(group);
  kept.on_end = std::move(on_end);
  kept.oom_kills_before = oom_before;
  watch_death(pid, kept);
  return running;
}

void ProgramShim::watch_death(pid_t pid, Kept& kept) {
  kept.process = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (kept.process) {
    kept.death = loop_.when_readable(kept.process.get(), [this, pid] {
      if (const auto found = programs_.find(pid); found != programs_.end()) {
        found->second.death = net::Watch();  // It would stay readable.
      }
      reap();
    });
  }
}

void ProgramShim::rename(pid_t pid, const std::string& token, OnEnd on_end) {
  Kept& kept = programs_.at(pid);
  kept.tokens.push_back(token);
  kept.on_end = std::move(on_end);
  kept.oom_kills_before = oom_kills();  // Earlier kills aren't its end.
}

void ProgramShim::notify(pid_t pid, int signal) {
  const auto found = programs_.find(pid);
  if (found == programs_.end() || found->second.exited || found->second.killing) {
    return;
  }
  if (const auto process = process_info(pid)) {
    signal_exactly(*process, signal);
  }
}

void ProgramShim::terminate(pid_t pid, std::chrono::milliseconds grace) {
  const auto found = programs_.find(pid);
  if (found == programs_.end() || found->second.killing || found->second.exited) {
    return;
  }
  found->second.leave_until = std::chrono::steady_clock::now() + grace;
  const auto all = all_processes();
  if (!all) {
    ::kill(pid, SIGTERM);  // A child that isn't reaped yet. It ends its own children, or they are killed.
    return;
  }
  for (const ProcessInfo& process : left_of(pid, *all)) {
    signal_exactly(process, SIGTERM);
  }
}

void ProgramShim::kill(pid_t pid) {
  const auto found = programs_.find(pid);
  if (found == programs_.end()) {
    return;
  }
  found->second.killing = true;
  sweep(pid);
}

void ProgramShim::force(Kept& kept, const std::vector<ProcessInfo>& left) {
  if (kept.group) {
    kept.group->kill();
  }
  for (const ProcessInfo& process : left) {
    signal_exactly(process, SIGKILL);
  }
  const auto now = std::chrono::steady_clock::now();
  if (!kept.killed_at) {
    kept.killed_at = now;
  }
  if (!kept.reported_stuck && !left.empty() && now - *kept.killed_at >= patience_with_the_killed) {
    kept.reported_stuck = true;
    if (on_stuck_) {
      on_stuck_(left.front().pid);
    }
  }
}

void ProgramShim::reap() {
  std::vector<pid_t> exited;
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid < 0 && errno == EINTR) {
      continue;
    }
    if (pid <= 0) {
      break;
    }
    before_us_.erase(pid);
    const auto found = programs_.find(pid);
    if (found != programs_.end() && !found->second.exited) {
      found->second.exited = true;
      found->second.status = status;
      exited.push_back(pid);
    }
  }
  for (const pid_t pid : exited) {
    sweep(pid);
  }
}

void ProgramShim::sweep(pid_t pid) {
  const auto found = programs_.find(pid);
  if (found == programs_.end()) {
    return;
  }
  Kept& kept = found->second;
  auto all = all_processes();
  std::vector<ProcessInfo> left = all ? left_of(pid, *all) : std::vector<ProcessInfo>();
  if (all && kept.exited && left.empty()) {
    // Only now, because it reads every process; a program that was asked to end is signaled above.
    all = all_processes();
    left = all ? marked_with(kept.tokens, *all) : std::vector<ProcessInfo>();
    if (all && left.empty()) {
      end(found);
      return;
    }
  }
  if (!all && kept.killing && !kept.exited) {
    ::kill(pid, SIGKILL);  // The others are killed when they are visible.
  }
  ++kept.sweeps;
  if (kept.killing || !kept.leave_until || std::chrono::steady_clock::now() >= *kept.leave_until) {
    force(kept, left);
  }
  const auto wait =
      std::min<std::chrono::milliseconds>(first_look * std::min<std::int64_t>(kept.sweeps, 20), longest_look);
  kept.again = loop_.after(wait, [this, pid] { sweep(pid); });
}

void ProgramShim::end(std::map<pid_t, Kept>::iterator program) {
  const Kept ended = std::move(program->second);
  programs_.erase(program);
  ProgramEnd end;
  end.by_signal = WIFSIGNALED(ended.status);
  end.code = end.by_signal ? WTERMSIG(ended.status) : WEXITSTATUS(ended.status);
  if (ended.group) {
    end.out_of_memory = ended.group->ran_out_of_memory();
    ended.group->remove();
  }
  // A group without memory accounting counts nothing; this process's own group may. A shell reports a signal
  // that killed its command as 128 + signal.
  const bool killed = end.code == (end.by_signal ? SIGKILL : 128 + SIGKILL) && !ended.killing;
  end.out_of_memory = end.out_of_memory || (killed && oom_kills() > ended.oom_kills_before);
  ended.on_end(end);
}

std::vector<ProcessInfo> ProgramShim::left_of(pid_t pid, const std::vector<ProcessInfo>& all) const {
  const pid_t self = ::getpid();
  const pid_t own_session = ::getsid(0);
  std::set<pid_t> ours;
  if (const Kept& kept = programs_.at(pid); kept.group) {
    const std::vector<pid_t> members = kept.group->processes();
    ours.insert(members.begin(), members.end());
  }
  bool alone = self != 1;  // The first process of a container adopts foreign processes, too.
  for (const auto& [other, kept] : programs_) {
    alone = alone && other == pid;
  }
  // Every program begins a session, so processes in this session never belong to a program.
  const auto is_anothers = [&](const ProcessInfo& process) {
    return programs_.contains(process.session) || process.session == own_session ||
           before_us_.contains(process.pid);
  };
  for (const ProcessInfo& process : all) {
    if (process.dead() || process.pid == self) {
      continue;
    }
    if (process.session == pid) {
      ours.insert(process.pid);
    } else if (process.parent == self && !is_anothers(process)) {
      // An orphan with its own session. Without the mark it belongs to this program if no other one runs.
      if (alone || started_with_any(process.pid, programs_.at(pid).tokens)) {
        ours.insert(process.pid);
      }
    }
  }
  // Descendants of our processes are ours, too; parents may come after children in the table.
  for (bool grown = true; grown;) {
    grown = false;
    for (const ProcessInfo& process : all) {
      if (!process.dead() && ours.contains(process.parent) && ours.insert(process.pid).second) {
        grown = true;
      }
    }
  }
  std::vector<ProcessInfo> left;
  for (const ProcessInfo& process : all) {
    if (ours.contains(process.pid)) {
      left.push_back(process);
    }
  }
  return left;
}

}  // namespace hpsearch::workers
