#include "daemon/store/postgresql/server.hpp"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/store/postgresql/connection.hpp"

namespace hpsearch::daemon {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds look_every{50};
constexpr std::chrono::minutes patience{3};

/// The newest of Debian's, which are not on PATH; "" = none.
std::string directory_of_programs() {
  std::vector<std::pair<int, std::string>> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", none)) {
    const std::string place = entry.path() / "bin";
    if (fs::exists(place + "/initdb", none) && fs::exists(place + "/postgres", none)) {
      found.emplace_back(std::atoi(entry.path().filename().c_str()), place);
    }
  }
  return found.empty() ? "" : std::max_element(found.begin(), found.end())->second;
}

/// Starts a program as that user, in `directory`, with its output in a file there.
pid_t run(const std::vector<std::string>& words, uid_t user, gid_t group, const std::string& directory) {
  std::vector<char*> arguments;
  for (const std::string& word : words) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  const std::string log = directory + "/log";
  const bool is_root = ::geteuid() == 0;
  const pid_t child = ::fork();
  if (child != 0) {
    return child;
  }
  if (is_root && (::setgroups(0, nullptr) != 0 || ::setgid(group) != 0 || ::setuid(user) != 0)) {
    ::_exit(126);
  }
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);  // After the change of the user, which resets it.
  const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (output < 0 || ::dup2(output, 1) < 0 || ::dup2(output, 2) < 0 || ::chdir(directory.c_str()) != 0) {
    ::_exit(126);
  }
  ::execv(arguments.front(), arguments.data());
  ::_exit(127);
}

int result_of(pid_t child) {
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string url_in(const std::string& directory, const std::string& schema) {
  return "postgresql:///postgres?host=" + directory + "&user=hpsearch&options=-csearch_path%3D" + schema;
}

}  // namespace

PostgresqlServer* PostgresqlServer::of_process() {
  static const std::unique_ptr<PostgresqlServer> server = begin();
  return server.get();
}

const std::string& PostgresqlServer::missing() {
  static const std::string why =
      of_process() != nullptr ? "" : "there is no PostgreSQL server (scripts/setup test installs one)";
  return why;
}

PostgresqlServer::~PostgresqlServer() {
  stop();
}

DatabaseUrl PostgresqlServer::new_schema() {
  const std::string schema = "schema" + std::to_string(++schemas_);
  auto url = DatabaseUrl::read(url_in(scratch_.path().string(), schema));
  EXPECT_TRUE(url) << url.error().message;
  const auto made = Connection(*url).run_all("CREATE SCHEMA " + schema);
  EXPECT_TRUE(made) << made.error().message;
  return *std::move(url);
}

void PostgresqlServer::stop() {
  if (server_ > 0) {
    ::kill(server_, SIGQUIT);
    static_cast<void>(result_of(server_));
    server_ = -1;
  }
}

void PostgresqlServer::start() {
  const std::string directory = scratch_.path().string();
  server_ =
      run({programs_ + "/postgres", "-D", directory + "/data", "-k", directory, "-c",
           "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=16MB", "-c", "max_connections=50"},
          user_, group_, directory);
  const auto url = DatabaseUrl::read(url_in(directory, "public"));
  ASSERT_TRUE(url) << url.error().message;
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!Connection(*url).run("SELECT 1")) {
    ASSERT_EQ(::waitpid(server_, nullptr, WNOHANG), 0) << text_of(directory + "/log");
    ASSERT_LT(std::chrono::steady_clock::now(), end) << text_of(directory + "/log");
    std::this_thread::sleep_for(look_every);
  }
}

std::unique_ptr<PostgresqlServer> PostgresqlServer::begin() {
  std::unique_ptr<PostgresqlServer> server(new PostgresqlServer);
  server->programs_ = directory_of_programs();
  if (server->programs_.empty()) {
    return nullptr;
  }
  server->user_ = ::geteuid();
  server->group_ = ::getegid();
  const std::string directory = server->scratch_.path().string();
  if (::geteuid() == 0) {
    const passwd* user = ::getpwnam("postgres");
    user = user != nullptr ? user : ::getpwnam("nobody");
    if (user == nullptr || ::chown(directory.c_str(), user->pw_uid, user->pw_gid) != 0) {
      return nullptr;
    }
    server->user_ = user->pw_uid;
    server->group_ = user->pw_gid;
  }
  const pid_t initdb = run({server->programs_ + "/initdb", "-D", directory + "/data", "-U", "hpsearch", "-A",
                            "trust", "-E", "UTF8", "--no-locale", "--no-sync"},
                           server->user_, server->group_, directory);
  if (result_of(initdb) != 0) {
    ADD_FAILURE() << "initdb failed: " << text_of(directory + "/log");
    return nullptr;
  }
  server->start();
  return server;
}

}  // namespace hpsearch::daemon
