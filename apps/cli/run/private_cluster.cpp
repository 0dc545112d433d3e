#include "cli/run/private_cluster.hpp"

#include <signal.h>

#include <algorithm>
#include <fstream>

#include "cli/client/interrupts.hpp"
#include "cli/render/text.hpp"
#include "hpsearch/io/archive/context_files.hpp"

namespace hpsearch::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr std::size_t most_deaths = 5;      // After this many restarts …
constexpr seconds death_window{120};        // … within this time, the cluster fails.
constexpr seconds patience_with_locks{45};  // A worker's programs have 30 s to end.
constexpr seconds patience_with_worker{45};
constexpr seconds patience_with_daemon{20};
constexpr seconds patience_in_a_hurry{5};

std::uintmax_t size_of(const std::filesystem::path& file) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  return error ? 0 : size;
}

std::string log_tail(const std::filesystem::path& file, std::uintmax_t from) {
  constexpr std::uintmax_t most = 16 * 1024;
  const std::uintmax_t size = size_of(file);
  if (size <= from) {
    return "";
  }
  const std::uintmax_t begin = std::max(from, size > most ? size - most : 0);
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(begin));
  std::string text(static_cast<std::size_t>(size - begin), '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return last_lines(text, 8);
}

Outcome<engine::Done> await_lock(const std::filesystem::path& lock, const std::string& what,
                                 const PrivateCluster::Say& say, const PrivateCluster::Hurry& hurry) {
  const auto deadline = steady_clock::now() + patience_with_locks;
  bool printed = false;
  while (const std::optional<pid_t> holder = lock_holder(lock)) {
    const std::string who = what + (*holder > 0 ? " (process " + std::to_string(*holder) + ")" : "");
    if (!printed && steady_clock::now() > deadline - patience_with_locks + milliseconds(500)) {
      say("waiting for " + who + " of an earlier command to end");
      printed = true;
    }
    if (hurry()) {
      return Failure{Exit::interrupted, engine::Errc::unavailable, "interrupted"};
    }
    if (steady_clock::now() > deadline) {
      return conflict_failure(who + " of an earlier command still holds " + lock.parent_path().string() +
                              "; stop it, then run the same command again");
    }
    nap(milliseconds(20));
  }
  return engine::Done{};
}

}  // namespace

Outcome<engine::Done> PrivateCluster::launch(Helper& helper) {
  helper.log_begin = size_of(helper.log);
  engine::Result<ChildProcess> started = ChildProcess::start(helper.argv, helper.log.string());
  if (!started) {
    return plain_failure(started.error().message + "; " + helper.name +
                         " belongs beside hpsearch, or on PATH");
  }
  helper.process.emplace(std::move(*started));
  return engine::Done{};
}

Failure PrivateCluster::death_of(Helper& helper, const Ending& ending) {
  Failure out = plain_failure(helper.name + " ended (" + ending.describe() + ")");
  const auto ended_with = [&ending](Exit exit) {
    return !ending.signaled && ending.number == static_cast<int>(exit);
  };
  if (ended_with(Exit::conflict)) {
    out.exit = Exit::conflict;
    out.code = engine::Errc::wrong_state;
  } else if (ended_with(Exit::storage)) {
    out.exit = Exit::storage;
  } else if (ended_with(Exit::usage)) {
    out.exit = Exit::usage;
    out.code = engine::Errc::bad_request;
  }
  const std::string tail = log_tail(helper.log, helper.log_begin);
  out.message += tail.empty() ? "; its log is " + helper.log.string()
                              : "; the end of its log " + helper.log.string() + ":\n" + tail;
  return out;
}

Outcome<engine::Done> PrivateCluster::await_daemon(const Hurry& hurry) {
  while (true) {
    const std::optional<DaemonAddresses> addresses = read_daemon_file(state_.daemon());
    if (addresses && addresses->pid == daemon_.process->pid()) {
      client_ = Client(addresses->socket);
      workers_ = addresses->workers;
      return engine::Done{};
    }
    if (const std::optional<Ending> ending = daemon_.process->ended()) {
      return death_of(daemon_, *ending);
    }
    if (hurry()) {
      return Failure{Exit::interrupted, engine::Errc::unavailable, "interrupted"};
    }
    nap(milliseconds(3));
  }
}

Outcome<engine::Done> PrivateCluster::await_free(const StateDirectory& state, const Say& say,
                                                 const Hurry& hurry) {
  if (const auto free = await_lock(state.worker() / "lock", "the worker", say, hurry); !free) {
    return free.failure();
  }
  return await_lock(state.daemon() / "lock", "the daemon", say, hurry);
}

