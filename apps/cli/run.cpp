#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "cli/changed_limits.hpp"
#include "cli/context_report.hpp"
#include "cli/context_upload.hpp"
#include "cli/event_line.hpp"
#include "cli/failure_hint.hpp"
#include "cli/file_report.hpp"
#include "cli/interrupts.hpp"
#include "cli/kept_files.hpp"
#include "cli/private_cluster.hpp"
#include "cli/program_files.hpp"
#include "cli/progress_view.hpp"
#include "cli/same_command.hpp"
#include "cli/search_places.hpp"
#include "cli/shapes.hpp"
#include "cli/start_check.hpp"
#include "cli/state_directory.hpp"
#include "cli/submission.hpp"
#include "cli/summary.hpp"
#include "cli/text.hpp"
#include "cli/tree_difference.hpp"
#include "cli/trial_pages.hpp"
#include "cli/verbs.hpp"
#include "cli/waiting_note.hpp"
#include "daemon/store/owner_record.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/experiment/experiment_state.hpp"
#include "hpsearch/places/file_system_kind.hpp"
#include "hpsearch/places/state_place.hpp"

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
constexpr std::size_t most_named_files = 3;
constexpr std::size_t most_sent_files = 100;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Time spent in the engine, over daemons that come and go: each counts its own from zero.
class EngineTime {
 public:
  void note(std::uint64_t daemon_epoch, double seconds) {
    if (daemon_epoch != epoch_) {
      before_ += latest_;
      epoch_ = daemon_epoch;
    }
    latest_ = seconds;
  }
  [[nodiscard]] double seconds() const noexcept { return before_ + latest_; }

 private:
  std::uint64_t epoch_ = 0;
  double before_ = 0;
  double latest_ = 0;
};

/// One `hpsearch run`, from the file to the summary.
class Run {
 public:
  Run(const RunOptions& options, const Output& output) : options_(options), output_(output), view_(output) {}

  int go() {
    ::signal(SIGPIPE, SIG_IGN);  // Whoever reads our output may leave; the search goes on.
    file_ = open_experiment_file(options_.file, {options_.seed, options_.name, options_.context_directory});
    if (!file_.problems.empty()) {
      return report_problems(file_, output_);
    }
    if (options_.context_directory) {
      const auto context = context_directory(options_.context_directory, options_.file);
      if (!context) {
        return output_.fail(context.failure());
      }
      context_ = *context;
    }
    if (const auto ready = take_state_directory(); !ready) {
      return file_.problems.empty() ? output_.fail(ready.failure()) : report_problems(file_, output_);
    }
    const Outcome<Exit> done = search();
    view_.clear();
    if (cluster_) {
      cluster_->end([this] { return interrupts_.count() > 1; });
    }
    if (!done && !file_.problems.empty()) {
      return report_problems(file_, output_);
    }
    if (!done) {
      Failure failure = done.failure();
      if (record_.experiment && failure.exit != Exit::conflict && failure.exit != Exit::usage) {
        failure.message += "\nall results so far are stored; once the problem is solved, continue with: " +
                           same_command(options_.command);
      }
      if (failure.exit == Exit::interrupted) {
        failure.message = "interrupted before the search started";
      }
      return output_.fail(failure);
    }
    if (*done == Exit::interrupted) {
      output_.message(std::string(paused_ ? "interrupted; the search is paused" : "interrupted") +
                      ". Continue with: " + same_command(options_.command));
    }
    return static_cast<int>(*done);
  }

 private:
  [[nodiscard]] const Client& client() const { return cluster_->client(); }
  [[nodiscard]] PrivateCluster::Say say() {
    return [this](const std::string& text) { view_.say(output_.json() ? text : "hpsearch: " + text, true); };
  }
  [[nodiscard]] PrivateCluster::Hurry hurry() const {
    return [this] { return interrupts_.count() > 0; };
  }

  // --- the state directory ---

