#include "hpsearch/workers/shell/transfer/log_delivery.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "hpsearch/io/archive/log_files.hpp"
#include "hpsearch/proto/wire/utilization.hpp"

namespace hpsearch::workers {

using engine::AttemptKey;
using engine::Errc;
using engine::Result;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds next_try_after = 1s;
constexpr std::uint64_t most_processes = 1024;

/// Until the time is over.
class Patience {
 public:
  Patience(std::chrono::milliseconds within, const std::stop_token& stop)
      : end_(steady_clock::now() + within), stop_(stop) {}

  [[nodiscard]] std::chrono::milliseconds left() const {
    return stop_.stop_requested()
               ? 0ms
               : std::chrono::duration_cast<std::chrono::milliseconds>(end_ - steady_clock::now());
  }
  void wait(std::chrono::milliseconds time) const {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    stopped.wait_for(lock, stop_, time, [] { return false; });
  }

 private:
  steady_clock::time_point end_;
  const std::stop_token& stop_;
};

std::string target_of(const AttemptKey& key, std::string_view stream, std::uint64_t process) {
  return "/api/v1/logs/" + std::to_string(key.experiment.number()) + "/" +
         std::to_string(key.trial.number()) + "/" + std::to_string(key.attempt.number()) +
         "?lease=" + std::to_string(key.lease.number()) + "&process=" + std::to_string(process) +
         "&stream=" + std::string(stream);
}

std::string send(const DaemonAccess& daemon, const std::string& target, const std::string& packed,
                 const Patience& patience) {
  std::string problem = "there was no time to send it";
  while (patience.left() > 0ms) {
    const auto answer = ask(daemon, {.method = "PUT",
                                     .target = target,
                                     .body = packed,
                                     .type = "application/zstd",
                                     .patience = patience.left()});
    if (answer && answer->status < 300) {
      return "";
    }
    problem = answer ? problem_in(*answer) : answer.error().message;
    if (answer && !may_help_later(*answer)) {
      break;
    }
    patience.wait(std::min(next_try_after, std::max<std::chrono::milliseconds>(patience.left(), 0ms)));
  }
  return problem;
}

}  // namespace

std::string deliver_log(const AttemptDirectory& directory, const AttemptKey& key, const DaemonAccess& daemon,
                        std::chrono::milliseconds within, const std::stop_token& stop) {
  if (daemon.address.empty()) {
    return "the daemon has announced no HTTP address";
  }
  const Result<files::Directory> root = directory.opened();
  if (!root) {
    return root.error().code == Errc::not_found ? "" : root.error().message;
  }
  const Patience patience(within, stop);
  // Why it isn't delivered, or ""; nothing: there is no such stream.
  const auto deliver = [&](std::string_view stream, std::uint64_t process) -> std::optional<std::string> {
    const Result<logs::LogReader> log =
        logs::LogReader::open(*root, directory.log(stream, process).filename());
    if (!log) {
      return std::nullopt;
    }
    if (stream != "stdout" && log->size() == 0) {
      return "";
    }
    const Result<std::string> packed =
        logs::pack(logs::bytes_to_keep(log->size(), log->front(), log->back()),
                   [&log](std::uint64_t offset, std::uint64_t limit) { return log->read(offset, limit); });
    return packed ? send(daemon, target_of(key, stream, process), *packed, patience) : packed.error().message;
  };
  for (std::uint64_t process = 0; process < most_processes; ++process) {
    bool some = false;
    for (const std::string_view stream : {"stdout", "stderr"}) {
      const std::optional<std::string> problem = deliver(stream, process);
      some = some || problem;
      if (!problem.value_or("").empty()) {
        return *problem;
      }
    }
    if (!some) {
      break;
    }
  }
  // The log is whole without it.
  static_cast<void>(deliver(proto::utilization_stream, 0));
  return "";
}

}  // namespace hpsearch::workers