Outcome<PrivateCluster> PrivateCluster::start(const StateDirectory& state, Permissions permissions,
                                              const Say& say, const Hurry& hurry) {
  if (const auto free = await_lock(state.daemon() / "lock", "the daemon", say, hurry); !free) {
    return free.failure();
  }
  PrivateCluster out(state);
  out.daemon_.name = "hpsearchd";
  out.daemon_.log = state.daemon_log();
  // The command that starts it has already checked the context, with its own limit.
  out.daemon_.argv = {
      find_program("hpsearchd"), "--no-config",     "--state-dir",
      state.daemon().string(),   "--context-limit", std::to_string(context::largest_limit_megabytes)};
  if (!permissions.keeps_files) {
    out.daemon_.argv.emplace_back("--no-kept-files");  // The worker's kept files are on the same machine.
  }
  if (!permissions.workers.empty()) {  // Else Unix sockets only: no other user of this machine can connect.
    const std::string host = permissions.workers.substr(6, permissions.workers.rfind(':') - 6);
    out.daemon_.argv.insert(out.daemon_.argv.end(),
                            {"--http", host + ":0", "--tls-self-signed", "--workers", permissions.workers});
  }
  if (permissions.network == files::NetworkFileSystems::allowed) {
    out.daemon_.argv.emplace_back("--allow-network-filesystem");
  }
  if (permissions.take_over) {
    out.daemon_.argv.emplace_back("--take-over");
  }
  if (const auto launched = launch(out.daemon_); !launched) {
    return launched.failure();
  }
  if (const auto ready = out.await_daemon(hurry); !ready) {
    return ready.failure();
  }
  if (permissions.take_over) {
    out.daemon_.argv.pop_back();
  }
  // A restart keeps the port that was free: workers know it.
  std::replace(out.daemon_.argv.begin(), out.daemon_.argv.end(), permissions.workers, out.workers_);
  return out;
}

Outcome<engine::Done> PrivateCluster::start_worker(const Slots& slots, const Say& say, const Hurry& hurry) {
  if (const auto free = await_lock(state_.worker() / "lock", "the worker", say, hurry); !free) {
    return free.failure();
  }
  Helper worker;
  worker.name = "hpsearch-worker";
  worker.log = state_.worker_log();
  worker.argv = {find_program("hpsearch-worker"), "--no-config", "--daemon", workers_, "--state-dir",
                 state_.worker().string()};
  worker.argv.insert(worker.argv.end(), {"--share-slots", slots.who});
  if (slots.chosen) {
    worker.argv.insert(worker.argv.end(), {"--slots", *slots.chosen});
  }
  if (slots.gpu_free) {
    worker.argv.insert(worker.argv.end(), {"--gpu-free", std::to_string(*slots.gpu_free)});
  }
  if (const auto launched = launch(worker); !launched) {
    return launched.failure();
  }
  worker_.emplace(std::move(worker));
  return engine::Done{};
}

Outcome<engine::Done> PrivateCluster::revive(Helper& helper, const Say& say) {
  const auto now = steady_clock::now();
  if (helper.process) {
    const std::optional<Ending> ending = helper.process->ended();
    if (!ending) {
      return engine::Done{};
    }
    std::erase_if(helper.deaths, [now](const auto when) { return now - when > death_window; });
    helper.deaths.push_back(now);
    Failure death = death_of(helper, *ending);
    if (helper.deaths.size() > most_deaths) {
      death.message = helper.name + " died " + std::to_string(helper.deaths.size()) + " times in " +
                      duration_text(static_cast<double>(death_window.count())) + "; the last time " +
                      death.message;
      return death;
    }
    if (death.exit != Exit::failed) {
      return death;  // It has reported the error; another try cannot help.
    }
    const milliseconds pause(100 << (helper.deaths.size() - 1));
    helper.start_again_at = now + pause;
    helper.process.reset();
    say(helper.name + " ended unexpectedly (" + ending->describe() + "); it is started again");
  }
  if (now < helper.start_again_at) {
    return engine::Done{};
  }
  return launch(helper);
}

Outcome<engine::Done> PrivateCluster::look_after(const Say& say) {
  if (const auto fine = revive(daemon_, say); !fine) {
    return fine.failure();
  }
  if (worker_) {
    return revive(*worker_, say);
  }
  return engine::Done{};
}

void PrivateCluster::end(const Hurry& hurry) {
  const auto end_one = [&hurry](Helper& helper, seconds patience) {
    if (!helper.process) {
      return;
    }
    helper.process->signal(SIGTERM);
    auto deadline = steady_clock::now() + patience;
    bool hurried = false;
    while (!helper.process->wait(milliseconds(50))) {
      if (!hurried && hurry()) {
        hurried = true;
        helper.process->signal(SIGTERM);  // A second SIGTERM ends the programs' grace period.
        deadline = std::min(deadline, steady_clock::now() + patience_in_a_hurry);
      }
      if (steady_clock::now() > deadline) {
        helper.process->signal(SIGKILL);
        static_cast<void>(helper.process->wait(seconds(5)));
        break;
      }
    }
    helper.process.reset();
  };
  if (worker_) {
    end_one(*worker_, patience_with_worker);
  }
  end_one(daemon_, patience_with_daemon);
}

}  // namespace hpsearch::cli
