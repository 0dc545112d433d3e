#include "cli/run/run_watch.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "cli/client/answers.hpp"
#include "cli/client/trial_pages.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/text.hpp"
#include "cli/results/summary.hpp"
#include "cli/run/run_queue.hpp"
#include "cli/run/same_command.hpp"
#include "cli/verbs/failure_hint.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/api/daemon.hpp"
#include "hpsearch/proto/api/trials.hpp"
#include "hpsearch/proto/api/workers.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::cli {
namespace {

using engine::Done;
using engine::Value;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds tick{200};
constexpr milliseconds between_views{600};
constexpr std::chrono::seconds patience_with_silence{60};
constexpr std::uint64_t events_per_page = 1000;

}  // namespace

void EngineTime::note(std::uint64_t daemon_epoch, double seconds) {
  if (daemon_epoch != epoch_) {
    before_ += latest_;
    epoch_ = daemon_epoch;
  }
  latest_ = seconds;
}

RunWatch::RunWatch(RunSession& run, api::Experiment detail, const std::string& cluster)
    : run_(run),
      detail_(std::move(detail)),
      story_(detail_.unit, detail_.metric),
      kept_(run.state, cluster, *run.record.experiment) {
}

Outcome<RunWatch> RunWatch::begin(RunSession& run) {
  auto detail = read_as<api::Experiment>(run.client().get(experiment_target(*run.record.experiment)));
  if (!detail) {
    return detail.failure();
  }
  const auto status = read_as<api::Status>(run.client().get("/api/v1/status"));
  if (!status) {
    return status.failure();
  }
  RunWatch watch(run, *std::move(detail), status->cluster);
  if (!run.options.on_slurm) {  // Else the daemon keeps the files.
    watch.kept_.link_trials();
  }
  return watch;
}

Outcome<Done> RunWatch::take_events(bool print) {
  while (true) {
    const std::uint64_t before = last_lsn_;
    const auto page = run_.client().get("/api/v1/events?after=" + std::to_string(before) +
                                        "&limit=" + std::to_string(events_per_page) +
                                        "&experiment=" + std::to_string(*run_.record.experiment));
    if (!page) {
      return page.failure();
    }
    for (const Value& event : list_at(*page, "events")) {
      take_event(event, print);
    }
    // A page can be empty and others follow: a daemon reads a limited number of events for each.
    last_lsn_ = std::max(before, count_at(*page, "last_lsn"));
    if (last_lsn_ == before) {
      return Done{};
    }
  }
}

void RunWatch::take_event(const Value& event, bool print) {
  const auto line = event_line(story_, event);
  if (!print) {
    return;
  }
  if (!line.text.empty()) {
    run_.view.say(line.trouble ? run_.output.paint(Output::Color::yellow, line.text) : line.text,
                  line.trouble);
  }
  if (line.trouble) {
    print_first_failure(event);
  }
  print_hint(text_at(member(event, "report"), "log_tail"));
}

void RunWatch::print_first_failure(const Value& event) {
  const Value& report = member(event, "report");
  const std::string tail = text_at(report.is_null() ? member(event, "exit") : report, "log_tail");
  if (tail.empty() || std::exchange(printed_failure_, true)) {
    return;
  }
  run_.view.say(quoted_lines(last_lines(tail, 12)), /*important=*/true);
}

