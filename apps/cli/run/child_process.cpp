#include "cli/run/child_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

namespace hpsearch::cli {
namespace {

using engine::Errc;
using engine::Error;
using engine::Result;

/// A child's message through the pipe if it could not become the program.
struct StartError {
  enum class Step : int { log, exec } step;
  int error;
};

}  // namespace

std::string Ending::describe() const {
  if (!signaled) {
    return "exit status " + std::to_string(number);
  }
  const char* name = ::sigdescr_np(number);
  return "signal " + std::to_string(number) + (name == nullptr ? "" : " (" + std::string(name) + ")");
}

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& argv, const std::string& log) {
  std::vector<char*> arguments;
  for (const std::string& argument : argv) {
    arguments.push_back(const_cast<char*>(argument.c_str()));  // execvp's signature is older than const.
  }
  arguments.push_back(nullptr);
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) {
    return Error{Errc::unavailable, std::string("cannot make a pipe: ") + std::strerror(errno)};
  }
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    const int error = errno;
    ::close(report[0]);
    ::close(report[1]);
    return Error{Errc::unavailable, std::string("cannot start a process: ") + std::strerror(error)};
  }
  if (pid == 0) {
    // Only async-signal-safe calls from here to exec.
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) {
      ::_exit(1);  // The parent died in between.
    }
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD}) {
      ::signal(number, SIG_DFL);
    }
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (nothing < 0 || out < 0 || ::dup2(nothing, STDIN_FILENO) < 0 || ::dup2(out, STDOUT_FILENO) < 0 ||
        ::dup2(out, STDERR_FILENO) < 0) {
      const StartError error{StartError::Step::log, errno};
      [[maybe_unused]] const ssize_t said = ::write(report[1], &error, sizeof error);
      ::_exit(127);
    }
    ::execvp(arguments[0], arguments.data());
    const StartError error{StartError::Step::exec, errno};
    [[maybe_unused]] const ssize_t said = ::write(report[1], &error, sizeof error);
    ::_exit(127);
  }
  ::close(report[1]);
  StartError error{};
  ssize_t got = 0;
  do {
    got = ::read(report[0], &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  ::close(report[0]);
  if (got == static_cast<ssize_t>(sizeof error)) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (error.step == StartError::Step::log) {
      return Error{Errc::unavailable, "cannot write " + log + ": " + std::strerror(error.error)};
    }
    return Error{Errc::unavailable, "cannot start " + argv.front() + ": " + std::strerror(error.error)};
  }
  return ChildProcess(pid);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), ending_(std::move(other.ending_)) {
}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this != &other) {
    signal(SIGTERM);
    pid_ = std::exchange(other.pid_, -1);
    ending_ = std::move(other.ending_);
  }
  return *this;
}

ChildProcess::~ChildProcess() {
  signal(SIGTERM);
}

std::optional<Ending> ChildProcess::ended() {
  if (pid_ < 0 || ending_) {
    return ending_;
  }
  int status = 0;
  pid_t got = 0;
  do {
    got = ::waitpid(pid_, &status, WNOHANG);
  } while (got < 0 && errno == EINTR);
  if (got == pid_) {
    ending_ = WIFSIGNALED(status) ? Ending{true, WTERMSIG(status)} : Ending{false, WEXITSTATUS(status)};
  } else if (got < 0) {
    ending_ = Ending{false, 0};  // ECHILD: it was reaped elsewhere, so it has ended.
  }
  return ending_;
}

void ChildProcess::signal(int number) noexcept {
  if (pid_ > 0 && !ended()) {
    ::kill(pid_, number);
  }
}

bool ChildProcess::wait(std::chrono::milliseconds at_most) {
  const auto deadline = std::chrono::steady_clock::now() + at_most;
  while (!ended()) {
    if (std::chrono::steady_clock::now() >= deadline) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

std::string find_program(const std::string& name) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    const std::filesystem::path beside = self.parent_path() / name;
    if (::access(beside.c_str(), X_OK) == 0) {
      return beside.string();
    }
  }
  return name;
}

}  // namespace hpsearch::cli
