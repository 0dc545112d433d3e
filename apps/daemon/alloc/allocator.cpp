#include "daemon/alloc/allocator.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>
#include <variant>

#include "hpsearch/io/files/random_bytes.hpp"
#include "hpsearch/io/files/replace_file.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/io/zmq/invite_token.hpp"

namespace hpsearch::daemon {
namespace {

namespace fs = std::filesystem;
using engine::AllocationEnd;
using engine::AllocationName;
using engine::AllocationRecord;
using engine::Done;
using engine::Duration;
using engine::Errc;
using engine::Error;
using engine::Instant;
using engine::QueueSettings;
using engine::Status;

constexpr std::chrono::seconds plan_every{1};
constexpr std::chrono::seconds command_limit{30};
constexpr Duration look_soon = Duration::seconds(3);    ///< After something was submitted or canceled.
constexpr Duration look_often = Duration::seconds(10);  ///< While jobs wait or run.
constexpr Duration cancel_again = Duration::seconds(30);
constexpr Duration sure_absence = Duration::seconds(30);
constexpr unsigned looks_until_sure = 2;
constexpr unsigned looks_until_hopeless = 3;
constexpr std::size_t most_submissions_a_minute = 10;
constexpr std::size_t key_bytes = 16;
constexpr std::size_t most_invite_bytes = 4'096;

Status written(const std::string& path, const std::string& text, files::Readers readers) {
  const auto failure = files::replace_file(path, text, files::Durability::of_the_process, readers);
  return failure ? Status(failure->as_error()) : Status(Done{});
}

bool is_there(const std::string& path) {
  std::error_code unknown;
  return fs::exists(path, unknown);
}

/// The last `most` bytes of a file.
std::string tail_of(const fs::path& path, std::size_t most) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : 0;
  const std::streamoff wanted = std::min<std::streamoff>(size, static_cast<std::streamoff>(most));
  std::string text(static_cast<std::size_t>(wanted), '\0');
  file.seekg(size - wanted);
  file.read(text.data(), wanted);
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  return text;
}

/// The last line that is not one of srun's own, if there is such a line: those only repeat that something
/// failed.
std::string last_line(std::string_view text) {
  std::string_view last;
  while (!text.empty()) {
    const std::size_t begin = text.rfind('\n', text.size() - 1);
    const std::string_view line = begin == std::string_view::npos ? text : text.substr(begin + 1);
    text.remove_suffix(begin == std::string_view::npos ? text.size() : line.size() + 1);
    const bool is_empty = line.find_first_not_of(" \t\r") == std::string_view::npos;
    last = last.empty() && !is_empty ? line : last;
    if (!is_empty && !line.starts_with("srun: ") && !line.starts_with("slurmstepd: ")) {
      last = line;
      break;
    }
  }
  return std::string(last.substr(0, 500));
}

}  // namespace

Allocator::Allocator(Runtime& runtime, net::Loop& loop, Settings settings)
    : runtime_(runtime),
      settings_(std::move(settings)),
      events_(runtime.watch_events([this](const engine::Event& event) {
        if (const auto* ended = std::get_if<engine::AllocationEnded>(&event.body)) {
          watched_.erase(ended->name);
          runtime_.when_durable([this] { clean_up(); });
        } else if (std::holds_alternative<engine::QueueRemoved>(event.body)) {
          runtime_.when_durable([this] { clean_up(); });
        }
      })),
      clock_(loop.every(plan_every, [this] { tick(); })),
      commands_(loop, 1) {
  if (!settings_.run) {
    settings_.run = [](const std::vector<std::string>& words) {
      return net::run_command(words, command_limit);
    };
  }
  clean_up();
}

std::string Allocator::directory_of(const AllocationName& name) const {
  return settings_.directory + "/" + engine::text_of(name);
}

slurm::Place Allocator::place_of(const AllocationName& name) const {
  return {directory_of(name), settings_.worker, settings_.daemon, settings_.invites != nullptr};
}