  [[nodiscard]] Outcome<Done> open_state_directory() {
    if (const auto made = make_private_directory(state_.path()); !made) {
      return made.failure();
    }
    Outcome<FileLock> lock =
        FileLock::take(state_.lock_file(), "the state directory " + state_.path().string());
    if (!lock) {
      Failure failure = lock.failure();
      if (failure.exit == Exit::conflict) {
        failure.message += "; stop that process, or use another --state-dir";
      }
      return failure;
    }
    lock_.emplace(std::move(*lock));
    return Done{};
  }

  /// Before anything is made or moved there: whether its file system will do, and no other host has it.
  [[nodiscard]] Outcome<Done> look_at_place() {
    const daemon::OwnerFile owner(state_.daemon().string(), daemon::this_owner());
    if (const auto free = owner.check_free(); !free && !options_.take_over) {
      return conflict_failure(free.error().message);
    }
    const places::FileSystemKind on = places::file_system_at(state_.path().string());
    if (on.trust == places::Trust::local) {
      return Done{};
    }
    const auto known = load_run_record(state_);
    const bool allowed = options_.allow_network_filesystem ||
                         (!options_.fresh && known && *known && (*known)->allow_network_filesystem);
    const auto accepted = places::accept_place(
        state_.path().string(), on,
        allowed ? places::NetworkFileSystems::allowed : places::NetworkFileSystems::refused);
    if (!accepted) {
      return usage_failure(accepted.error().message);
    }
    if (const auto made = make_private_directory(state_.path()); !made) {
      return made.failure();
    }
    if (const auto passed = places::check_place(state_.path().string(), on); !passed) {
      return passed.error().code == engine::Errc::bad_request ? usage_failure(passed.error().message)
                                                              : plain_failure(passed.error().message);
    }
    if (!places::is_warned(state_.daemon().string(), on)) {
      say()(places::warning_of(state_.path().string(), on));
    }
    return Done{};
  }

  [[nodiscard]] Outcome<Done> take_state_directory() {
    std::error_code error;
    const auto place = options_.state_dir
                           ? Outcome<std::filesystem::path>(std::filesystem::path(*options_.state_dir))
                           : state_directory_of(file_.stem, file_path());
    if (!place) {
      return place.failure();
    }
    const std::filesystem::path absolute = std::filesystem::absolute(*place, error).lexically_normal();
    if (error) {
      return storage_failure("cannot find " + place->string(), error.value());
    }
    // "dir/" and "dir" are one directory; moving aside needs its name.
    state_ = StateDirectory(absolute.has_filename() ? absolute : absolute.parent_path());
    if (const auto accepted = look_at_place(); !accepted) {
      return accepted.failure();
    }
    if (const auto opened = open_state_directory(); !opened) {
      return opened.failure();
    }
    std::error_code ignored;
    if (options_.fresh && (std::filesystem::exists(state_.run_file(), ignored) || state_.has_store())) {
      if (const auto free = PrivateCluster::await_free(state_, say(), hurry()); !free) {
        return free.failure();
      }
      const auto moved = move_aside(state_);
      if (!moved) {
        return moved.failure();
      }
      output_.message("the earlier search is now in " + moved->string());
      lock_.reset();
      if (const auto opened = open_state_directory(); !opened) {
        return opened.failure();
      }
    }
    const auto known = load_run_record(state_);
    if (!known) {
      return known.failure();
    }
    if (*known) {
      report_notes(file_, output_);
      record_ = **known;
      resumes_ = true;
      record_.allow_network_filesystem |= options_.allow_network_filesystem;
      if (is_search_of(record_, file_path(), state_.path())) {
        record_.file = file_path().string();
        record_.state_directory = state_.path().string();
      }
      return save_run_record(state_, record_);  // From now on it is the one that was run last.
    }
    return begin_record();
  }

