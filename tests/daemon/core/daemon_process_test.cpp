#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "hpsearch/io/http/http.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

using namespace std::chrono_literals;

struct Limits {
  std::optional<rlim_t> file_bytes{};
  std::optional<rlim_t> open_files{};
};

/// One hpsearchd; killed if the test ends before it does.
class Process {
 public:
  Process(const Scratch& scratch, std::vector<std::string> words, Limits limits = {})
      : log_path_(scratch.path("log-" + std::to_string(++started_))) {
    pid_ = ::fork();
    if (pid_ == 0) {
      const int log = ::open(log_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
      ::dup2(log, STDOUT_FILENO);
      ::dup2(log, STDERR_FILENO);
      if (limits.file_bytes) {
        const rlimit limit{*limits.file_bytes, RLIM_INFINITY};
        ::setrlimit(RLIMIT_FSIZE, &limit);
      }
      if (limits.open_files) {
        const rlimit limit{std::min<rlim_t>(256, *limits.open_files), *limits.open_files};
        ::setrlimit(RLIMIT_NOFILE, &limit);
      }
      std::vector<char*> arguments{const_cast<char*>(HPSEARCHD)};
      for (std::string& word : words) {
        arguments.push_back(word.data());
      }
      arguments.push_back(nullptr);
      ::execv(HPSEARCHD, arguments.data());
      ::_exit(127);
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] std::string log() const { return text_of(log_path_); }
  void signal(int number) const { ::kill(pid_, number); }

  /// The exit code; 128 and more for a signal.
  int wait() {
    int status = 0;
    for (int i = 0; i < 3'000; ++i) {
      if (::waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = 0;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
      std::this_thread::sleep_for(10ms);
    }
    ADD_FAILURE() << "the process did not end:\n" << log();
    return -1;
  }

 private:
  static inline int started_ = 0;
  std::string log_path_;
  pid_t pid_ = 0;
};

class DaemonProcess : public testing::Test {
 protected:
  [[nodiscard]] std::string state() const { return scratch_.path("state"); }
  [[nodiscard]] std::vector<std::string> words(const std::string& directory) const {
    return {"--state-dir", directory, "--http", "127.0.0.1:0", "--workers", "tcp://127.0.0.1:0"};
  }

  /// Where the daemon of the state directory listens, once it does.
  std::string address_of(Process& process, const char* channel = "socket") const {
    for (int i = 0; i < 3'000; ++i) {
      const auto announced = proto::parse_json(text_of(state() + "/daemon.json"));
      if (announced && announced->at_path("pid")->number_or(0) == process.pid()) {
        return *announced->at_path(channel)->as_text();
      }
      std::this_thread::sleep_for(10ms);
    }
    ADD_FAILURE() << "the daemon does not listen:\n" << process.log();
    return "";
  }

  static net::HttpResponse ask(const std::string& address, const std::string& method,
                               const std::string& target, const std::string& body = "") {
    auto response = net::http_request(address, method, target, body, 30s);
    EXPECT_TRUE(response) << (response ? "" : response.error().message);
    return response ? *response : net::HttpResponse{};
  }

  static std::string submission(const std::string& name) {
    return R"({"name":")" + name + R"(","config":{"entrypoint":"true","hyperparameters":{"x":1},
        "searcher":{"name":"single","metric":"loss","max_length":{"batches":10}}}})";
  }

  Scratch scratch_;
};

TEST_F(DaemonProcess, ExitsWithZeroAfterASignal) {
  for (const int number : {SIGTERM, SIGINT}) {
    Process process(scratch_, words(state()));
    const std::string address = address_of(process);
    EXPECT_EQ(ask(address, "GET", "/healthz").status, 200U);
    process.signal(number);
    EXPECT_EQ(process.wait(), 0) << process.log();
    EXPECT_FALSE(std::filesystem::exists(state() + "/daemon.json"));
    EXPECT_FALSE(net::http_request(address, "GET", "/healthz", "", 5s));
  }
}

TEST_F(DaemonProcess, AcknowledgedExperimentsSurviveKills) {
  std::string expected;
  for (int round = 0; round < 5; ++round) {
    Process process(scratch_, words(state()));
    const std::string address = address_of(process);
    const auto status = proto::parse_json(ask(address, "GET", "/api/v1/status").body);
    EXPECT_EQ(status->at_path("daemon_epoch")->number_or(0), round + 1);
    EXPECT_EQ(status->at_path("experiments")->number_or(-1), round);
    if (round > 0) {
      EXPECT_EQ(ask(address, "GET", "/api/v1/experiments").body, expected);
    }
    EXPECT_EQ(ask(address, "POST", "/api/v1/experiments", submission("kept-" + std::to_string(round))).status,
              201U);
    expected = ask(address, "GET", "/api/v1/experiments").body;
    process.signal(SIGKILL);
    process.wait();
  }
}

TEST_F(DaemonProcess, SecondDaemonOnTheStateDirectoryIsRefused) {
  Process first(scratch_, words(state()));
  address_of(first);
  Process second(scratch_, words(state()));
  EXPECT_EQ(second.wait(), 4);
  EXPECT_NE(second.log().find(state()), std::string::npos) << second.log();
  EXPECT_NE(second.log().find("process " + std::to_string(first.pid())), std::string::npos) << second.log();
}

