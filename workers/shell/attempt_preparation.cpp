#include "hpsearch/workers/shell/attempt_preparation.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "hpsearch/io/files/sha256.hpp"
#include "hpsearch/io/files/tree.hpp"
#include "hpsearch/io/net/rclone.hpp"
#include "hpsearch/jobs/fields/remote_storage.hpp"
#include "hpsearch/jobs/launch/entrypoint_start.hpp"
#include "hpsearch/proto/wire/checkpoint_owner.hpp"
#include "hpsearch/workers/core/adapters/determined/determined_launch.hpp"
#include "hpsearch/workers/core/adapters/launch_kinds/launch_kind.hpp"
#include "hpsearch/workers/core/effects.hpp"
#include "hpsearch/workers/core/launch/attempt_places.hpp"
#include "hpsearch/workers/shell/channels.hpp"
#include "hpsearch/workers/shell/files.hpp"
#include "hpsearch/workers/shell/missing_place.hpp"
#include "hpsearch/workers/shell/ml_mount.hpp"
#include "hpsearch/workers/shell/node_setup.hpp"
#include "hpsearch/workers/shell/processes/container_runtime.hpp"
#include "hpsearch/workers/shell/processes/process.hpp"
#include "hpsearch/workers/shell/processes/unix_accounts.hpp"
#include "hpsearch/workers/shell/shim/launch_order.hpp"
#include "hpsearch/workers/shell/shim/line_buffering.hpp"
#include "hpsearch/workers/shell/transfer/checkpoint_publisher.hpp"
#include "hpsearch/workers/shell/transfer/kept_files.hpp"
#include "hpsearch/workers/shell/transfer/object_storage.hpp"
#include "hpsearch/workers/shell/transfer/user_checkpoints.hpp"

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using jobs::LaunchSpec;