  /// As the record has it.
  [[nodiscard]] std::filesystem::path file_path() const {
    std::error_code ignored;
    return options_.file == "-" ? std::filesystem::path("-")
                                : std::filesystem::absolute(options_.file, ignored).lexically_normal();
  }

  /// A new search: everything that makes its submission repeatable, on disk before it is sent.
  [[nodiscard]] Outcome<Done> begin_record() {
    if (context_.empty()) {
      const auto context = context_directory(std::nullopt, options_.file);
      if (!context) {
        return context.failure();
      }
      context_ = *context;
    }
    check_start(file_, {context_, StartPlace::Machine::this_one, options_.slots});
    if (!file_.problems.empty()) {
      return usage_failure(file_.path + " has " + counted(file_.problems.size(), "problem"));
    }
    report_notes(file_, output_);
    const bool packed = needs_packed_context(file_.tree);
    const auto listing = look_at_program(context_, file_.tree);
    if (!listing && packed) {
      return listing.failure();
    }
    if (packed) {
      for (const std::string& line : context_report(*listing)) {
        view_.say(printable(line), true);
      }
    }
    record_ = RunRecord{};
    record_.file = file_path().string();
    record_.state_directory = state_.path().string();
    record_.context_directory = context_;
    record_.config = file_.original;
    if (listing) {
      auto program = program_files(context_, listing->files, file_.tree, file_path());
      if (!program) {
        return program.failure();
      }
      record_.program = *std::move(program);
      record_.program_at = seconds_now();
    }
    record_.seed = options_.seed;
    record_.name = options_.name;
    record_.idempotency_key = fresh_key();
    record_.allow_network_filesystem = options_.allow_network_filesystem;
    resumes_ = false;
    return save_run_record(state_, record_);
  }

  /// What makes the program of a context: what trials get of it or, where they run in it, the files that the
  /// entrypoint names.
  [[nodiscard]] Outcome<context::ContextListing> look_at_program(const std::string& directory,
                                                                 const Value& tree) const {
    return needs_packed_context(tree)
               ? look_at_context(directory, options_.context_limit)
               : Outcome<context::ContextListing>(named_by_entrypoint(directory, tree));
  }

  /// The program's files as they are now. They may be gone: what is packed does not need them.
  [[nodiscard]] std::optional<Value> program_now() const {
    const auto listing = look_at_program(record_.context_directory, file_.tree);
    if (!listing) {
      return std::nullopt;
    }
    const auto now = program_files(record_.context_directory, listing->files, file_.tree, file_path());
    return now ? std::optional(*now) : std::nullopt;
  }

  /// "train.py changed since 14:02".
  [[nodiscard]] std::string edited_text(const std::vector<std::string>& changed) const {
    std::string names;
    for (std::size_t i = 0; i < changed.size() && i < most_named_files; ++i) {
      names += (i == 0 ? "" : ", ") + printable(changed[i]);
    }
    if (changed.size() > most_named_files) {
      names += " and " + counted(changed.size() - most_named_files, "more file");
    }
    return names + " changed since " + clock_text(record_.program_at, seconds_now());
  }

