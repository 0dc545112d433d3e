#include "hpsearch/workers/shell/processes/process_table.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <string_view>
#include <utility>

#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

namespace {

constexpr std::size_t longest_environment = 4 * 1024 * 1024;

std::string proc_path(pid_t pid, const char* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

/// The number at the beginning of `text`.
template <class Number>
Number first_number_in(std::string_view text) {
  Number number{};
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

/// Nothing if it is no line of the table.
std::optional<ProcessInfo> parse_stat(pid_t pid, const std::string& text) {
  // "pid (name) state ppid pgrp session …"; the name may have any characters, so fields are counted from its
  // last parenthesis.
  const std::size_t name_end = text.rfind(") ");
  if (name_end == std::string::npos) {
    return std::nullopt;
  }
  std::string_view rest = std::string_view(text).substr(name_end + 2);
  std::vector<std::string_view> fields;
  constexpr std::size_t fields_used = 22;
  while (!rest.empty() && fields.size() < fields_used) {
    const std::size_t gap = rest.find(' ');
    fields.push_back(rest.substr(0, gap));
    rest.remove_prefix(gap == std::string_view::npos ? rest.size() : gap + 1);
  }
  if (fields.size() < fields_used || fields[0].empty()) {
    return std::nullopt;
  }
  ProcessInfo info;
  info.pid = pid;
  info.state = fields[0].front();
  info.parent = first_number_in<pid_t>(fields[1]);
  info.group = first_number_in<pid_t>(fields[2]);
  info.session = first_number_in<pid_t>(fields[3]);
  for (const std::size_t own_and_children : {11U, 12U, 13U, 14U}) {
    info.cpu_ticks += first_number_in<std::uint64_t>(fields[own_and_children]);
  }
  info.threads = first_number_in<std::uint64_t>(fields[17]);
  info.start_time = first_number_in<std::uint64_t>(fields[19]);
  info.resident_pages = first_number_in<std::uint64_t>(fields[21]);
  return info;
}

}  // namespace

std::optional<ProcessInfo> process_info(pid_t pid) {
  const auto text = read_file(proc_path(pid, "stat"), 16 * 1024);
  return text ? parse_stat(pid, *text) : std::nullopt;
}

std::optional<std::vector<ProcessInfo>> all_processes() {
  std::vector<ProcessInfo> all;
  const std::unique_ptr<DIR, CloseDirectory> proc(::opendir("/proc"));
  if (!proc) {
    return std::nullopt;
  }
  bool ourselves = false;
  while (const dirent* entry = ::readdir(proc.get())) {
    const pid_t pid = first_number_in<pid_t>(entry->d_name);
    if (pid <= 0) {
      continue;
    }
    const Descriptor file(::open(proc_path(pid, "stat").c_str(), O_RDONLY | O_CLOEXEC));
    if (!file && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) {
      return std::nullopt;  // The process may exist.
    }
    std::array<char, 4096> text;  // Filled by read().
    const ssize_t got = file ? ::read(file.get(), text.data(), text.size()) : 0;
    if (got < 0 && errno != ESRCH) {
      return std::nullopt;
    }
    if (got <= 0) {
      continue;  // It has exited, or is hidden from us.
    }
    if (auto info = parse_stat(pid, std::string(text.data(), static_cast<std::size_t>(got)))) {
      ourselves = ourselves || pid == ::getpid();
      all.push_back(*info);
    }
  }
  return ourselves ? std::optional(std::move(all)) : std::nullopt;
}

std::optional<std::string> started_with_value(pid_t pid, std::string_view name) {
  const auto text = read_file(proc_path(pid, "environ"), longest_environment);
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  while (!rest.empty()) {
    const std::size_t end = rest.find('\0');
    const std::string_view assignment = rest.substr(0, end);
    if (assignment.size() > name.size() && assignment[name.size()] == '=' && assignment.starts_with(name)) {
      return std::string(assignment.substr(name.size() + 1));
    }
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return std::nullopt;
}

bool started_with(pid_t pid, const std::string& assignment) {
  const auto text = read_file(proc_path(pid, "environ"), longest_environment);
  if (!text) {
    return false;
  }
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\0');
    if (rest.substr(0, end) == assignment) {
      return true;
    }
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return false;
}

void signal_exactly(const ProcessInfo& process, int signal) noexcept {
  // By number: glibc 2.36 declares these calls without C linkage.
  const Descriptor held(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (!held) {
    if (errno == ENOSYS) {
      ::kill(process.pid, signal);
    }
    return;
  }
  // The descriptor pins the process that has the pid now; it is the right one if it started at the same tick.
  const auto now = process_info(process.pid);
  if (now && now->start_time == process.start_time) {
    ::syscall(SYS_pidfd_send_signal, held.get(), signal, nullptr, 0);
  }
}

std::string boot_id() {
  const auto text = read_file("/proc/sys/kernel/random/boot_id", 256);
  return text ? text->substr(0, text->find('\n')) : "";
}

}  // namespace hpsearch::workers
