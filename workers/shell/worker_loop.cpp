#include "hpsearch/workers/shell/worker_loop.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>

#include "hpsearch/engine/base/clock_text.hpp"
#include "hpsearch/io/files/random_bytes.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/io/net/run_command.hpp"
#include "hpsearch/jobs/fields/remote_storage.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "hpsearch/workers/shell/files.hpp"
#include "hpsearch/workers/shell/processes/container_runtime.hpp"
#include "hpsearch/workers/shell/processes/process_table.hpp"
#include "hpsearch/workers/shell/shim/program_log.hpp"
#include "hpsearch/workers/shell/transfer/checkpoint_publisher.hpp"
#include "hpsearch/workers/shell/transfer/checkpoint_root.hpp"
#include "hpsearch/workers/shell/transfer/condemned_checkpoints.hpp"
#include "hpsearch/workers/shell/transfer/log_delivery.hpp"
#include "hpsearch/workers/shell/transfer/object_storage.hpp"
#include "hpsearch/workers/shell/transfer/user_checkpoints.hpp"

namespace hpsearch::workers {

using engine::AttemptKey;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Instant;
using engine::Result;
using engine::Status;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t longest_log_part = 128 * 1024;
// libzmq drops unsent messages when the connection is closed, and does not report when it has sent them.
constexpr std::chrono::milliseconds goodbye_time = 200ms;
// The daemon retries at the same interval.
constexpr std::chrono::seconds remove_condemned_every = 60s;

/// Nothing: not in a job, or Slurm doesn't answer. Only the difference counts: clocks and time zones may
/// differ.
std::optional<engine::Duration> time_left_of_slurm_job() {
  constexpr std::chrono::seconds patience{20};
  const char* job = std::getenv("SLURM_JOB_ID");
  if (job == nullptr) {
    return std::nullopt;
  }
  const net::CommandAnswer answer =
      net::run_command({"squeue", "--noheader", "--jobs=" + std::string(job), "--format=%L"}, patience);
  if (!answer.succeeded()) {
    net::log(net::Level::debug, "squeue does not say when the job ends: " + answer.complaint());
    return std::nullopt;
  }
  return engine::duration_from_clock_text(answer.output.substr(0, answer.output.find_first_of(" \n")));
}

double seconds_since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

WorkerIdentity identity_of(const WorkerState& state, const WorkerOptions& options,
                           std::optional<SlotsTaken> shared) {
  return {.uid = state.uid(),
          .name = options.name,
          .incarnation = state.incarnation(),
          .boot_id = boot_id(),
          .pid = static_cast<std::uint64_t>(::getpid()),
          .slots = options.machine.slots,
          .slot_kind = options.machine.device_kind.slot_kind,
          .kills_by = options.kills_by,
          .devices = options.devices,
          .pool = options.pool,
          .labels = options.labels,
          .unusable = options.unusable,
          .address = options.address,
          .nonce = files::random_number(),
          .max_unslotted = options.max_unslotted,
          .host = options.host,
          .version = options.version,
          .allocation = options.allocation,
          .shared = std::move(shared)};
}

}  // namespace

WorkerLoop::WorkerLoop(net::Loop& loop, const WorkerState& state, WorkerOptions options, OnEnd on_end,
                       std::unique_ptr<SlotKeeper> slots)
    : loop_(loop),
      state_(state),
      options_(std::move(options)),
      on_end_(std::move(on_end)),
      slots_(std::move(slots)),
      machine_(identity_of(state, options_, start_sharing()), options_.rules,
               engine::Draw(files::random_number(), engine::TrialNumber{}, "retry")),
      daemon_(
          loop, options_, [this](bool again) { push(ConnectionMade{again}); },
          [this](proto::Framed<proto::FromDaemon> frame) { push(FrameReceived{std::move(frame)}); }),
      kept_files_(state.directory()),
      file_delivery_(loop, kept_files_, end_of_deliveries_.get_token(),
                     [this](bool going_on) { push(SendingFiles{going_on}); }),
      devices_(loop, options_.devices, options_.machine.device_kind.noun, options_.look,
               [this](const DeviceReport& report) { take(report); }),
      programs_(loop, state, options_, devices_,
                {[this](Input input) {
                   if (const auto* not_started = std::get_if<ProgramNotStarted>(&input)) {
                     free_slots_of(not_started->key);
                   }
                   push(std::move(input));
                 },
                 [this](const AttemptKey& key, const Input& end, bool may_leave_container) {
                   settle(std::make_shared<EndedProgram>(EndedProgram{key, end, may_leave_container}));
                 },
                 [this](double seconds) { transfers_.contexts.add(seconds); }}),
      utilization_(
          loop, state, devices_, utilization_interval(), [this] { return machine_.status().attempts; },
          [this](AttemptsMeasured measured) { push(std::move(measured)); }),
      background_(loop) {
  if (options_.machine.run_as.submitter) {
    condemned_ = loop_.every(remove_condemned_every, [this] { remove_condemned(); });
  }
}