  /// Hands over an edited program if the command has --with-new-program; a conflict otherwise. With
  /// `limits_change` an ended search may continue, so it needs the flag too.
  [[nodiscard]] Outcome<Done> match_program(bool limits_change) {
    const std::optional<Value> now = program_now();
    const std::vector<std::string> changed =
        now ? changed_files(record_.program, *now) : std::vector<std::string>();
    if (changed.empty()) {
      return Done{};
    }
    const std::string edited = edited_text(changed);
    const auto detail = client().get(experiment_target(*record_.experiment));
    if (!detail) {
      return detail.failure();
    }
    if (is_over(*detail) && !limits_change) {
      edited_ = edited;  // Nothing runs: it is only told.
      return Done{};
    }
    const bool packed = needs_packed_context(file_.tree);
    if (!options_.with_new_program) {
      return conflict_failure(
          edited + ", and nothing was started. Choose one:\n  " + with_new_program() +
          (packed ? "\n    trials that have not reported anything yet run the new program; the "
                    "others keep theirs"
                  : "\n    trials run in the directory itself: all that run from now on run "
                    "the new program") +
          "\n  " + afresh() + "\n    begins a new search");
    }
    const auto digest = hand_over_context();
    if (!digest) {
      return digest.failure();
    }
    Value::List names;
    for (std::size_t i = 0; i < changed.size() && i < most_sent_files; ++i) {
      names.push_back(changed[i]);
    }
    Value::Map program{{"changed", std::move(names)}};
    if (!digest->empty()) {
      program["context_digest"] = *digest;
    }
    const auto answer =
        client().post(experiment_target(*record_.experiment, "/program"), Value(std::move(program)));
    if (!answer) {
      return answer.failure();
    }
    view_.say(edited + (packed ? ": trials that have not reported anything yet run the new program"
                               : ": trials that run from now on run the new program"),
              true);
    record_.program = *now;
    record_.program_at = seconds_now();
    return save_run_record(state_, record_);
  }

  /// What the command asks for that the search in the directory was not begun with; "" when nothing.
  [[nodiscard]] std::string changes() const {
    std::vector<std::string> out = differences(record_.config, file_.original);
    std::error_code ignored;
    if (!is_search_of(record_, file_path(), state_.path()) &&
        (record_.file == "-" || options_.file == "-" || std::filesystem::exists(record_.file, ignored))) {
      out.push_back("the experiment file: " + record_.file + " -> " + file_path().string());
    }
    if (options_.seed && options_.seed != record_.seed) {
      out.push_back("--seed " + std::to_string(*options_.seed));
    }
    if (options_.name && options_.name != record_.name) {
      out.push_back("--name " + *options_.name);
    }
    if (!context_.empty() && context_ != record_.context_directory) {
      out.push_back("the context directory: " + record_.context_directory + " -> " + context_);
    }
    std::string text;
    for (const std::string& change : out) {
      text += (text.empty() ? "" : ", ") + change;
    }
    return text;
  }

  // --- the search ---

  [[nodiscard]] Outcome<Exit> search() {
    auto cluster = PrivateCluster::start(
        state_,
        {.network = record_.allow_network_filesystem ? places::NetworkFileSystems::allowed
                                                     : places::NetworkFileSystems::refused,
         .take_over = options_.take_over},
        say(), hurry());
    if (!cluster) {
      return cluster.failure();
    }
    cluster_.emplace(std::move(*cluster));
    if (resumes_) {
      if (const auto same = match_record(); !same) {
        return same.failure();
      }
    }
    if (!record_.experiment) {
      if (resumes_) {  // Nobody has taken it: its program is the one of now.
        if (const auto begun = begin_record(); !begun) {
          return begun.failure();
        }
      }
      const auto digest = hand_over_context();
      if (!digest) {
        return digest.failure();
      }
      const auto submitted = submit_experiment(client(), file_.tree, file_.stem, record_.context_directory,
                                               *digest, record_.idempotency_key);
      if (!submitted) {
        return submitted.failure();
      }
      record_.experiment = *submitted;
      if (const auto saved = save_run_record(state_, record_); !saved) {
        return saved.failure();
      }
    }
    auto detail = client().get(experiment_target(*record_.experiment));
    if (!detail) {
      return detail.failure();
    }
    detail_ = std::move(*detail);
    story_.emplace(text_at(detail_, "unit"), text_at(detail_, "metric"));
    const auto status = client().get("/api/v1/status");
    if (!status) {
      return status.failure();
    }
    kept_.emplace(state_, text_at(*status, "cluster"), *record_.experiment);
    kept_->link_trials();
    if (has_ended()) {
      return print_again();
    }
    std::error_code ignored;
    if (text_at(detail_, "context_digest").empty() &&
        !std::filesystem::is_directory(record_.context_directory, ignored)) {
      return usage_failure("the context directory " + record_.context_directory +
                           " is gone; the trials need it");
    }
    if (const auto going = go_on(); !going) {
      return going.failure();
    }
    return follow();
  }