std::vector<AllocationRecord> Allocator::live() const {
  std::vector<AllocationRecord> live;
  for (const auto& [name, queue] : runtime_.engine().queues()) {
    for (const auto& [number, allocation] : queue.allocations) {
      if (engine::is_live(allocation)) {
        live.push_back(allocation);
      }
    }
  }
  return live;
}

/// Takes back the invites of allocations that have ended, and removes the directories of those that the
/// engine does not know any more.
void Allocator::clean_up() {
  std::error_code unknown;
  for (const fs::directory_entry& queue : fs::directory_iterator(settings_.directory, unknown)) {
    if (queue.path().filename().string().starts_with('.')) {
      continue;  // A check is under way there.
    }
    for (const fs::directory_entry& one : fs::directory_iterator(queue.path(), unknown)) {
      const auto name =
          engine::allocation_named(queue.path().filename().string() + "/" + one.path().filename().string());
      const AllocationRecord* known = name ? runtime_.engine().find(*name) : nullptr;
      if (known != nullptr && engine::is_live(*known)) {
        continue;
      }
      withdraw_invite(one.path().string());
      if (known == nullptr) {
        fs::remove_all(one.path(), unknown);
      }
    }
    fs::remove(queue.path(), unknown);  // If it is empty.
  }
}

void Allocator::tick() {
  if (!runtime_.engine().plans_allocations() || runtime_.stalled()) {
    return;
  }
  const Instant now = runtime_.now();
  while (!submissions_.empty() && now - submissions_.front() > Duration::seconds(60)) {
    submissions_.pop_front();
  }
  const bool may_submit = submissions_.size() < most_submissions_a_minute && !settings_.daemon.empty();
  static_cast<void>(
      runtime_.perform(engine::PlanAllocations{may_submit ? files::random_hex(key_bytes) : std::string()}));
  bool any = false;
  for (const AllocationRecord& allocation : live()) {
    any = true;
    const Watched& watched = watched_[allocation.name];
    if (!allocation.canceling.empty() && now - watched.canceled_at > cancel_again) {
      withdraw(allocation);
    }
  }
  if ((any || !has_looked_) && now >= next_look_) {
    has_looked_ = true;
    look();
  }
}

void Allocator::run(std::vector<std::string> words, std::function<void(const net::CommandAnswer&)> then) {
  commands_.run([runner = settings_.run, words = std::move(words), then = std::move(then)] {
    net::CommandAnswer answer = runner(words);
    return [answer = std::move(answer), then] { then(answer); };
  });
}

// --- submission ---

void Allocator::carry_out(const engine::SubmitAllocation& order) {
  submit(order.name);
}

Status Allocator::prepare(const AllocationRecord& allocation, const QueueSettings& settings) {
  const std::string directory = directory_of(allocation.name);
  const slurm::Place place = place_of(allocation.name);
  if (const auto failure = files::make_private_directory(directory)) {
    return failure->as_error();
  }
  Status done = written(directory + "/worker.sh", slurm::worker_script(settings, allocation.name, place),
                        files::Readers::owner);
  if (done) {
    done = written(directory + "/job.sh", slurm::job_script(settings, allocation.workers, place),
                   files::Readers::owner);
  }
  return done ? invite(allocation) : done;
}

Status Allocator::invite(const AllocationRecord& allocation) {
  const std::string path = directory_of(allocation.name) + "/" + slurm::invite_file;
  if (settings_.invites == nullptr || is_there(path)) {  // It is submitted again.
    return Done{};
  }
  const auto made = settings_.invites->create({.endpoint = settings_.daemon,
                                               .life = Invites::longest_life,
                                               .uses = allocation.workers,
                                               .creator = "allocation " + engine::text_of(allocation.name)},
                                              runtime_.now());
  return made ? written(path, made->token, files::Readers::owner) : Status(made.error());
}