WorkerLoop::~WorkerLoop() {
  end_of_deliveries_.request_stop();
}

Status WorkerLoop::start(std::vector<SpooledAttempt> found) {
  if (const Status connected = daemon_.connect(); !connected) {
    return connected;
  }
  daemon_.close();
  if (!options_.metrics.empty()) {
    auto served = serve_worker_metrics(loop_, options_.metrics, [this] { return metrics(); });
    if (!served) {
      return served.error();
    }
    metrics_ = *std::move(served);
  }
  working_ = true;
  for (const SpooledAttempt& attempt : found) {
    const std::optional<ProcessRecord> process = state_.attempt(attempt.spec.key).read_process();
    programs_.hold_devices(attempt.spec, process ? process->mark : "", attempt.state.unkillable);
  }
  for (const Effect& effect : machine_.start(loop_.now(), std::move(found), state_.known())) {
    std::visit([this](const auto& known) { carry_out(known); }, effect);
  }
  work_off();
  return Done{};
}

void WorkerLoop::stop() {
  ending_ = true;
  programs_.stop_spares();
  push(StopAsked{});
}

void WorkerLoop::give_back(engine::Duration within, bool is_warning) {
  ending_ = true;
  programs_.stop_spares();
  push(GiveBackAsked{within, is_warning});
}

void WorkerLoop::leave() {
  programs_.stop_spares();
  push(LeaveAsked{});
}

// --- inputs ---

void WorkerLoop::push(Input input) {
  inputs_.push_back(std::move(input));
  if (!std::exchange(working_, true)) {
    work_off();
  }
}

void WorkerLoop::work_off() {
  for (;;) {
    if (std::exchange(refused_, false)) {
      inputs_.emplace_front(SendRefused{});
    }
    if (inputs_.empty()) {
      break;
    }
    const Input input = std::move(inputs_.front());
    inputs_.pop_front();
    for (const Effect& effect : machine_.step(input, loop_.now())) {
      std::visit([this](const auto& known) { carry_out(known); }, effect);
    }
  }
  working_ = false;
  const std::optional<Instant> next = machine_.next_wake();
  if (next == wake_at_ && wake_) {
    return;
  }
  wake_at_ = next;
  wake_ = net::Watch();
  if (next) {
    const std::int64_t wait = std::max<std::int64_t>(0, (*next - loop_.now()).in_micros());
    wake_ = loop_.after(std::chrono::microseconds(wait), [this] {
      wake_ = net::Watch();
      push(TimePassed{});
    });
  }
}

// --- ends of programs ---

/// Finishes everything between the end of a program and its input to the machine: receivers of the
/// end may look for the attempt's files, and may use its devices.
void WorkerLoop::settle(const std::shared_ptr<const EndedProgram>& ended, std::size_t step) {
  constexpr std::array steps{&WorkerLoop::remove_its_container, &WorkerLoop::keep_its_files,
                             &WorkerLoop::wait_for_its_devices};
  if (step == steps.size()) {
    utilization_.write(ended->key);
    free_slots_of(ended->key);  // First: the daemon learns which slots it must not lease again.
    push(ended->end);
    return;
  }
  (this->*steps[step])(*ended, [this, ended, step] { settle(ended, step + 1); });
}