Outcome<Done> RunWatch::look() {
  auto detail = read_as<api::Experiment>(run_.client().get(experiment_target(*run_.record.experiment)));
  if (!detail) {
    return detail.failure();
  }
  detail_ = std::move(*detail);
  const auto status = read_as<api::Status>(run_.client().get("/api/v1/status"));
  if (!status) {
    return status.failure();
  }
  engine_time_.note(status->daemon_epoch, status->engine_seconds);
  print_storage(status->storage.why);
  full_disk_.note(status->storage.state == "full", steady_clock::now());
  print_notes();
  const auto queue = run_.options.on_slurm ? look_at_queue(run_) : Outcome<std::string>(std::string());
  if (!queue) {
    return queue.failure();
  }
  const std::string waits = detail_.waits_for.value_or("");
  if (const auto why =
          waiting_.heard(waits.empty() || queue->empty() ? waits : *queue, steady_clock::now())) {
    run_.view.say(run_.output.paint(Output::Color::yellow, *why), /*important=*/true);
  }
  const auto workers = every_entry(run_.client(), "/api/v1/workers", &api::WorkerPage::workers);
  if (!workers) {
    return workers.failure();
  }
  std::uint64_t slots = 0;
  for (const api::Worker& worker : *workers) {
    slots += worker.present ? worker.slots : 0;
  }
  run_.record.slots = std::max(run_.record.slots, slots);
  if (const std::uint64_t wanted = run_.file.config ? run_.file.config->resources.slots_per_trial : 0;
      !run_.options.on_slurm && slots > 0 && wanted > slots) {
    return usage_failure("resources.slots_per_trial is " + std::to_string(wanted) +
                         ", and no worker has more than " + counted(slots, "slot") +
                         ": this machine is the only worker. Change it, then run: " + run_.afresh());
  }
  return Done{};
}

void RunWatch::print_notes() {
  for (const api::Note& note : detail_.notes) {
    if (printed_notes_.insert(note.about).second) {
      run_.view.say(
          run_.output.paint(Output::Color::yellow, "note: trial " + std::to_string(note.trial.number()) +
                                                       ": " + printable(note.text)),
          /*important=*/true);
    }
  }
}

void RunWatch::print_hint(const std::string& log_tail) {
  if (log_tail.empty() || !run_.file.program) {
    return;
  }
  const std::string hint = failure_hint(log_tail, *run_.file.program, run_.record.context_directory);
  if (!hint.empty() && printed_hints_.insert(hint).second) {
    run_.view.say(run_.output.paint(Output::Color::yellow, "hint: " + printable(hint)), /*important=*/true);
  }
}

void RunWatch::print_storage(const std::string& why) {
  if (why != printed_storage_ && !why.empty()) {
    run_.view.say(run_.output.paint(Output::Color::yellow, printable(why)), /*important=*/true);
  }
  printed_storage_ = why;
}

std::uint64_t RunWatch::running_trials() const {
  const auto found = detail_.trials.find(std::string(engine::name_of(engine::TrialState::running)));
  return found == detail_.trials.end() ? 0 : found->second;
}

bool RunWatch::has_paused_itself() const {
  return detail_.state == engine::ExperimentState::paused && !detail_.reason.empty() && running_trials() == 0;
}

Outcome<Exit> RunWatch::follow() {
  auto last_answer = steady_clock::now();
  auto next_view = last_answer;
  LiveStream events(run_.client(), "/api/v1/events?experiment=" + std::to_string(*run_.record.experiment) +
                                       "&after=" + std::to_string(last_lsn_));
  while (true) {
    if (const auto fine = run_.cluster->look_after(run_.say()); !fine) {
      keep_times();
      return fine.failure();
    }
    Outcome<Done> heard = Done{};
    if (const auto messages = events.next(tick); !messages) {
      heard = messages.failure();
    } else {
      for (const net::StreamMessage& message : *messages) {
        const auto event = proto::parse_json(message.data);
        if (const auto lsn = std::strtoull(message.id.c_str(), nullptr, 10); lsn > last_lsn_ && event) {
          last_lsn_ = lsn;
          take_event(*event, /*print=*/true);
        }
      }
    }
    if (heard && (steady_clock::now() >= next_view || story_.ended())) {
      next_view = steady_clock::now() + between_views;
      heard = look();
      if (heard && !story_.ended()) {
        run_.view.show(detail_);
      }
    }
    const auto now = steady_clock::now();
    if (heard) {
      last_answer = now;
    } else if (heard.failure().exit == Exit::storage) {
      last_answer = now;  // It answers, and continues once there is room.
      full_disk_.note(true, now);
      print_storage(heard.failure().message);
    } else if (heard.failure().exit != Exit::unreachable) {
      keep_times();
      return heard.failure();
    } else if (now - last_answer > patience_with_silence) {
      keep_times();
      return plain_failure("hpsearchd runs but has not answered for " +
                           duration_text(static_cast<double>(patience_with_silence.count())) +
                           "; its log is " + run_.state.daemon_log().string());
    }
    if (heard && story_.ended() && engine::is_ended(detail_.state)) {
      run_.view.clear();
      if (const auto printed = print_summary(); !printed) {
        return printed.failure();
      }
      keep_times();
      return exit_of_ended();
    }
    if (heard && !pause_asked_ && has_paused_itself()) {
      heard = take_events(/*print=*/true);  // Events that the stream has not sent yet.
      if (!heard) {
        continue;
      }
      run_.view.clear();
      if (const auto printed = print_summary(); !printed) {
        return printed.failure();
      }
      keep_times();
      return Exit::experiment_failed;
    }
    if (run_.interrupts.count() > 0 && pause_is_over()) {
      keep_times();
      if (run_.output.json()) {
        static_cast<void>(print_summary());
      }
      if (full_disk_.is_over(steady_clock::now())) {
        print_unstored();
        return Exit::storage;
      }
      return Exit::interrupted;
    }
  }
}