  /// The digest of the context as it is now, which the daemon has then; "" when it is not packed.
  [[nodiscard]] Outcome<std::string> hand_over_context() const {
    if (!needs_packed_context(file_.tree)) {
      return std::string();
    }
    const auto listing = look_at_context(record_.context_directory, options_.context_limit);
    return listing ? upload_context(client(), record_.context_directory, listing->files)
                   : Outcome<std::string>(listing.failure());
  }

  /// A second run on the directory: is it the same search?
  [[nodiscard]] Outcome<Done> match_record() {
    if (!record_.experiment) {
      // The submission was never answered, but it may have been taken.
      const auto known = client().get("/api/v1/experiments");
      if (!known) {
        return known.failure();
      }
      if (const Value::List& experiments = list_at(*known, "experiments"); !experiments.empty()) {
        record_.experiment = count_at(experiments.front(), "id");
      }
    }
    const std::string changed = changes();
    const auto limits = changed.empty() ? std::nullopt : only_limits_changed();
    if (record_.experiment && (changed.empty() || limits)) {
      if (const auto same = match_program(limits.has_value()); !same) {
        return same.failure();
      }
    }
    if (changed.empty()) {
      file_ = open_experiment_file(options_.file, {record_.seed, record_.name});
      return Done{};
    }
    if (!record_.experiment) {
      return begin_record();
    }
    if (limits) {
      return change_limits(*limits, changed);
    }
    const auto detail = client().get(experiment_target(*record_.experiment));
    if (!detail) {
      return detail.failure();
    }
    return conflict_failure(
        "this command differs from the command that started the search in " + state_.path().string() + " (" +
        changed + "). That cannot change in a search that " +
        (is_over(*detail) ? "has ended (" + text_at(*detail, "state") + ")" : "exists") +
        ". Start a new one with: " + afresh() + "; or use another --state-dir" + best_so_far());
  }

  [[nodiscard]] std::string afresh() const { return same_command(options_.command) + " --fresh"; }
  [[nodiscard]] std::string with_new_program() const {
    return same_command(options_.command) + " --with-new-program";
  }

  /// What the file asks for otherwise than before, where that is nothing but limits that may change.
  [[nodiscard]] std::optional<Value> only_limits_changed() const {
    const bool same_command = (!options_.seed || options_.seed == record_.seed) &&
                              (!options_.name || options_.name == record_.name) &&
                              (context_.empty() || context_ == record_.context_directory) &&
                              is_search_of(record_, file_path(), state_.path());
    return same_command ? changed_limits(record_.config, file_.original) : std::nullopt;
  }

  [[nodiscard]] Outcome<Done> change_limits(const Value& limits, const std::string& changed) {
    const auto answer = client().patch(experiment_target(*record_.experiment), limits);
    if (!answer) {
      Failure failure = answer.failure();
      if (failure.exit == Exit::conflict) {
        failure.message += " (" + changed + "). Start a new search with: " + afresh() + best_so_far();
      }
      return failure;
    }
    view_.say("changed: " + changed, true);
    record_.config = file_.original;
    file_ = open_experiment_file(options_.file, {record_.seed, record_.name});
    return save_run_record(state_, record_);
  }

  /// What a new search can begin with; "" when nothing is known.
  [[nodiscard]] std::string best_so_far() const {
    const auto best = client().get(experiment_target(*record_.experiment, "/best"));
    if (!best || best->is_null()) {
      return "";
    }
    return ". To try the best configuration so far first, add to the searcher:\n  points_to_evaluate: [" +
           engine::compact_json(member(*best, "hparams")) + "]";
  }