void WorkerLoop::remove_its_container(const EndedProgram& ended, const Next& next) {
  const Result<files::Directory> root = state_.attempt(ended.key).opened();
  const auto container =
      ended.may_leave_container && root ? read_container_record(*root, "container.json") : std::nullopt;
  if (!container) {
    next();
    return;
  }
  background_.run([key = ended.key, next, container,
                   variables = options_.machine.environment]() -> net::Background::Afterwards {
    const Status removed = remove_container(*container, variables);
    return [key, next, removed] {
      if (!removed) {
        net::log(net::Level::warning, attempt_text(key) + " has left a container: " + removed.error().message,
                 net::about(key));
      }
      next();
    };
  });
}

void WorkerLoop::keep_its_files(const EndedProgram& ended, const Next& next) {
  const std::optional<Keeping> wanted = machine_.keeping(ended.key);
  if (!wanted || wanted->max_bytes == 0) {
    next();
    return;
  }
  background_.run([this, key = ended.key, next, keeping = *wanted, attempt = state_.attempt(ended.key),
                   store = machine_.store()]() -> net::Background::Afterwards {
    const Result<std::string> kept = kept_files_.take(attempt, key, store, keeping);
    return [this, key, next, kept] {
      if (!kept) {
        net::log(
            net::Level::warning,
            attempt_text(key) + ": the files in its working directory are not kept: " + kept.error().message,
            net::about(key));
      } else if (!kept->empty()) {
        net::log(net::Level::warning, attempt_text(key) + ": " + *kept, net::about(key));
      }
      file_delivery_.go_on();
      next();
    };
  });
}

void WorkerLoop::wait_for_its_devices(const EndedProgram& ended, const Next& next) {
  devices_.wait_until_free(ended.key, next, [this, key = ended.key, end = ended.end](const std::string& why) {
    const auto* known = std::get_if<ProgramEnded>(&end);
    push(ProgramStuck{key, why, known == nullptr ? std::nullopt : std::optional(*known)});
  });
}

// --- slots, devices and metrics ---

std::optional<SlotsTaken> WorkerLoop::start_sharing() {
  return slots_ ? slots_->start({.on_taken = [this](SlotsTaken taken) { push(std::move(taken)); },
                                 .look = [this] { devices_.look(); }})
                : std::nullopt;
}

void WorkerLoop::free_slots_of(const AttemptKey& key) {
  if (slots_) {
    slots_->end(key);
  }
}

void WorkerLoop::take(const DeviceReport& report) {
  for (std::size_t slot = 0; slot < options_.devices.size() && slot < options_.machine.devices.size();
       ++slot) {
    for (const Device& device : report.devices) {
      if (device.uuid == options_.devices[slot].uuid) {
        options_.machine.devices[slot] = device.selector;  // Numbers change if a device is missing.
      }
    }
  }
  if (slots_) {
    slots_->take(report);
  }
  push(DevicesJudged{with_withheld(
      unusable_slots(options_.devices, report, options_.machine.device_kind.noun), options_.withheld)});
}

WorkerMetricsSources WorkerLoop::metrics() const {
  WorkerMetricsSources sources{.version = options_.version,
                               .slot_kind = options_.machine.device_kind.slot_kind,
                               .status = machine_.status(),
                               .transfers = transfers_,
                               .devices = options_.devices,
                               .report = devices_.last_report()};
  for (const AttemptKey& key : sources.status.attempts) {
    const AttemptDirectory directory = state_.attempt(key);
    std::error_code absent;
    const std::uintmax_t spool = std::filesystem::file_size(directory.spool(), absent);
    sources.spool_bytes += absent ? 0 : spool;
    const std::uintmax_t journal = std::filesystem::file_size(directory.journal(), absent);
    sources.journal_bytes += absent ? 0 : journal;
  }
  return sources;
}

// --- effects ---

void WorkerLoop::carry_out(const SendMessage& send) {
  refused_ = !daemon_.send(send) || refused_;
}

void WorkerLoop::carry_out(const NewConnection& /*connection*/) {
  daemon_.close();
  refused_ = false;
  if (const Status connected = daemon_.connect(); !connected) {
    net::log(net::Level::error, connected.error().message);
  }
}

void WorkerLoop::carry_out(const ContextsServed& served) {
  access_ = {contexts_address(served.http, options_.daemon), served.key};
  programs_.fetch_contexts_from(access_);
  file_delivery_.in_session(access_, machine_.store());
}