namespace {

/// Fetches the checkpoint from which the program starts, if it is in an object store. not_found: it doesn't
/// exist.
Status fetch_checkpoint(LaunchSpec& spec, const AttemptDirectory& directory) {
  const bool is_remote = jobs::is_remote(spec.latest_checkpoint);
  if (!is_remote && !jobs::is_remote(spec.checkpoint_root)) {
    return engine::Done{};
  }
  if (const Status found = net::find_rclone(); !found) {
    return Error{Errc::wrong_state, "checkpoint storage " +
                                        (is_remote ? spec.latest_checkpoint : spec.checkpoint_root) + ": " +
                                        found.error().message};
  }
  if (!is_remote) {
    return engine::Done{};
  }
  const std::string from = std::exchange(spec.latest_checkpoint, directory.fetched().string());
  const Result<files::Directory> attempt = directory.opened();
  return attempt ? download_checkpoint(from, *attempt, directory.fetched().filename(),
                                       spec.warm_start ? spec.source_environment : spec.storage_environment)
                 : Status(attempt.error());
}

/// Checks that this machine has the complete checkpoint from which the program starts: without it
/// the program would silently start from scratch. not_found: it doesn't exist. corrupt: it differs from its
/// manifest.
Status checkpoint_is_here(const LaunchSpec& spec) {
  std::error_code error;
  if (spec.latest_checkpoint.empty() || only_lends_slots(spec)) {
    return engine::Done{};
  }
  if (std::filesystem::exists(spec.latest_checkpoint, error)) {
    const Result<files::Directory> place = files::Directory::open(spec.latest_checkpoint);
    const Status whole = place ? verify_checkpoint(*place) : Status(place.error());
    const bool damaged = !whole && whole.error().code != Errc::unavailable;
    return whole ? whole
                 : Error{damaged ? Errc::corrupt : Errc::unavailable,
                         "its latest checkpoint " + spec.latest_checkpoint +
                             (damaged ? " is damaged: " : " cannot be read: ") + whole.error().message};
  }
  if (error) {
    return Error{Errc::unavailable, "its latest checkpoint " + spec.latest_checkpoint +
                                        " cannot be looked for: " + error.message()};
  }
  return Error{Errc::not_found,
               "its latest checkpoint " + spec.latest_checkpoint +
                   " is not on this worker's machine; checkpoint_storage has to be where every worker "
                   "that may run the trial sees it"};
}

/// Whether a missing checkpoint was removed: if its experiment's directory is missing, too, its file system
/// may not be mounted.
bool sees_the_storage_of(const std::string& checkpoint) {
  std::error_code error;
  const std::filesystem::path experiment = std::filesystem::path(checkpoint).parent_path().parent_path();
  return jobs::is_remote(checkpoint) ||
         std::filesystem::exists(experiment / proto::checkpoint_owner_name, error);
}

/// A free port for the processes of an attempt on this machine; 0 if there is none.
std::uint64_t free_port() {
  const Descriptor probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  socklen_t size = sizeof any;
  auto* address = reinterpret_cast<sockaddr*>(&any);
  if (!probe || ::bind(probe.get(), address, size) != 0 || ::getsockname(probe.get(), address, &size) != 0) {
    return 0;
  }
  return ntohs(any.sin_port);
}

/// The image of the program's container, or "".
std::string image_of(const LaunchSpec& spec, const LentMachine& machine) {
  if (only_lends_slots(spec)) {
    return "";  // The program that only holds its slots is hpsearch's own.
  }
  return devices_lent(spec, machine).empty() ? spec.contract.image : spec.contract.gpu_image;
}

/// Each image has its own setup of a context.
std::string setup_name(const LaunchSpec& spec, const std::string& image) {
  return files::sha256_of(spec.context_digest + "\n" + image);
}

/// The Python that installs the context's requirements; none if the experiment doesn't install them.
std::optional<SetupPython> setup_python(const LaunchSpec& spec, const std::string& image,
                                        const ProgramStart& program) {
  if (!spec.install_requirements) {
    return std::nullopt;
  }
  SetupPython python{jobs::python_of(spec.entrypoint), image};
  if (image.empty()) {
    ProgramStart start = program;
    start.argv = {python.word};
    const Result<std::string> file = find_program(start);
    std::error_code ignored;
    python.file = file ? *file + "\n" + std::filesystem::canonical(*file, ignored).string() : "";
  }
  return python;
}

/// Mounts the bind_mounts of a program without a container.
Status mount_for(const LaunchSpec& spec, const AttemptDirectory& directory, ProgramStart& program) {
  if (spec.contract.bind_mounts.empty() || needs_determined_harness(spec) || only_lends_slots(spec)) {
    return engine::Done{};
  }
  if (!can_mount()) {
    return Error{
        Errc::unavailable,
        "bind_mounts: this worker may not mount (it is not root, or the kernel refuses), and the experiment "
        "names no environment.image"};
  }
  std::vector<jobs::BindMount> mounts = spec.contract.bind_mounts;
  OwnRoot own;
  for (jobs::BindMount& mount : mounts) {
    std::error_code error;
    const auto status = std::filesystem::status(mount.host_path, error);
    if (!std::filesystem::exists(status)) {
      return Error{Errc::not_found,
                   "bind_mounts: there is no " + mount.host_path + " on this worker's machine"};
    }
    if (!mount.container_path.starts_with('/')) {
      const std::filesystem::path place = directory.work() / mount.container_path;
      const bool is_directory = std::filesystem::is_directory(status);
      // With source: in_place, or if the context has links, the user chooses this place.
      const Status made = make_directories(is_directory ? place : place.parent_path());
      if (!made ||
          (!is_directory && !std::filesystem::exists(place, error) && !write_file(place, "", false))) {
        return Error{Errc::unavailable, "bind_mounts: cannot make " + place.string()};
      }
      mount.container_path = place.string();
    } else if (const std::filesystem::path lacking = lacking_directory(mount.container_path);
               !lacking.empty()) {
      if (!may_be_remade(lacking)) {
        return Error{
            Errc::not_found,
            "bind_mounts: there is no " + mount.container_path +
                " on this worker's machine to mount at; make it, name an environment.image, or mount "
                "below /mnt or a directory that the root does not have"};
      }
      own.root = directory.root().string();
      own.levels.insert(lacking.string());
    }
  }
  program.argv = under_mounts(mounts, own, std::move(program.argv));
  return engine::Done{};
}

/// Prepares one attempt in stages: each uses the results of the earlier ones.
class Preparation {
 public:
  Preparation(LaunchSpec spec, const AttemptDirectory& directory, LentMachine machine,
              const AttemptSockets& sockets, std::filesystem::path setups,
              const std::filesystem::path* unpacked)
      : spec_(std::move(spec)),
        directory_(directory),
        machine_(std::move(machine)),
        sockets_(sockets),
        setups_(std::move(setups)),
        unpacked_(unpacked) {}

  Prepared run() {
    result_.made =
        in_order({&Preparation::find_user, &Preparation::make_directory, &Preparation::prepare_for_user,
                  &Preparation::arrange, &Preparation::write_files, &Preparation::write_order});
    return result_;
  }

 private:
  using Stage = Status (Preparation::*)();
  Status in_order(std::initializer_list<Stage> stages);