void Allocator::withdraw_invite(const std::string& directory) {
  const std::string path = directory + "/" + slurm::invite_file;
  if (settings_.invites == nullptr || settings_.keys == nullptr || !is_there(path)) {
    return;
  }
  const auto word = net::InviteToken::read(tail_of(path, most_invite_bytes));
  // An invite that can't be read was never given to a job: the file is written at once or not at all.
  const Status done =
      word ? settings_.invites->withdraw(word->curve.keys.public_key, *settings_.keys) : Status(Done{});
  if (!done) {
    net::log(net::Level::warning,
             "the invite in " + directory + " is not withdrawn: " + done.error().message);
    return;  // Again when the next allocation ends, or at the next start.
  }
  std::error_code unknown;
  fs::remove(path, unknown);
}

void Allocator::submit(const AllocationName& name) {
  const AllocationRecord* allocation = runtime_.engine().find(name);
  if (allocation == nullptr || allocation->state != AllocationRecord::State::wanted ||
      !allocation->canceling.empty()) {
    return;
  }
  const QueueSettings& settings = runtime_.engine().queues().at(name.queue).settings;
  if (const Status ready = prepare(*allocation, settings); !ready) {
    end(name, AllocationEnd::refused, ready.error().message, false);
    return;
  }
  Watched& watched = watched_[name];
  watched.is_submitting = true;
  watched.absent_looks = 0;
  submissions_.push_back(runtime_.now());
  run(slurm::submission(settings, name, allocation->workers,
                        slurm::comment_of(runtime_.cluster(), *allocation), directory_of(name)),
      [this, name](const net::CommandAnswer& answer) { take_submission(name, answer); });
}

void Allocator::take_submission(const AllocationName& name, const net::CommandAnswer& answer) {
  watched_[name].is_submitting = false;
  next_look_ = std::min(next_look_, runtime_.now() + look_soon);
  if (answer.succeeded()) {
    const std::string job = answer.output.substr(0, answer.output.find_first_of(";\n"));
    net::log(net::Level::info, "allocation " + engine::text_of(name) + " is job " + job + " of Slurm");
    static_cast<void>(runtime_.perform(engine::NoteSubmitted{name, job}));
  } else if (answer.ran || answer.errors.find("cannot be run") != std::string::npos) {
    net::log(net::Level::warning,
             "Slurm refused allocation " + engine::text_of(name) + ": " + answer.complaint());
    end(name, AllocationEnd::refused, answer.complaint(), false);
  } else {  // Slurm may have taken it: the next lists say so.
    net::log(net::Level::warning, "allocation " + engine::text_of(name) + ": " + answer.complaint());
  }
}

// --- what the other scheduler says ---

void Allocator::look() {
  if (is_looking_) {
    return;
  }
  is_looking_ = true;
  const Instant now = runtime_.now();
  const bool is_canceling = std::any_of(watched_.begin(), watched_.end(), [now](const auto& entry) {
    return now - entry.second.canceled_at < look_often;
  });
  next_look_ = now + (is_canceling ? look_soon : look_often);
  run(slurm::job_list(), [this](const net::CommandAnswer& answer) {
    is_looking_ = false;
    take_list(answer);
  });
}

void Allocator::take_list(const net::CommandAnswer& answer) {
  if (!answer.succeeded()) {  // Nothing follows from silence.
    if (std::exchange(list_problem_, answer.complaint()) != answer.complaint()) {
      net::log(net::Level::warning, "Slurm does not list jobs: " + answer.complaint());
    }
    return;
  }
  list_problem_.clear();
  std::map<std::string, slurm::Job> by_key;
  for (slurm::Job& job : slurm::read_jobs(answer.output)) {
    if (auto key = slurm::key_in(job, runtime_.cluster())) {
      by_key.insert_or_assign(*std::move(key), std::move(job));
    }
  }
  note_strays(by_key);
  for (const AllocationRecord& allocation : live()) {
    const auto found = by_key.find(allocation.key);
    if (found != by_key.end()) {
      take_job(allocation, found->second);
    } else {
      take_absence(allocation);
    }
  }
}