void WorkerLoop::remove_condemned() {
  if (access_.address.empty() || ending_ || std::exchange(removing_condemned_, true)) {
    return;
  }
  background_.run([this, daemon = access_, store = machine_.store(),
                   min_uid = options_.machine.run_as.min_uid]() -> net::Background::Afterwards {
    remove_condemned_checkpoints(daemon, store, min_uid);
    return [this] { removing_condemned_ = false; };
  });
}

void WorkerLoop::carry_out(const HandOverLog& hand_over) {
  background_.run([this, hand_over, directory = state_.attempt(hand_over.key), daemon = access_,
                   store = machine_.store(), ending = ending_,
                   stop = end_of_deliveries_.get_token()]() -> net::Background::Afterwards {
    const std::chrono::milliseconds within(hand_over.within.in_micros() / 1'000);
    const auto until = std::chrono::steady_clock::now() + within;
    const std::string problem = deliver_log(directory, hand_over.key, daemon, within, stop);
    if (ending) {  // The worker only waits for its logs, and afterwards its key is invalid.
      file_delivery_.send_all(
          daemon, store,
          std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()));
    }
    return [this, hand_over, problem] { push(LogHandedOver{hand_over.key, hand_over.delivery, problem}); };
  });
}

void WorkerLoop::carry_out(const RememberDaemon& remember_daemon) {
  unremembered_ = remember_daemon.daemon;
  if (const Status done = remember(); !done) {
    net::log(net::Level::warning, done.error().message + "; no spool is written before this is");
  }
}

/// Synchronous: it happens at most once in a session, and nothing may overtake it.
Status WorkerLoop::remember() {
  Status done = unremembered_ ? state_.remember(*unremembered_) : Status(Done{});
  if (done) {
    unremembered_.reset();
  }
  return done;
}

void WorkerLoop::carry_out(const ProbeDisk& /*probe*/) {
  background_.run([this, directory = state_.attempts()]() -> net::Background::Afterwards {
    const Status tried = try_to_write_in(directory);
    return [this, tried] { push(DiskProbed{tried ? "" : tried.error().message}); };
  });
}

void WorkerLoop::carry_out(const CheckCheckpointRoot& check) {
  background_.run([this, check]() -> net::Background::Afterwards {
    const Status usable = check_checkpoint_root(check.root, check.store);
    return [this, root = check.root, usable] {
      push(CheckpointRootChecked{root, usable ? "" : usable.error().message});
    };
  });
}

void WorkerLoop::carry_out(const WriteSpool& write) {
  const AttemptKey key = write.key;
  if (const Status first = remember(); !first) {
    // To the next agent, a spool of an unknown store would belong to another store.
    inputs_.emplace_back(SpoolNotWritten{key, write.write, first.error().message});
    return;
  }
  spooling_[key].reset();
  background_.run([this, write, directory = state_.attempt(key)]() -> net::Background::Afterwards {
    const Status written = directory.write_spool(write.bytes, write.anew);
    return [this, directory, key = write.key, number = write.write, position = write.position, written] {
      const std::optional<DeleteAttempt> afterwards = std::move(spooling_.at(key));
      spooling_.erase(key);
      if (afterwards) {
        carry_out(*afterwards);
      } else if (written) {
        if (position > 0) {
          programs_.drop_journal_before(key, position);
        }
        push(SpoolWritten{key, number});
      } else {
        push(SpoolNotWritten{key, number, written.error().message, !directory.is_missing(written.error())});
      }
    };
  });
}