  // These run with the worker's rights.
  Status find_user();
  Status make_directory();
  Status prepare_for_user();
  Status arrange();
  Status write_files();
  Status write_order();

  // These run with the rights of the program's user, because the paths are that user's.
  Status take_context();
  Status check_storage();
  Status find_checkpoint();
  Status choose_place();
  Status plan();
  Status add_setup();
  Status wrap();
  Status put_in_container();

  void note_missing(const Error& why, bool may_be_missing);

  LaunchSpec spec_;  ///< After find_checkpoint(), its latest checkpoint is on this machine.
  AttemptDirectory directory_;
  LentMachine machine_;
  const AttemptSockets& sockets_;
  std::filesystem::path setups_;
  const std::filesystem::path* unpacked_;  ///< The context, if the worker has unpacked it.
  std::optional<UnixAccount> account_;
  std::string image_;                         ///< The image of its container, or "".
  bool at_ml_ = false;                        ///< The program finds its directory at /ml.
  std::map<std::string, std::string> files_;  ///< Files in the worker's part of the directory.
  ProgramStart program_;
  Prepared result_;
};

Status Preparation::in_order(std::initializer_list<Stage> stages) {
  for (const Stage stage : stages) {
    if (const Status done = (this->*stage)(); !done) {
      return done;
    }
  }
  return engine::Done{};
}

/// Decides from the reason for the missing checkpoint whether it counts as the trial's failure.
void Preparation::note_missing(const Error& why, bool may_be_missing) {
  result_.outage = why.code == Errc::unavailable;
  result_.checkpoint_gone = may_be_missing && (why.code == Errc::not_found || why.code == Errc::corrupt);
}

Status Preparation::find_user() {
  const Result<std::optional<UnixAccount>> account = account_for(spec_, machine_.run_as, find_account);
  if (!account) {
    result_.outage = account.error().code == Errc::unavailable;
    if (!result_.outage) {
      // A submission without a user never gets one.
      result_.status = spec_.unix_user.empty() ? status_same_everywhere : status_refuses_submitter;
    }
    return account.error();
  }
  account_ = *account;
  return engine::Done{};
}

/// A context at a path that the user chose is read with the user's rights, in take_context(). Other users may
/// not read the worker's unpacked contexts.
Status Preparation::make_directory() {
  const std::string context = unpacked_ != nullptr ? unpacked_->string() : spec_.context_directory;
  if (!account_) {
    return directory_.make(context, spec_.contract.in_place);
  }
  const Status made = directory_.make(unpacked_ != nullptr ? context : "");
  return made ? directory_.hand_over(*account_) : made;
}

Status Preparation::prepare_for_user() {
  if (!account_) {
    return engine::Done{};
  }
  // Each user has separate setups, because a user's programs run the installed code.
  setups_ /= "uid-" + std::to_string(account_->uid);
  if (const Status made = make_directory_of(*account_, setups_); !made) {
    return made;
  }
  bool storage_is_there = false;
  const Result<bool> brought = bring_checkpoint(*account_, spec_, directory_, storage_is_there);
  if (!brought) {
    note_missing(brought.error(), spec_.checkpoint_may_be_gone && storage_is_there);
    return brought.error();
  }
  if (*brought) {
    spec_.latest_checkpoint = directory_.fetched().string();
  }
  machine_.environment = environment_of(*account_, machine_.environment, machine_.run_as.keep_environment);
  const Result<AttemptDirectory> kept = directory_.kept_open();
  if (!kept) {
    return kept.error();
  }
  directory_ = *kept;
  return engine::Done{};
}

Status Preparation::arrange() {
  const std::initializer_list<Stage> stages = {
      &Preparation::take_context, &Preparation::check_storage, &Preparation::find_checkpoint,
      &Preparation::choose_place, &Preparation::plan,          &Preparation::add_setup,
      &Preparation::wrap};
  if (!account_) {
    return in_order(stages);
  }
  const Result<FilesAs> user = FilesAs::begin(*account_);
  return user ? in_order(stages) : Status(user.error());
}

Status Preparation::take_context() {
  return account_ && unpacked_ == nullptr
             ? directory_.take_context(spec_.context_directory, spec_.contract.in_place)
             : Status(engine::Done{});
}

Status Preparation::check_storage() {
  return account_ ? storage_is_writable(*account_, spec_) : Status(engine::Done{});
}

Status Preparation::find_checkpoint() {
  const std::string from = spec_.latest_checkpoint;
  Status found = fetch_checkpoint(spec_, directory_);
  if (found && spec_.latest_checkpoint != directory_.fetched()) {
    found = checkpoint_is_here(spec_);
  }
  if (!found) {
    note_missing(found.error(), spec_.checkpoint_may_be_gone && sees_the_storage_of(from));
  }
  return found;
}

/// Decides whether the program runs in a container, and where it finds its directory.
Status Preparation::choose_place() {
  image_ = image_of(spec_, machine_);
  if (!image_.empty() && spec_.launch.rank == jobs::RankLevel::process) {
    return Error{Errc::bad_request,
                 "launch.rank is process, and environment.image is " + image_ +
                     ": in a container one process is started, which may be torchrun (launch.rank: node)"};
  }
  at_ml_ = spec_.contract.ml_layout && (!image_.empty() || (!account_ && can_mount_ml()));
  return engine::Done{};
}

Status Preparation::plan() {
  const std::string ml = at_ml_ ? std::string(ml_mount_point) : directory_.ml().string();
  Result<ChannelPlaces> channels = make_channels(spec_, directory_, ml);
  if (!channels) {
    return channels.error();
  }
  const AttemptPlaces places{.work_directory = directory_.work().string(),
                             .checkpoint_directory = (directory_.output() / "checkpoints").string(),
                             .output_directory = directory_.output().string(),
                             .params_file = directory_.params().string(),
                             .socket = sockets_.report,
                             .ml = ml,
                             .log_directory = directory_.root().string(),
                             .hostfile = ml + "/input/config/hostfile",
                             .free_port = spec_.launch.kind == jobs::LaunchKind::process ? 0 : free_port(),
                             .harness_directory = directory_.harness().string(),
                             .inputs = std::move(channels->inputs),
                             .outputs = std::move(channels->outputs)};
  Result<Launch> plan = plan_launch(spec_, places, machine_);
  if (!plan) {
    return plan.error();
  }
  for (auto& [name, text] : plan->files) {
    if (!name.starts_with("ml/")) {
      files_.emplace(name, std::move(text));
    } else if (const Status written = directory_.write(name, text); !written) {
      return written;
    }
  }
  program_ = std::move(plan->program);
  program_.token = mark_of(sockets_.report);
  program_.environment[std::string(attempt_mark)] = sockets_.report;
  return engine::Done{};
}

/// The Determined harness runs the hook itself, in every attempt.
Status Preparation::add_setup() {
  if (needs_determined_harness(spec_)) {
    return engine::Done{};
  }
  const auto setup =
      setup_of(directory_.work(), image_.empty() ? spec_.context_digest : setup_name(spec_, image_),
               setup_python(spec_, image_, program_), setups_);
  if (setup) {
    if (const Status made = make_directories(setup->directory); !made) {
      return made;
    }
    put_setup_before(*setup, program_);
  }
  return engine::Done{};
}

Status Preparation::wrap() {
  if (!image_.empty()) {
    return put_in_container();
  }
  if (const Status mounted = mount_for(spec_, directory_, program_); !mounted) {
    return mounted;
  }
  if (!needs_determined_harness(spec_)) {
    buffer_by_lines(program_);
  }
  if (at_ml_) {
    program_.argv = under_ml(directory_.ml().string(), std::move(program_.argv));
  }
  return engine::Done{};
}

/// Paths in the program's variables are the same inside the container.
Status Preparation::put_in_container() {
  Result<FoundRuntime> runtime = find_container_runtime(machine_.environment);
  if (!runtime) {
    return runtime.error();
  }
  ContainerPlan plan;
  plan.runtime = runtime->kind;
  plan.runtime_file = std::move(runtime->program);
  plan.image = image_;
  plan.pull = spec_.contract.pull_image;
  plan.name = "hpsearch-" + directory_.root().filename().string() + "-" +
              files::sha256_of(sockets_.report).substr(0, 12);
  plan.user = ::geteuid();
  plan.group = ::getegid();
  plan.shared = {directory_.root().string()};
  if (const std::string at = std::filesystem::path(sockets_.report).parent_path().string();
      at != directory_.root()) {
    plan.shared.push_back(at);
  }
  if (std::filesystem::exists(setups_)) {
    plan.shared.push_back(setups_.string());
  }
  if (spec_.contract.in_place) {
    plan.shared.push_back(spec_.context_directory);
  }
  for (const jobs::Channel& channel : spec_.contract.outputs) {
    if (!channel.path.empty()) {
      plan.shared.push_back(channel.path);
    }
  }
  for (const jobs::Channel& channel : spec_.contract.inputs) {
    if (channel.path.starts_with('/')) {
      plan.shown.push_back(channel.path);
    }
  }
  if (!spec_.latest_checkpoint.empty() && spec_.latest_checkpoint != directory_.fetched()) {
    plan.shown.push_back(spec_.latest_checkpoint);
  }
  plan.mounts = spec_.contract.bind_mounts;
  plan.ml = at_ml_ ? directory_.ml().string() : "";
  plan.devices = devices_lent(spec_, machine_);
  plan.device_kind = machine_.device_kind;
  std::erase_if(program_.environment, [&](const auto& variable) {
    // The machine's own variables don't fit the image; the image's PATH is better than the machine's.
    const auto& [name, value] = variable;
    const auto own = machine_.environment.find(name);
    const bool inherited = name == "PATH" || (own != machine_.environment.end() && own->second == value &&
                                              !is_identity_variable(name));
    return inherited && !spec_.environment_variables.contains(name);
  });
  plan.program = std::move(program_);
  plan.worker_environment = machine_.environment;
  if (plan.runtime != ContainerRuntime::apptainer) {  // Apptainer's containers are only processes.
    if (const Status written = write_container_record(directory_.container(), {plan.runtime_file, plan.name});
        !written) {
      return written.error();
    }
  }
  Result<ProgramStart> started = container_command(plan);
  if (!started) {
    return started.error();
  }
  program_ = *std::move(started);
  return engine::Done{};
}

Status Preparation::write_files() {
  const Result<files::Directory> root = directory_.opened();
  if (!root) {
    return root.error();
  }
  for (const auto& [name, text] : files_) {
    Status done = root->write(name, text, false);
    if (done && account_) {
      done = files::give_tree(*root, name, static_cast<std::uint32_t>(account_->uid),
                              static_cast<std::uint32_t>(account_->gid));
    }
    if (!done) {
      return done;
    }
  }
  const bool keeps_files = spec_.keep_files_mb > 0 && !spec_.contract.in_place;
  return keeps_files ? stamp_working_directory(directory_) : Status(engine::Done{});
}

Status Preparation::write_order() {
  program_.account = account_;
  // Only rank 0 of several workers reports, and the Determined harness reports for its trials.
  const bool reports_by_itself = spec_.rendezvous.rank == 0 && !needs_determined_harness(spec_);
  std::set<std::string> slot_files;
  for (const engine::SlotIndex slot : spec_.slots) {
    if (slot.number() < machine_.slot_files.size()) {
      slot_files.insert(machine_.slot_files[slot.number()]);
    }
  }
  return write_launch_order(directory_.launch(), {.program = std::move(program_),
                                                  .report_socket = sockets_.report,
                                                  .agent_socket = sockets_.agent,
                                                  .metric_patterns = spec_.metric_patterns,
                                                  .metric = reports_by_itself ? spec_.metric : "",
                                                  .first_step = spec_.latest_step,
                                                  .checkpoint_signal = spec_.checkpoint_signal,
                                                  .ends_without_agent = machine_.is_lent_for_a_while,
                                                  .slot_files = {slot_files.begin(), slot_files.end()}});
}

}  // namespace

