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
constexpr Duration look_soon = Duration::seconds(3);    ///< After something was submitted or canceled.
constexpr Duration look_often = Duration::seconds(10);  ///< While jobs wait or run.
constexpr Duration cancel_again = Duration::seconds(30);
constexpr Duration sure_absence = Duration::seconds(30);
constexpr unsigned looks_until_sure = 2;
constexpr unsigned looks_until_hopeless = 3;
constexpr std::size_t most_submissions_a_minute = 10;
constexpr std::size_t key_bytes = 16;
constexpr std::size_t most_invite_bytes = 4'096;

/// Only its owner may read it.
Status written(const std::string& path, const std::string& text) {
  const auto failure =
      files::replace_file(path, text, files::Durability::of_the_process, files::Readers::owner);
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
      loop_(loop),
      settings_(std::move(settings)),
      events_(runtime.watch_events([this](const engine::Event& event) {
        if (const auto* ended = std::get_if<engine::AllocationEnded>(&event.body)) {
          watched_.erase(ended->name);
          runtime_.when_durable([this] { clean_up(); });
        } else if (std::holds_alternative<engine::QueueRemoved>(event.body)) {
          runtime_.when_durable([this] { clean_up(); });
        }
      })),
      clock_(loop.every(plan_every, [this] { tick(); })) {
  clean_up();
}

Allocator::Controller& Allocator::controller(const std::string& backend) {
  Controller& found = controllers_[backend];
  if (found.backend == nullptr) {
    found.backend = backend_named(backend, runtime_.cluster());
    found.name = found.backend->name();
    found.work = std::make_unique<net::Background>(loop_, 1);
  }
  return found;
}

Allocator::Controller& Allocator::controller_of(const AllocationName& name) {
  return controller(runtime_.engine().queues().at(name.queue).settings.backend);
}

std::string Allocator::directory_of(const AllocationName& name) const {
  return settings_.directory + "/" + engine::text_of(name);
}

JobOrder Allocator::order_of(const AllocationRecord& allocation, const QueueSettings& settings) const {
  return {.settings = settings,
          .workers = allocation.workers,
          .mark = {runtime_.cluster(), allocation.name, allocation.key},
          .directory = directory_of(allocation.name),
          .worker = settings_.worker,
          .daemon = settings_.daemon,
          .needs_invite = settings_.invites != nullptr};
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

std::vector<AllocationRecord> Allocator::live_at(const Controller& controller) {
  std::vector<AllocationRecord> all = live();
  std::erase_if(all, [&](const AllocationRecord& one) { return &controller_of(one.name) != &controller; });
  return all;
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
  for (const AllocationRecord& allocation : live()) {
    if (!allocation.canceling.empty() && now - watched_[allocation.name].canceled_at > cancel_again) {
      withdraw(allocation);
    }
  }
  for (const auto& [name, queue] : runtime_.engine().queues()) {
    Controller& there = controller(queue.settings.backend);
    if (now >= there.next_look && (!there.has_looked || !live_at(there).empty())) {
      there.has_looked = true;
      look(there);
    }
  }
}

// --- submission ---

void Allocator::carry_out(const engine::SubmitAllocation& order) {
  submit(order.name);
}

Status Allocator::prepare(const Backend& backend, const JobOrder& order) {
  if (const auto failure = files::make_private_directory(order.directory)) {
    return failure->as_error();
  }
  for (const JobFile& file : backend.files_of(order)) {
    if (Status done = written(order.directory + "/" + file.name, file.text); !done) {
      return done;
    }
  }
  return Done{};
}

Status Allocator::invite(const AllocationRecord& allocation) {
  const std::string path = directory_of(allocation.name) + "/" + invite_file;
  if (settings_.invites == nullptr || is_there(path)) {  // It is submitted again.
    return Done{};
  }
  const auto made = settings_.invites->create({.endpoint = settings_.daemon,
                                               .life = Invites::longest_life,
                                               .uses = allocation.workers,
                                               .creator = "allocation " + engine::text_of(allocation.name)},
                                              runtime_.now());
  return made ? written(path, made->token) : Status(made.error());
}

void Allocator::withdraw_invite(const std::string& directory) {
  const std::string path = directory + "/" + invite_file;
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
  Controller& there = controller_of(name);
  const JobOrder order = order_of(*allocation, runtime_.engine().queues().at(name.queue).settings);
  Status ready = prepare(*there.backend, order);
  ready = ready ? invite(*allocation) : ready;
  if (!ready) {
    end(name, AllocationEnd::refused, ready.error().message, false);
    return;
  }
  Watched& watched = watched_[name];
  watched.is_submitting = true;
  watched.absent_looks = 0;
  submissions_.push_back(runtime_.now());
  there.work->run([this, backend = there.backend.get(), order] {
    return [this, name = order.mark.name, answer = backend->submit(order)] { take_submission(name, answer); };
  });
}

void Allocator::take_submission(const AllocationName& name, const JobSubmission& submission) {
  if (runtime_.engine().find(name) == nullptr) {
    return;
  }
  watched_[name].is_submitting = false;
  Controller& there = controller_of(name);
  there.next_look = std::min(there.next_look, runtime_.now() + look_soon);
  const std::string who = "allocation " + engine::text_of(name);
  switch (submission.outcome) {
    case JobSubmission::Outcome::taken:
      net::log(net::Level::info, who + " is job " + submission.job + " of " + there.name);
      static_cast<void>(runtime_.perform(engine::NoteSubmitted{name, submission.job}));
      break;
    case JobSubmission::Outcome::refused:
      net::log(net::Level::warning, there.name + " refused " + who + ": " + submission.problem);
      end(name, AllocationEnd::refused, submission.problem, false);
      break;
    case JobSubmission::Outcome::unknown:
      net::log(net::Level::warning, who + ": " + submission.problem);
      break;
  }
}

// --- what the other scheduler says ---

void Allocator::look(Controller& controller) {
  if (controller.is_looking) {
    return;
  }
  controller.is_looking = true;
  const Instant now = runtime_.now();
  const bool is_canceling = std::any_of(watched_.begin(), watched_.end(), [now](const auto& entry) {
    return now - entry.second.canceled_at < look_often;
  });
  controller.next_look = now + (is_canceling ? look_soon : look_often);
  std::map<std::string, std::string>
      directories;  // Directories of live allocations, by the keys of the allocations.
  if (controller.backend->has_output_elsewhere()) {
    for (const AllocationRecord& allocation : live_at(controller)) {
      directories.emplace(allocation.key, directory_of(allocation.name));
    }
  }
  controller.work->run([this, &controller, directories = std::move(directories)] {
    auto jobs = controller.backend->list();
    for (const BackendJob& job : jobs ? *jobs : std::vector<BackendJob>()) {
      const auto found = directories.find(job.key);
      if (found != directories.end() && job.standing.phase == Standing::Phase::ended) {
        controller.backend->fetch_output(job.id, found->second);
      }
    }
    return [this, &controller, jobs = std::move(jobs)] {
      controller.is_looking = false;
      take_list(controller, jobs);
    };
  });
}

void Allocator::take_list(Controller& controller, const engine::Result<std::vector<BackendJob>>& jobs) {
  if (!jobs) {  // Nothing follows from silence.
    const std::string& problem = jobs.error().message;
    if (std::exchange(controller.list_problem, problem) != problem) {
      net::log(net::Level::warning, controller.name + " does not list jobs: " + problem);
    }
    return;
  }
  controller.list_problem.clear();
  std::map<std::string, BackendJob> by_key;
  for (const BackendJob& job : *jobs) {
    by_key.insert_or_assign(job.key, job);
  }
  note_strays(controller, by_key);
  for (const AllocationRecord& allocation : live_at(controller)) {
    const auto found = by_key.find(allocation.key);
    if (found != by_key.end()) {
      take_job(controller, allocation, found->second);
    } else {
      take_absence(controller, allocation);
    }
  }
}

void Allocator::note_strays(Controller& controller, const std::map<std::string, BackendJob>& by_key) {
  std::set<std::string> known;
  for (const auto& [name, queue] : runtime_.engine().queues()) {
    for (const auto& [number, allocation] : queue.allocations) {
      known.insert(allocation.key);
    }
  }
  for (const auto& [key, job] : by_key) {
    const bool is_stray = !known.contains(key) && job.standing.phase != Standing::Phase::ended;
    if (is_stray && controller.strays.insert(job.id).second) {
      net::log(net::Level::warning, "job " + job.id + " of " + controller.name +
                                        " is of this cluster, but the store does not know it, as after a "
                                        "restored backup. It is left alone; to end it: " +
                                        controller.backend->cancel_text(job.id));
    }
  }
}

void Allocator::take_job(Controller& controller, const AllocationRecord& allocation, const BackendJob& job) {
  using Phase = Standing::Phase;
  Watched& watched = watched_[allocation.name];
  watched.absent_looks = 0;
  if (allocation.job != job.id) {
    if (controller.backend->may_submit_again() && allocation.canceling.empty() &&
        job.standing.phase != Phase::ended) {
      // Its submission was not answered, or the daemon ended in it: what the job lacks is made now.
      if (!watched.is_submitting) {
        submit(allocation.name);
      }
      return;
    }
    static_cast<void>(runtime_.perform(engine::NoteSubmitted{allocation.name, job.id}));
  }
  const Standing& standing = job.standing;
  watched.reason = standing.phase == Phase::waits ? job.reason : "";
  if (standing.phase == Phase::ended) {
    std::string detail = controller.name + ": " + job.state + (job.reason.empty() ? "" : ", " + job.reason);
    if (const auto log = log_of(allocation.name, 4'096); log && allocation.joined == 0) {
      const std::string line = last_line(*log);
      detail += line.empty() ? "" : "; it wrote: " + line;
    }
    end(allocation.name, standing.end, detail, standing.processes_ended);
    return;
  }
  if (standing.phase == Phase::runs && engine::is_pending(allocation)) {
    static_cast<void>(runtime_.perform(engine::NoteStarted{allocation.name}));
  }
  if (standing.phase != Phase::waits) {
    return;
  }
  watched.hopeless_looks = standing.will_not_start ? watched.hopeless_looks + 1 : 0;
  if (watched.hopeless_looks >= looks_until_hopeless) {
    static_cast<void>(runtime_.perform(engine::CancelAllocation{
        allocation.name, controller.name + " will not start it: " + job.reason, true}));
  } else if (standing.will_not_start) {
    controller.next_look = std::min(controller.next_look, runtime_.now() + look_soon);
  }
}

/// A job that was never seen is submitted, again if need be; one that was known has been forgotten.
void Allocator::take_absence(const Controller& controller, const AllocationRecord& allocation) {
  Watched& watched = watched_[allocation.name];
  const Instant now = runtime_.now();
  if (watched.is_submitting) {
    return;
  }
  if (watched.absent_looks++ == 0) {
    watched.absent_since = now;
  }
  const bool is_to_be_submitted =
      allocation.state == AllocationRecord::State::wanted && allocation.canceling.empty();
  const bool is_sure =
      (is_to_be_submitted && controller.backend->may_submit_again()) ||
      (watched.absent_looks >= looks_until_sure && now - watched.absent_since >= sure_absence);
  if (!is_sure) {
    return;
  }
  if (!is_to_be_submitted) {
    end(allocation.name, AllocationEnd::vanished, controller.name + " knows nothing of it", false);
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
  Controller& there = controller_of(allocation.name);
  there.next_look = std::min(there.next_look, now + look_soon);
  if (allocation.job.empty()) {
    return;
  }
  there.work->run([&there, name = allocation.name, job = allocation.job] {
    return [&there, name, done = there.backend->cancel(job)] {
      if (!done) {
        net::log(net::Level::warning, there.name + " did not cancel allocation " + engine::text_of(name) +
                                          ": " + done.error().message);
      }
    };
  });
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
  return backend_named(settings.backend, runtime_.cluster())->check_settings(settings);
}

std::string Allocator::script_of(const std::string& queue, const QueueSettings& settings) const {
  const auto backend = backend_named(settings.backend, runtime_.cluster());
  const JobOrder order = order_of({.name = {queue, 0}, .workers = settings.workers, .key = "KEY"}, settings);
  std::string text = backend->submission_text(order);
  for (const JobFile& file : backend->files_of(order)) {
    text += "\n# " + file.name + "\n" + file.text;
  }
  return text;
}

void Allocator::check(const std::string& queue, const QueueSettings& settings,
                      std::function<void(const BackendCheck&)> then) {
  Status ready = may_add(settings);
  if (!ready) {
    then({false, {ready.error().message}});
    return;
  }
  Controller& there = controller(settings.backend);
  JobOrder order = order_of({.name = {queue, 0}, .workers = settings.workers, .key = "check"}, settings);
  order.directory = settings_.directory + "/.check-" + files::random_hex(key_bytes);
  ready = prepare(*there.backend, order);
  if (!ready) {
    then({false, {ready.error().message}});
    return;
  }
  there.work->run([&there, order, then = std::move(then)] {
    BackendCheck check = there.backend->check(order);
    std::error_code unknown;
    fs::remove_all(order.directory, unknown);
    return [check = std::move(check), then] { then(check); };
  });
}

std::string Allocator::reason_of(const AllocationName& name) const {
  const auto found = watched_.find(name);
  return found == watched_.end() ? "" : found->second.reason;
}

void Allocator::read_log(const AllocationName& name, std::size_t most,
                         std::function<void(const engine::Result<std::string>&)> then) {
  const AllocationRecord* known = runtime_.engine().find(name);
  if (known == nullptr || known->job.empty() || !controller_of(name).backend->has_output_elsewhere()) {
    then(log_of(name, most));
    return;
  }
  Controller& there = controller_of(name);
  there.work->run(
      [this, &there, name, most, job = known->job, directory = directory_of(name), then = std::move(then)] {
        there.backend->fetch_output(job, directory);
        return [this, name, most, then] { then(log_of(name, most)); };
      });
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
