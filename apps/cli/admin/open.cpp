#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/client/interrupts.hpp"
#include "cli/client/search_places.hpp"
#include "cli/client/server.hpp"
#include "cli/client/which.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace hpsearch::cli {
namespace {

using engine::Done;
using engine::Value;

constexpr std::chrono::milliseconds between_interrupt_looks{200};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// "127.0.0.1:8077" or "https://127.0.0.1:8443#FINGERPRINT" as a URL for a browser, with "/" at the end. The
/// address for all interfaces is replaced by the loopback address.
std::string url_of(const std::string& address) {
  std::string url = address.substr(0, address.find('#'));
  if (!url.starts_with("https://")) {
    url = "http://" + url;
  }
  for (const auto& [any, own] : {std::pair("//0.0.0.0:", "//127.0.0.1:"), std::pair("//[::]:", "//[::1]:")}) {
    if (const std::size_t at = url.find(any); at != std::string::npos) {
      url.replace(at, std::string(any).size(), own);
    }
  }
  return url + "/";
}

/// The address at which browsers reach the daemon. If it has no port, it is asked over its Unix socket to
/// open one.
Outcome<std::string> browser_address(const Client& client) {
  if (!client.address().starts_with("unix://")) {
    return client.address();
  }
  const auto opened = client.post("/api/v1/http-port", Value::Map{});
  return opened ? Outcome<std::string>(text_at(*opened, "http")) : Outcome<std::string>(opened.failure());
}

/// The command that starts a browser here; "" = there is no screen.
std::string browser_command() {
  const std::string chosen = variable("BROWSER");
  if (!chosen.empty()) {
    return chosen.substr(0, chosen.find(':'));
  }
  const bool has_screen = !variable("DISPLAY").empty() || !variable("WAYLAND_DISPLAY").empty();
  return has_screen ? "xdg-open" : "";
}

/// Writes a page that redirects to `url`. All users of a machine can read the arguments of a browser, so the
/// code must not be in the address that it is started with: only the owner can read this file.
Outcome<std::string> write_redirect(const std::string& url) {
  const std::string runtime = variable("XDG_RUNTIME_DIR");
  std::string folder = runtime.empty() ? "/tmp/hpsearch-open-XXXXXX" : runtime;
  if (runtime.empty() && ::mkdtemp(folder.data()) == nullptr) {
    return plain_failure("cannot make a directory in /tmp");
  }
  const std::string path = folder + "/hpsearch-open.html";
  ::unlink(path.c_str());
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) {
    return plain_failure("cannot write " + path);
  }
  const std::string html =
      "<!doctype html><meta charset=\"utf-8\"><title>hpsearch</title><meta http-equiv=\"refresh\" "
      "content=\"0; url=" +
      url + "\">\n";
  const bool written = ::write(file, html.data(), html.size()) == static_cast<ssize_t>(html.size());
  ::close(file);
  return written ? Outcome<std::string>(path) : Outcome<std::string>(plain_failure("cannot write " + path));
}

/// Starts the browser in its own session; false if it can't be started.
bool start_browser(const std::string& command, const std::string& page) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::string program = command;
  std::string argument = "file://" + page;
  char* argv[] = {program.data(), argument.data(), nullptr};
  pid_t pid = 0;
  const bool started = ::posix_spawnp(&pid, program.c_str(), &actions, &attributes, argv, environ) == 0;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return started;
}

/// From another machine the port is reached through a tunnel.
std::string tunnel_hint(const std::string& address) {
  if (variable("SSH_CONNECTION").empty() || !address.starts_with("127.0.0.1:")) {
    return "";
  }
  const std::string port = address.substr(address.rfind(':') + 1);
  std::string host(256, '\0');
  if (::gethostname(host.data(), host.size() - 1) != 0) {
    return "";
  }
  host.resize(host.find('\0'));
  return "from your own machine: ssh -L " + port + ":127.0.0.1:" + port + " " + host +
         ", then open the address there";
}

/// Without options the search that runs in this directory is preferred to a shared daemon.
ServerOptions nearest(const ServerOptions& options) {
  ServerOptions found = options;
  const auto latest = options.server || options.state_dir ? std::nullopt : latest_search();
  if (latest && running_daemon(StateDirectory(latest->path))) {
    found.state_dir = latest->path.string();
  }
  return found;
}

void show_address(const std::string& url, const std::string& address, const OpenOptions& options,
                  const Output& output) {
  if (output.json()) {
    output.data(Value::Map{{"url", url}});
  } else {
    output.print(url + "\n");
  }
  const std::string command = options.no_browser ? "" : browser_command();
  if (!command.empty()) {
    const Outcome<std::string> page = write_redirect(url);
    if (page && start_browser(command, *page)) {
      output.message("hpsearch: opening it with " + command + "; the address works once, within 60 s");
      return;
    }
  }
  output.message("hpsearch: open this address in a browser; it works once, within 60 s");
  if (const std::string hint = tunnel_hint(address); !hint.empty()) {
    output.message("hpsearch: " + hint);
  }
}

int show(const Server& server, const std::string& page, const OpenOptions& options, const Output& output) {
  const auto address = browser_address(server.client());
  const auto code = address ? server.client().post("/api/v1/session/code",
                                                   Value::Map{{"makes_tokens", options.makes_tokens}})
                            : Outcome<Value>(address.failure());
  if (!code) {
    return output.fail(code.failure());
  }
  show_address(url_of(*address) + page + "#login=" + text_at(*code, "code"), *address, options, output);
  if (server.is_ours()) {
    output.message("hpsearch: the search does not run; its daemon was started to show it. Ctrl-C ends it");
    const Interrupts interrupts;
    while (interrupts.count() == 0) {
      nap(between_interrupt_looks);
    }
  }
  return 0;
}

}  // namespace

int open(const OpenOptions& options, const Output& output) {
  const std::optional<std::string>& experiment = options.experiment.experiment;
  if (!experiment) {
    const Outcome<Server> server =
        Server::reach(nearest(options.experiment.server), Server::Need::readable, output);
    return server ? show(*server, "", options, output) : output.fail(server.failure());
  }
  const Outcome<Reached> reached =
      reach_experiment(options.experiment.server, experiment, Server::Need::readable, output);
  const auto detail = reached ? reached->server.client().get(experiment_target(reached->experiment))
                              : Outcome<Value>(reached.failure());
  return detail ? show(reached->server, "e/" + std::to_string(reached->experiment), options, output)
                : output.fail(detail.failure());
}

}  // namespace hpsearch::cli
