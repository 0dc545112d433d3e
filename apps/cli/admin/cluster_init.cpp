#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/admin/daemon_unit.hpp"
#include "cli/admin/invites.hpp"
#include "cli/client/state_directory.hpp"
#include "cli/render/text.hpp"
#include "cli/run/child_process.hpp"
#include "cli/run/same_command.hpp"
#include "daemon/keys/invites.hpp"
#include "hpsearch/io/files/state_home.hpp"
#include "hpsearch/io/net/server_names.hpp"

namespace hpsearch::cli {
namespace {

namespace fs = std::filesystem;

using engine::Value;

Outcome<fs::path> state_directory(const ClusterOptions& options) {
  fs::path directory;
  if (options.directory) {
    directory = *options.directory;
  } else if (const auto home = files::StateHome::of_environment()) {
    directory = home->daemon();
  } else {
    return usage_failure(home.error().message);
  }
  std::error_code unknown;
  directory = fs::absolute(directory, unknown).lexically_normal();
  const auto made = make_private_directory(directory);
  return made ? Outcome<fs::path>(directory) : Outcome<fs::path>(made.failure());
}

/// "" = none.
Outcome<std::string> checkpoint_root(const ClusterOptions& options) {
  if (!options.checkpoint_root) {
    return std::string();
  }
  const fs::path root = fs::path(*options.checkpoint_root).lexically_normal();
  if (!root.is_absolute()) {
    return usage_failure("--checkpoint-root is \"" + root.string() +
                         "\"; it must be an absolute path, the same on all machines");
  }
  const auto made = make_private_directory(root);
  return made ? Outcome<std::string>(root.string()) : Outcome<std::string>(made.failure());
}

/// The daemon listens at the address itself if this machine has it, else at all addresses.
std::vector<std::string> daemon_command(const ClusterOptions& options, const fs::path& directory,
                                        const std::string& host, const std::string& root) {
  const std::vector<std::string> own = net::names_of_server("0.0.0.0:0");
  const std::string bare = net::host_of(host + ":0");
  const bool is_own = bare.find_first_not_of("0123456789abcdefABCDEF.:") == std::string::npos &&
                      std::find(own.begin(), own.end(), bare) != own.end();
  const std::string listen = is_own ? host : "0.0.0.0";
  std::vector<std::string> command{find_program("hpsearchd"),
                                   "--state-dir",
                                   directory.string(),
                                   "--http",
                                   listen + ":" + std::to_string(options.http_port),
                                   "--tls-self-signed",
                                   "--workers",
                                   "tcp://" + listen + ":" + std::to_string(options.workers_port)};
  if (!is_own) {
    command.insert(command.end(), {"--tls-name", bare});
  }
  if (!root.empty()) {
    command.insert(command.end(), {"--checkpoint-root", root});
  }
  return command;
}

std::string user_name() {
  const passwd* user = ::getpwuid(::geteuid());
  return user != nullptr ? user->pw_name : std::to_string(::geteuid());
}

/// Where the units of this user lie.
fs::path user_units() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  const char* home = std::getenv("HOME");
  const fs::path base = config != nullptr && *config == '/'
                            ? fs::path(config)
                            : fs::path(home != nullptr ? home : "/") / ".config";
  return base / "systemd" / "user";
}

struct Start {
  std::string unit;     ///< The file; "" = there is none.
  std::string command;  ///< What starts the daemon.
};

Outcome<Start> write_unit(const ClusterOptions& options, const fs::path& directory, const std::string& root,
                          const std::vector<std::string>& command) {
  if (options.unit == "none") {
    return Start{"", command_text(command)};
  }
  const bool is_users = options.unit == "user";
  DaemonUnit unit{command, is_users ? "" : user_name(), {directory.string()}};
  if (!root.empty()) {
    unit.written.push_back(root);
  }
  const fs::path file = (is_users ? user_units() : directory) / "hpsearchd.service";
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (const auto written = write_secret_file(file.string(), unit.text()); !written) {
    return written.failure();
  }
  return Start{file.string(),
               is_users
                   ? "systemctl --user daemon-reload && systemctl --user enable --now hpsearchd"
                   : "sudo install -m 644 " + command_text({file.string()}) +
                         " /etc/systemd/system/ && sudo systemctl daemon-reload && sudo systemctl enable "
                         "--now hpsearchd"};
}

/// In a directory that all machines have, a worker reads the invite itself; else ssh carries it. Neither
/// shows it in the arguments of a process.
std::string join_command(const ClusterOptions& options, const std::string& root, const std::string& file) {
  const std::string worker = find_program("hpsearch-worker");
  return !root.empty() || options.invite_file ? command_text({worker, "join", "@" + file})
                                              : "ssh NODE hpsearch-worker join < " + command_text({file});
}

}  // namespace

int cluster_init(const ClusterOptions& options, const Output& output) {
  const auto life = read_life("--for", options.life);
  if (!life) {
    return output.fail(life.failure());
  }
  const auto root = checkpoint_root(options);
  if (!root) {
    return output.fail(root.failure());
  }
  const auto directory = state_directory(options);
  if (!directory) {
    return output.fail(directory.failure());
  }
  const std::string endpoint = net::endpoint_for_others(
      "tcp://0.0.0.0:" + std::to_string(options.workers_port), options.address.value_or(""));
  const std::string host = endpoint.substr(6, endpoint.rfind(':') - 6);
  const auto made = daemon::Invites(directory->string())
                        .create({.endpoint = endpoint,
                                 .life = *life,
                                 .uses = options.uses,
                                 .creator = "uid " + std::to_string(::geteuid())},
                                engine::Instant::from_micros(static_cast<std::int64_t>(seconds_now() * 1e6)));
  if (!made) {
    return output.fail(failure_of(made.error()));
  }
  const std::string file = options.invite_file.value_or(root->empty() ? (*directory / "invite").string()
                                                                      : *root + "/hpsearch-invite");
  if (const auto written = write_secret_file(file, made->token); !written) {
    return output.fail(written.failure());
  }
  const std::vector<std::string> command = daemon_command(options, *directory, host, *root);
  const auto start = write_unit(options, *directory, *root, command);
  if (!start) {
    return output.fail(start.failure());
  }
  const std::string join = join_command(options, *root, file);
  const std::string socket = "unix://" + (*directory / "api.sock").string();
  if (output.json()) {
    output.data(Value::Map{{"state_dir", directory->string()},
                           {"workers", endpoint},
                           {"daemon_command", Value::List(command.begin(), command.end())},
                           {"unit", start->unit},
                           {"start", start->command},
                           {"invite", made->record.id()},
                           {"invite_file", file},
                           {"join", join},
                           {"server", socket}});
    return 0;
  }
  output.print("The daemon's state directory is " + directory->string() +
               (start->unit.empty() ? "" : ", its unit " + start->unit) + ".\nInvite " + made->record.id() +
               " is in " + file + ": " +
               invite_terms(options.uses, static_cast<double>(made->record.expires) / 1e6) +
               ".\n\n1. Start the daemon on this machine:\n\n     " + start->command +
               "\n\n2. Start a worker on each machine that runs trials:\n\n     " + join +
               "\n\n3. Use the daemon from this machine:\n\n     hpsearch context add cluster " + socket +
               "\n     hpsearch workers\n");
  return 0;
}

}  // namespace hpsearch::cli