TEST_F(DaemonProcess, PortInUseIsReported) {
  Process first(scratch_, words(state()));
  const std::string address = address_of(first, "http");
  Process http(scratch_,
               {"--state-dir", scratch_.path("other"), "--http", address, "--workers", "tcp://127.0.0.1:0"});
  EXPECT_EQ(http.wait(), 1);
  EXPECT_NE(http.log().find(address), std::string::npos) << http.log();
  EXPECT_NE(http.log().find("--http"), std::string::npos) << http.log();
  const auto announced = proto::parse_json(text_of(state() + "/daemon.json"));
  const std::string workers = *announced->at_path("workers")->as_text();
  Process zmq(scratch_,
              {"--state-dir", scratch_.path("other"), "--http", "127.0.0.1:0", "--workers", workers});
  EXPECT_EQ(zmq.wait(), 1);
  EXPECT_NE(zmq.log().find(workers), std::string::npos) << zmq.log();
  EXPECT_NE(zmq.log().find("--workers"), std::string::npos) << zmq.log();
}

TEST_F(DaemonProcess, WithoutHttpItServesAUnixSocketOnly) {
  Process process(scratch_, {"--state-dir", state(), "--workers", "ipc://" + scratch_.path("workers.sock")});
  const std::string socket = state() + "/api.sock";
  for (int i = 0; i < 3'000 && !std::filesystem::exists(state() + "/daemon.json"); ++i) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(ask("unix://" + socket, "GET", "/healthz").status, 200U) << process.log();
  struct stat found {};
  ASSERT_EQ(::stat(socket.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  ASSERT_EQ(::stat(state().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0700U);
  const auto announced = proto::parse_json(text_of(state() + "/daemon.json"));
  ASSERT_TRUE(announced);
  EXPECT_EQ(announced->at_path("http"), nullptr);
  EXPECT_EQ(*announced->at_path("socket")->as_text(), "unix://" + socket);
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait(), 0) << process.log();
  EXPECT_FALSE(std::filesystem::exists(socket));
  EXPECT_FALSE(std::filesystem::exists(scratch_.path("workers.sock")));
}

TEST_F(DaemonProcess, UnwritableStateDirectoryIsReported) {
  std::ofstream(scratch_.path("file")) << "x";
  Process process(scratch_, words(scratch_.path("file/state")));
  EXPECT_EQ(process.wait(), 74);
  EXPECT_NE(process.log().find("--state-dir"), std::string::npos) << process.log();
}

TEST_F(DaemonProcess, DamagedStoreIsRefusedAndUnchanged) {
  std::filesystem::create_directory(state());
  const std::string noise(8192, 'x');
  std::ofstream(state() + "/events.db") << noise;
  Process process(scratch_, words(state()));
  EXPECT_EQ(process.wait(), 74);
  EXPECT_NE(process.log().find("events.db"), std::string::npos) << process.log();
  EXPECT_NE(process.log().find("hpsearch store verify " + state()), std::string::npos) << process.log();
  EXPECT_EQ(text_of(state() + "/events.db"), noise);
}

TEST_F(DaemonProcess, RaisesItsDescriptorLimitAndWarnsIfItIsLow) {
  rlimit ours{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &ours), 0);
  for (const rlim_t allowed : {rlim_t{1'000}, std::min<rlim_t>(ours.rlim_max, 65'536)}) {
    Process process(scratch_, words(state()), {.open_files = allowed});
    address_of(process);
    rlimit its{};
    ASSERT_EQ(::prlimit(process.pid(), RLIMIT_NOFILE, nullptr, &its), 0);
    EXPECT_EQ(its.rlim_cur, allowed);
    const std::string warning = "warning hpsearchd: only " + std::to_string(allowed) + " files may be open";
    EXPECT_EQ(process.log().find(warning) != std::string::npos, allowed < 65'536) << process.log();
  }
}

TEST_F(DaemonProcess, WrongUseIsReported) {
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"--bogus"},
        {"--state-dir", state(), "--http", "nonsense"},
        {"--state-dir", state(), "--http", "127.0.0.1:0", "--workers", "nonsense"}}) {
    Process process(scratch_, wrong);
    EXPECT_EQ(process.wait(), 2) << process.log();
    EXPECT_FALSE(process.log().empty());
  }
}

TEST_F(DaemonProcess, FullDiskLosesNoAcknowledgedExperiment) {
  int acknowledged = 0;
  {
    Process process(scratch_, words(state()), {512 * 1024});
    const std::string address = address_of(process);
    for (;;) {
      ASSERT_LT(acknowledged, 2'000);
      const auto answer = net::http_request(address, "POST", "/api/v1/experiments",
                                            submission("kept-" + std::to_string(acknowledged)), 3s);
      if (!answer || answer->status != 201) {
        break;
      }
      ++acknowledged;
    }
    const auto refused = ask(address, "POST", "/api/v1/experiments", submission("refused"));
    EXPECT_EQ(refused.status, 507U);
    EXPECT_NE(refused.body.find(state()), std::string::npos) << refused.body;
    EXPECT_NE(ask(address, "GET", "/healthz").body.find("\"full\""), std::string::npos);
    const rlimit room{RLIM_INFINITY, RLIM_INFINITY};
    ASSERT_EQ(::prlimit(process.pid(), RLIMIT_FSIZE, &room, nullptr), 0);
    const auto health = [&] { return ask(address, "GET", "/healthz").body; };
    for (int i = 0; i < 3'000 && health().find("\"ok\"") == std::string::npos; ++i) {
      std::this_thread::sleep_for(10ms);
    }
    // Requests that waited while the disk was full are stored now, whether or not their clients still wait.
    ++acknowledged;
    EXPECT_EQ(ask(address, "POST", "/api/v1/experiments", submission("after")).status, 201U) << process.log();
    ++acknowledged;
    process.signal(SIGKILL);
    process.wait();
  }
  EXPECT_GT(acknowledged, 0);
  Process again(scratch_, words(state()));
  const auto status = proto::parse_json(ask(address_of(again), "GET", "/api/v1/status").body);
  EXPECT_EQ(status->at_path("experiments")->number_or(-1), acknowledged);
}

}  // namespace
}  // namespace hpsearch::daemon
