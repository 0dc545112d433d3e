#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/blobs/log_places.hpp"
#include "daemon/process/daemon_process.hpp"
#include "daemon/store/files/blob_place.hpp"
#include "hpsearch/engine/experiment/experiment_state.hpp"
#include "hpsearch/io/files/replace_file.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Status;

constexpr std::chrono::minutes unused_contexts_looked_for_every{5};

}  // namespace

Status DaemonProcess::open_kept_files() {
  const auto blobs = prepare_blobs(options_.blobs, directory_->path(), runtime_->cluster());
  if (!blobs) {
    return blobs.error();
  }
  context_writer_.emplace(loop_, 1);
  contexts_.emplace(loop_, kernel_files(), *blobs + "/contexts", options_.context_limit,
                    [this](net::Background::Task task) { context_writer_->run(std::move(task)); });
  contexts_->keep_only(contexts_of_experiments());
  context_clock_ = loop_.every(unused_contexts_looked_for_every,
                               [this] { contexts_->keep_only(contexts_of_experiments()); });
  const auto ended_at = [this](engine::ExperimentId experiment) {
    const engine::ExperimentRecord* record = runtime_->engine().find(experiment);
    // An experiment that is not in this store has no other record.
    return record == nullptr                 ? std::optional(engine::Instant{})
           : engine::is_ended(record->state) ? std::optional(record->ended_at)
                                             : std::nullopt;
  };
  kept_.emplace(loop_, *blobs + "/kept", kept_limits(), ended_at);
  kept_->on_logs_removed([this](const std::vector<Retention::Trial>& trials) {
    if (retention_) {
      retention_->note_removed_logs(trials);
    }
  });
  return Done{};
}

KeptStore::Limits DaemonProcess::kept_limits() const {
  return {options_.kept_quota, !options_.no_kept_files, options_.keep_logs};
}

RetentionRules DaemonProcess::retention_rules() const {
  // Milliseconds, as events have them.
  return {.ended_experiments =
              engine::Duration::millis(static_cast<std::int64_t>(options_.keep_experiments_seconds * 1e3)),
          .most_reports = options_.stopped_curve_reports};
}

std::set<std::string> DaemonProcess::contexts_of_experiments() const {
  std::set<std::string> digests;
  for (const auto& [id, record] : runtime_->engine().experiments()) {
    digests.insert(record.context_digest);
    for (const engine::ProgramChange& program : record.programs) {
      digests.insert(program.context_digest);
    }
  }
  return digests;
}

void DaemonProcess::note_log_problem(engine::WorkerId worker, const proto::LogNotKept& message) {
  if (!kept_ || runtime_->stalled()) {
    return;
  }
  runtime_->read([this, worker, message,
                  numbering = runtime_->engine().numbering()](EventStore& store) -> Committer::Then {
    const bool ran_there = place_of(store, numbering, message.key, worker).has_value();
    return [this, worker, message, ran_there] {
      if (ran_there) {
        kept_->note_log_problem(message.key, worker, message.why);
      }
    };
  });
}

}  // namespace hpsearch::daemon