  [[nodiscard]] static bool is_over(const Value& detail) {
    const auto state = engine::experiment_state_named(text_at(detail, "state"));
    return state && engine::is_ended(*state);
  }

  [[nodiscard]] bool has_ended() const { return is_over(detail_); }

  /// And nothing of it runs any more.
  [[nodiscard]] bool has_paused_itself() const {
    return text_at(detail_, "state") == "PAUSED" && !text_at(detail_, "reason").empty() &&
           count_at(member(detail_, "trials"), "RUNNING") == 0;
  }

  [[nodiscard]] Exit exit_of_ended() const {
    return text_at(detail_, "state") == "COMPLETED" ? Exit::ok : Exit::experiment_failed;
  }

  [[nodiscard]] Outcome<Exit> print_again() {
    if (const auto read = take_events(/*tell=*/false); !read) {
      return read.failure();
    }
    if (const auto told = print_summary(); !told) {
      return told.failure();
    }
    output_.message(
        (edited_.empty() ? "" : edited_ + ". ") +
        "this search has already ended; to continue it, give it more trials or a larger budget in " +
        options_.file + "; to start a new one: " + afresh());
    return exit_of_ended();
  }

  /// From a stored search to a running one.
  [[nodiscard]] Outcome<Done> go_on() {
    if (resumes_) {
      if (const auto read = take_events(/*tell=*/false); !read) {
        return read.failure();
      }
    }
    if (text_at(detail_, "state") == "PAUSED") {
      const auto resumed = client().post(experiment_target(*record_.experiment, "/resume"), Value::Map{});
      if (!resumed) {
        return resumed.failure();
      }
    }
    if (const auto started = cluster_->start_worker(options_.slots, say(), hurry()); !started) {
      return started.failure();
    }
    view_.say(std::string(resumes_ ? "continuing experiment " : "experiment ") +
                  std::to_string(*record_.experiment) + ", " + printable(text_at(detail_, "name")) + ", in " +
                  state_.path().string(),
              true);
    return Done{};
  }

  /// Takes in what happened since the last call. A daemon that does not answer is no failure here.
  [[nodiscard]] Outcome<Done> take_events(bool tell) {
    while (true) {
      const std::uint64_t before = last_lsn_;
      const auto page = client().get("/api/v1/events?after=" + std::to_string(before) +
                                     "&limit=" + std::to_string(events_per_page) +
                                     "&experiment=" + std::to_string(*record_.experiment));
      if (!page) {
        return page.failure();
      }
      for (const Value& event : list_at(*page, "events")) {
        const auto line = event_line(*story_, event);
        if (tell && !line.text.empty()) {
          view_.say(line.trouble ? output_.paint(Output::Color::yellow, line.text) : line.text, line.trouble);
        }
        if (tell && line.trouble) {
          print_first_failure(event);
        }
        if (tell) {
          print_hint(text_at(member(event, "report"), "log_tail"));
        }
      }
      // A page without events is not the last one: a daemon looks at only so many of others at a time.
      last_lsn_ = std::max(before, count_at(*page, "last_lsn"));
      if (last_lsn_ == before) {
        return Done{};
      }
    }
  }

  /// The last lines that the program printed when one of its attempts failed, of the first one only.
  void print_first_failure(const Value& event) {
    const Value& report = member(event, "report");
    const std::string tail = text_at(report.is_null() ? member(event, "exit") : report, "log_tail");
    if (tail.empty() || std::exchange(failure_told_, true)) {
      return;
    }
    view_.say(quoted_lines(last_lines(tail, 12)), /*important=*/true);
  }