Status meeting_port_is_free(const LaunchSpec& spec) {
  const std::optional<std::uint64_t> meeting = port_to_listen_at(spec);
  if (!meeting) {
    return engine::Done{};
  }
  for (const std::uint64_t port :
       needs_determined_harness(spec) ? harness_ports(spec) : std::vector{*meeting}) {
    const Descriptor probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int reuse = 1;  // Connections that were closed just before don't block the port.
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(port));
    const bool is_free =
        !probe || ::setsockopt(probe.get(), SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse) != 0 ||
        ::bind(probe.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0 || errno != EADDRINUSE;
    if (!is_free) {
      return Error{Errc::unavailable, "port " + std::to_string(port) +
                                          ", at which its processes were to meet, is in use on this machine"};
    }
  }
  return engine::Done{};
}

Prepared prepare_attempt(const LaunchSpec& spec, const AttemptDirectory& directory,
                         const LentMachine& machine, const AttemptSockets& sockets,
                         const std::filesystem::path& setups, const std::filesystem::path* unpacked) {
  Prepared prepared;
  try {
    prepared = Preparation(spec, directory, machine, sockets, setups, unpacked).run();
  } catch (const std::exception& error) {  // The file system library throws if memory is short.
    prepared.made = Error{Errc::unavailable,
                          "cannot prepare " + directory.root().string() + ": " + std::string(error.what())};
  }
  return prepared;
}

}  // namespace hpsearch::workers