void Allocator::note_strays(const std::map<std::string, slurm::Job>& by_key) {
  std::set<std::string> known;
  for (const auto& [name, queue] : runtime_.engine().queues()) {
    for (const auto& [number, allocation] : queue.allocations) {
      known.insert(allocation.key);
    }
  }
  for (const auto& [key, job] : by_key) {
    const bool is_stray =
        !known.contains(key) && slurm::standing_of(job).phase != slurm::Standing::Phase::ended;
    if (is_stray && strays_.insert(job.id).second) {
      net::log(net::Level::warning,
               "job " + job.id + " of Slurm is of this cluster, but the store does not know it, " +
                   "as after a restored backup. It is left alone; to end it: scancel " + job.id);
    }
  }
}

void Allocator::take_job(const AllocationRecord& allocation, const slurm::Job& job) {
  Watched& watched = watched_[allocation.name];
  watched.absent_looks = 0;
  if (allocation.job != job.id) {
    static_cast<void>(runtime_.perform(engine::NoteSubmitted{allocation.name, job.id}));
  }
  const slurm::Standing standing = slurm::standing_of(job);
  const bool has_reason = standing.phase == slurm::Standing::Phase::waits && job.reason != "None";
  watched.reason = has_reason ? job.reason : "";
  if (standing.phase == slurm::Standing::Phase::ended) {
    std::string detail = "Slurm: " + job.state;
    if (const auto log = log_of(allocation.name, 4'096); log && allocation.joined == 0) {
      const std::string line = last_line(*log);
      detail += line.empty() ? "" : "; it wrote: " + line;
    }
    end(allocation.name, standing.end, detail, standing.processes_ended);
    return;
  }
  if (standing.phase == slurm::Standing::Phase::runs) {
    if (job.state == "RUNNING" && engine::is_pending(allocation)) {
      static_cast<void>(runtime_.perform(engine::NoteStarted{allocation.name}));
    }
    return;
  }
  watched.hopeless_looks = standing.will_not_start ? watched.hopeless_looks + 1 : 0;
  if (watched.hopeless_looks >= looks_until_hopeless) {
    static_cast<void>(runtime_.perform(
        engine::CancelAllocation{allocation.name, "Slurm will not start it: " + job.reason, true}));
  } else if (standing.will_not_start) {
    next_look_ = std::min(next_look_, runtime_.now() + look_soon);
  }
}

/// A job that was never seen is submitted, again if need be; one that was known has been forgotten by Slurm.
void Allocator::take_absence(const AllocationRecord& allocation) {
  Watched& watched = watched_[allocation.name];
  const Instant now = runtime_.now();
  if (watched.is_submitting) {
    return;
  }
  if (watched.absent_looks++ == 0) {
    watched.absent_since = now;
  }
  if (watched.absent_looks < looks_until_sure || now - watched.absent_since < sure_absence) {
    return;
  }
  if (allocation.state != AllocationRecord::State::wanted || !allocation.canceling.empty()) {
    end(allocation.name, AllocationEnd::vanished, "Slurm knows nothing of it", false);
  } else {
    submit(allocation.name);
  }
}

void Allocator::carry_out(const engine::WithdrawAllocation& order) {
  if (const AllocationRecord* allocation = runtime_.engine().find(order.name);
      allocation != nullptr && engine::is_live(*allocation)) {
    withdraw(*allocation);
  }
}

void Allocator::withdraw(const AllocationRecord& allocation) {
  const Instant now = runtime_.now();
  watched_[allocation.name].canceled_at = now;
  next_look_ = std::min(next_look_, now + look_soon);
  if (!allocation.job.empty()) {
    run({"scancel", "--", allocation.job}, [name = allocation.name](const net::CommandAnswer& answer) {
      if (!answer.succeeded()) {
        net::log(net::Level::warning,
                 "Slurm did not cancel allocation " + engine::text_of(name) + ": " + answer.complaint());
      }
    });
  }
}

void Allocator::end(const AllocationName& name, AllocationEnd how, const std::string& detail,
                    bool processes_ended) {
  static_cast<void>(runtime_.perform(engine::NoteEnded{name, how, detail, processes_ended}));
}

// --- for people ---

Status Allocator::may_add(const QueueSettings& settings) const {
  if (settings_.daemon.empty()) {
    return Error{Errc::wrong_state,
                 "workers on other machines cannot reach this daemon: start hpsearchd with "
                 "--workers tcp://0.0.0.0:8078 and --http with an address of this machine"};
  }
  return slurm::check_arguments(settings.arguments);
}

std::string Allocator::script_of(const std::string& queue, const QueueSettings& settings) const {
  const AllocationName name{queue, 0};
  const slurm::Place place = place_of(name);
  std::string command = "#";
  for (const std::string& word :
       slurm::submission(settings, name, settings.workers, "hpsearch/…", directory_of(name))) {
    command += " " + word;
  }
  return command + "\n\n" + slurm::job_script(settings, settings.workers, place) + "\n# worker.sh\n" +
         slurm::worker_script(settings, name, place);
}

void Allocator::check(const std::string& queue, const QueueSettings& settings,
                      std::function<void(const Check&)> then) {
  if (const Status may = may_add(settings); !may) {
    then({false, {may.error().message}});
    return;
  }
  AllocationRecord probe;
  probe.name = {queue, 0};
  const std::string directory = settings_.directory + "/.check-" + files::random_hex(key_bytes);
  slurm::Place place = place_of(probe.name);
  place.directory = directory;
  if (const auto failure = files::make_private_directory(directory)) {
    then({false, {failure->as_error().message}});
    return;
  }
  const Status ready = written(directory + "/job.sh", slurm::job_script(settings, settings.workers, place),
                               files::Readers::owner);
  if (!ready) {
    then({false, {ready.error().message}});
    return;
  }
  std::vector<std::string> test =
      slurm::submission(settings, probe.name, settings.workers, "hpsearch/check", directory, true);
  commands_.run(
      [runner = settings_.run, test = std::move(test), settings, directory, then = std::move(then)] {
        Check check;
        const net::CommandAnswer tested = runner(test);
        std::error_code unknown;
        fs::remove_all(directory, unknown);
        check.would_start = tested.succeeded();
        check.findings.push_back(tested.succeeded() ? "Slurm would take the job: " + tested.complaint()
                                                    : "Slurm would refuse the job: " + tested.complaint());
        if (tested.succeeded()) {
          // A job above the partition's limits is taken, and then waits for ever.
          const net::CommandAnswer partitions = runner({"scontrol", "--oneliner", "show", "partition"});
          for (std::string& problem : slurm::problems_with_partition(partitions.output, settings)) {
            check.would_start = false;
            check.findings.push_back(std::move(problem));
          }
        }
        return [check = std::move(check), then] { then(check); };
      });
}

std::string Allocator::reason_of(const AllocationName& name) const {
  const auto found = watched_.find(name);
  return found == watched_.end() ? "" : found->second.reason;
}

engine::Result<std::string> Allocator::log_of(const AllocationName& name, std::size_t most) const {
  std::vector<fs::path> files;
  std::error_code unknown;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory_of(name), unknown)) {
    if (entry.path().extension() == ".out") {
      files.push_back(entry.path());
    }
  }
  if (files.empty()) {
    return Error{Errc::not_found, "allocation " + engine::text_of(name) + " has written nothing"};
  }
  std::sort(files.begin(), files.end());
  std::string text;
  for (const fs::path& file : files) {
    text += files.size() > 1 ? "==> " + file.stem().string() + " <==\n" : "";
    text += tail_of(file, most);
  }
  return text;
}

}  // namespace hpsearch::daemon