  [[nodiscard]] Outcome<Done> look() {
    auto detail = client().get(experiment_target(*record_.experiment));
    if (!detail) {
      return detail.failure();
    }
    detail_ = std::move(*detail);
    const auto status = client().get("/api/v1/status");
    if (!status) {
      return status.failure();
    }
    engine_time_.note(count_at(*status, "daemon_epoch"), number_at(*status, "engine_seconds"));
    print_storage(text_at(member(*status, "storage"), "why"));
    print_notes();
    if (const auto why = waiting_.heard(text_at(detail_, "waits_for"), steady_clock::now())) {
      view_.say(output_.paint(Output::Color::yellow, *why), /*important=*/true);
    }
    const auto workers = client().get_list("/api/v1/workers", "workers");
    if (!workers) {
      return workers.failure();
    }
    std::uint64_t slots = 0;
    for (const Value& worker : list_at(*workers, "workers")) {
      slots += member(worker, "present") == Value(true) ? count_at(worker, "slots") : 0;
    }
    record_.slots = std::max(record_.slots, slots);
    if (const std::uint64_t wanted = file_.config ? file_.config->resources.slots_per_trial : 0;
        slots > 0 && wanted > slots) {
      return usage_failure("resources.slots_per_trial is " + std::to_string(wanted) +
                           ", and no worker has more than " + counted(slots, "slot") +
                           ": this machine is the only worker. Change it, then run: " +
                           same_command(options_.command) + " --fresh");
    }
    return Done{};
  }

  /// What is odd about the programs' reports, each kind once.
  void print_notes() {
    for (const Value& note : list_at(detail_, "notes")) {
      if (notes_told_.insert(text_at(note, "about")).second) {
        view_.say(
            output_.paint(Output::Color::yellow, "note: trial " + std::to_string(count_at(note, "trial")) +
                                                     ": " + printable(text_at(note, "text"))),
            /*important=*/true);
      }
    }
  }

  /// What is known here of a failure, each kind once.
  void print_hint(const std::string& log_tail) {
    if (log_tail.empty() || !file_.program) {
      return;
    }
    const std::string hint = failure_hint(log_tail, *file_.program, record_.context_directory);
    if (!hint.empty() && hints_told_.insert(hint).second) {
      view_.say(output_.paint(Output::Color::yellow, "hint: " + printable(hint)), /*important=*/true);
    }
  }

  /// Says why the daemon takes less than everything, once; nothing when it takes all of it again.
  void print_storage(const std::string& why) {
    if (why != storage_told_ && !why.empty()) {
      view_.say(output_.paint(Output::Color::yellow, printable(why)), /*important=*/true);
    }
    storage_told_ = why;
  }

  [[nodiscard]] Outcome<Exit> follow() {
    auto last_answer = steady_clock::now();
    auto next_view = last_answer;
    while (true) {
      if (const auto fine = cluster_->look_after(say()); !fine) {
        keep_times();
        return fine.failure();
      }
      Outcome<Done> heard = take_events(/*tell=*/true);
      if (heard && (steady_clock::now() >= next_view || story_->ended())) {
        next_view = steady_clock::now() + between_views;
        heard = look();
        if (heard && !story_->ended()) {
          view_.show(detail_);
        }
      }
      const auto now = steady_clock::now();
      if (heard) {
        last_answer = now;
      } else if (heard.failure().exit == Exit::storage) {
        last_answer = now;  // It answers, and goes on by itself once there is room.
        print_storage(heard.failure().message);
      } else if (heard.failure().exit != Exit::unreachable) {
        keep_times();
        return heard.failure();
      } else if (now - last_answer > patience_with_silence) {
        keep_times();
        return plain_failure("hpsearchd runs but has not answered for " +
                             duration_text(static_cast<double>(patience_with_silence.count())) +
                             "; its log is " + state_.daemon_log().string());
      }
      if (heard && story_->ended() && has_ended()) {
        view_.clear();
        if (const auto told = print_summary(); !told) {
          return told.failure();
        }
        keep_times();
        return exit_of_ended();
      }
      if (heard && !pause_asked_ && has_paused_itself()) {
        view_.clear();
        if (const auto told = print_summary(); !told) {
          return told.failure();
        }
        keep_times();
        return Exit::experiment_failed;
      }
      if (interrupts_.count() > 0 && pause_is_over()) {
        keep_times();
        if (output_.json()) {
          static_cast<void>(print_summary());
        }
        return Exit::interrupted;
      }
      nap(tick);
    }
  }