bool RunWatch::pause_is_over() {
  if (run_.interrupts.count() > 1) {
    return true;
  }
  if (!pause_asked_) {
    run_.view.say(
        "pausing: running trials continue to their next report and checkpoint (Ctrl-C again ends them at "
        "once)",
        true);
    pause_asked_ = true;
  }
  full_disk_.note_interrupt(steady_clock::now());
  if (full_disk_.is_over(steady_clock::now())) {
    return true;
  }
  if (!paused_) {
    const auto answer =
        run_.client().post(experiment_target(*run_.record.experiment, "/pause"), Value::Map{});
    paused_ = static_cast<bool>(answer);
    full_disk_.note(!answer && answer.failure().exit == Exit::storage, steady_clock::now());
    return false;  // A state that is newer than the pause decides.
  }
  return look() && running_trials() == 0 && !engine::is_ended(detail_.state);
}

void RunWatch::print_unstored() {
  run_.view.clear();
  run_.output.message("hpsearch: the disk of " + run_.state.path().string() +
                      " is full. Not stored: " + (paused_ ? "" : "the pause, ") + "reports and ends of " +
                      counted(running_trials(), "running trial") +
                      " since then. Their programs are ended now; they continue from their last checkpoints. "
                      "Free some space, "
                      "then run: " +
                      same_command(run_.options.command));
}

Exit RunWatch::exit_of_ended() const {
  return detail_.state == engine::ExperimentState::completed ? Exit::ok : Exit::experiment_failed;
}

double RunWatch::wall_seconds() const {
  return std::chrono::duration<double>(steady_clock::now() - begin_).count();
}

void RunWatch::keep_times() {
  run_.record.wall_seconds += wall_seconds();
  run_.record.engine_seconds += engine_time_.seconds();
  begin_ = steady_clock::now();
  engine_time_ = EngineTime();
  static_cast<void>(save_run_record(run_.state, run_.record));
}

Outcome<Done> RunWatch::print_summary() {
  SummaryInput input;
  input.detail = detail_;
  std::optional<Failure> unread;
  const auto read = each_trial([this](const std::string& target) { return run_.client().get(target); },
                               *run_.record.experiment, {},
                               [&](const Value& one) {
                                 auto trial = read_as<api::Trial>(one);
                                 if (trial) {
                                   input.take(*std::move(trial));
                                 } else {
                                   unread = trial.failure();
                                 }
                               });
  if (!read || unread) {
    return unread ? *unread : read.failure();
  }
  input.slots = run_.record.slots;
  input.idle_seconds = story_.idle_seconds();
  // A search that ended in an earlier run needed no more time.
  const bool earlier = engine_time_.seconds() == 0 && run_.record.wall_seconds > 0;
  input.wall_seconds = run_.record.wall_seconds + (earlier ? 0 : wall_seconds());
  input.engine_seconds = run_.record.engine_seconds + engine_time_.seconds();
  input.go_on = same_command(run_.options.command);
  input.logs = "hpsearch logs --stderr --state-dir " + run_.state.path().string();
  input.kept = kept_.trials();
  input.kept_at = (run_.state.path() / "trials").string();
  const Summary summary = summarize(input);
  if (run_.output.json()) {
    run_.output.data(to_value(summary));
  } else {
    run_.output.sentences("\n" + to_text(summary, run_.output));
  }
  return Done{};
}

}  // namespace hpsearch::cli
