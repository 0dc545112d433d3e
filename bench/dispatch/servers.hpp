#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace hpsearch::bench {

/// A process of the bench; killed when this goes.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  ~Child();

 private:
  pid_t pid_;
};

/// The floor: a process with a bare ROUTER that sends each frame back to where it came from.
class EchoServer {
 public:
  EchoServer();
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  std::uint16_t port_ = 0;
  Child child_;
};

/// A real hpsearchd on an empty state directory, with one search that never runs out of trials; each trial
/// reports `reports_per_trial` times.
class DaemonServer {
 public:
  explicit DaemonServer(int reports_per_trial);
  ~DaemonServer();
  DaemonServer(const DaemonServer&) = delete;
  DaemonServer& operator=(const DaemonServer&) = delete;
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  std::filesystem::path folder_;
  std::uint16_t port_ = 0;
  Child child_;
};

/// A directory of the bench's own on the disk of the system's temporary files.
[[nodiscard]] std::filesystem::path bench_folder(const std::string& name);

}  // namespace hpsearch::bench