  /// After a first Ctrl-C: asks for the pause once it can, and says when nothing runs any more.
  [[nodiscard]] bool pause_is_over() {
    if (interrupts_.count() > 1) {
      return true;
    }
    if (!pause_asked_) {
      view_.say(
          "pausing: running trials continue to their next report and checkpoint (Ctrl-C again ends them at "
          "once)",
          true);
      pause_asked_ = true;
    }
    if (!paused_) {
      const auto answer = client().post(experiment_target(*record_.experiment, "/pause"), Value::Map{});
      paused_ = static_cast<bool>(answer);
      return false;  // A look that is newer than the pause decides.
    }
    return look() && count_at(member(detail_, "trials"), "RUNNING") == 0 && !has_ended();
  }

  // --- the end ---

  [[nodiscard]] double wall_seconds() const {
    return std::chrono::duration<double>(steady_clock::now() - begin_).count();
  }

  /// Adds this run's times to the record; they are worth having, not worth failing for.
  void keep_times() {
    record_.wall_seconds += wall_seconds();
    record_.engine_seconds += engine_time_.seconds();
    begin_ = steady_clock::now();
    engine_time_ = EngineTime();
    static_cast<void>(save_run_record(state_, record_));
  }

  [[nodiscard]] Outcome<Done> print_summary() {
    SummaryInput input;
    input.detail = detail_;
    const auto told =
        each_trial([this](const std::string& target) { return client().get(target); }, *record_.experiment,
                   {}, [&input](const Value& trial) { input.take(trial); });
    if (!told) {
      return told.failure();
    }
    input.slots = record_.slots;
    input.idle_seconds = story_->idle_seconds();
    // A search that ended in an earlier run took what it took then.
    const bool earlier = engine_time_.seconds() == 0 && record_.wall_seconds > 0;
    input.wall_seconds = record_.wall_seconds + (earlier ? 0 : wall_seconds());
    input.engine_seconds = record_.engine_seconds + engine_time_.seconds();
    input.go_on = same_command(options_.command);
    input.logs = "hpsearch logs --stderr --state-dir " + state_.path().string();
    input.kept = kept_->trials();
    input.kept_at = (state_.path() / "trials").string();
    const Summary summary = summarize(input);
    if (output_.json()) {
      output_.data(to_value(summary));
    } else {
      output_.print("\n" + to_text(summary, output_));
    }
    return Done{};
  }

  const RunOptions& options_;
  const Output& output_;
  Interrupts interrupts_;
  ProgressView view_;
  steady_clock::time_point begin_ = steady_clock::now();
  ExperimentFile file_;
  std::string context_;  // As the command gives it; "" = not given, until a new search needs one.
  StateDirectory state_{""};
  std::optional<FileLock> lock_;
  RunRecord record_;
  bool resumes_ = false;
  std::string edited_;  // "train.py changed since 14:02", of a search that has ended.
  std::optional<PrivateCluster> cluster_;
  Value detail_;
  std::optional<sentences::EventStory> story_;
  std::optional<KeptFiles> kept_;
  std::uint64_t last_lsn_ = 0;
  std::set<std::string> notes_told_;  // Kinds.
  std::set<std::string> hints_told_;
  std::string storage_told_;  // Why the daemon takes less than everything.
  WaitingNote waiting_;
  bool failure_told_ = false;
  EngineTime engine_time_;
  bool pause_asked_ = false;
  bool paused_ = false;
};

}  // namespace

int run(const RunOptions& options, const Output& output) {
  return Run(options, output).go();
}

}  // namespace hpsearch::cli