void WorkerLoop::carry_out(const PublishCheckpoint& publish) {
  const AttemptKey key = publish.key;
  background_.run([this, key, publish, own_root = state_.checkpoints(), directory = state_.attempt(key),
                   store = machine_.store()]() -> net::Background::Afterwards {
    const auto began = std::chrono::steady_clock::now();
    const Result<OwnDirectory> from = directory.made_for_checkpoints();
    const Result<std::optional<UnixAccount>> account = directory.runs_as();
    Result<std::optional<engine::CheckpointReport>> published = std::optional<engine::CheckpointReport>();
    if (!from || !account) {
      published = from ? account.error() : from.error();
    } else if (jobs::is_remote(publish.root)) {
      const Result<files::Directory> attempt = directory.opened();
      published = attempt ? upload_checkpoint(*from, *attempt, publish) : attempt.error();
    } else {
      const std::filesystem::path root =
          publish.root.empty() ? own_root : std::filesystem::path(publish.root);
      published = *account
                      ? publish_checkpoint_as(
                            **account, *from, root,
                            publish.root.empty() ? own_root : std::filesystem::path(publish.default_storage),
                            key, publish.step, store)
                      : publish_checkpoint(*from, root, key, publish.step, store);
    }
    return [this, key, from = directory.checkpoint(), published = std::move(published),
            took = seconds_since(began)] {
      if (published && published.value()) {
        transfers_.checkpoints.add(took);
      }
      if (!published) {
        push(CheckpointNotPublished{key, false, published.error().message});
      } else if (!published.value()) {
        push(CheckpointNotPublished{
            key, true,
            "HPSEARCH_CHECKPOINT_DIR (" + from.string() + ") is empty; write the checkpoint there first"});
      } else {
        push(CheckpointPublished{key, *published.value()});
      }
    };
  });
}

void WorkerLoop::carry_out(const StartProgram& start) {
  const AttemptKey key = start.spec.key;
  if (const Status begun = slots_ ? slots_->begin(key, start.spec.slots) : Status(Done{}); !begun) {
    push(ProgramNotStarted{key, begun.error().message, true});
    return;
  }
  programs_.carry_out(start);
}

void WorkerLoop::carry_out(const SlotsWanted& wanted) {
  if (slots_) {
    slots_->take(wanted);
  }
}

void WorkerLoop::carry_out(const DeleteAttempt& remove) {
  free_slots_of(remove.key);
  utilization_.forget(remove.key);
  programs_.forget(remove.key);
  const auto spooling = spooling_.find(remove.key);
  if (spooling != spooling_.end()) {
    spooling->second = remove;
    return;
  }
  background_.run(
      [directory = state_.attempt(remove.key), keep = remove.keep_logs]() -> net::Background::Afterwards {
        if (keep) {
          directory.remove_working_files();
        } else {
          directory.remove_everything();
        }
        return [] {};
      });
}

void WorkerLoop::carry_out(const ReadLogPart& read) {
  const proto::ReadLog& request = read.request;
  proto::LogPart part;
  part.request = request.request;
  if (request.stream != "stdout" && request.stream != "stderr" &&
      request.stream != proto::utilization_stream) {
    part.problem = "there is no stream \"" + request.stream + "\"; there are stdout, stderr and utilization";
  } else {
    if (request.stream == proto::utilization_stream && request.offset == 0) {
      utilization_.write(request.key);
    }
    const std::uint64_t limit =
        request.limit == 0 ? longest_log_part : std::min(request.limit, longest_log_part);
    const AttemptDirectory directory = state_.attempt(request.key);
    const Result<files::Directory> root = directory.opened();
    Result<proto::TextPiece> piece =
        root ? read_log(*root, directory.log(request.stream, request.process).filename(), request.offset,
                        limit, request.from_end)
             : Result<proto::TextPiece>(root.error());
    if (piece) {
      part.offset = piece->offset;
      part.size = piece->size;
      part.text = std::move(piece->text);
    } else if (piece.error().code == Errc::not_found) {
      part.problem = "worker " + options_.name + " has no " + request.stream + " of " +
                     attempt_text(request.key) + "; what would have written it was never started there";
    } else {
      part.problem = piece.error().message;
    }
  }
  inputs_.emplace_back(LogWasRead{std::move(part)});
}

void WorkerLoop::carry_out(const AskTimeLeft& /*ask*/) {
  background_.run([this]() -> net::Background::Afterwards {
    return [this, left = time_left_of_slurm_job()] { push(TimeLeftLearned{left}); };
  });
}

void WorkerLoop::carry_out(const Notice& notice) {
  switch (notice.level) {
    case Notice::Level::info:
      net::log(net::Level::info, notice.text);
      break;
    case Notice::Level::warning:
      net::log(net::Level::warning, notice.text);
      break;
    case Notice::Level::error:
      net::log(net::Level::error, notice.text);
      break;
  }
}

void WorkerLoop::carry_out(const EndAgent& end) {
  end_ = loop_.after(goodbye_time, [this, end] { on_end_(end.failed, end.why); });
}

}  // namespace hpsearch::workers
