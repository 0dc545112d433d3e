#include "hpsearch/workers/shell/attempt_preparation.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "hpsearch/io/files/sha256.hpp"
#include "hpsearch/io/files/tree.hpp"
#include "hpsearch/io/net/rclone.hpp"
#include "hpsearch/jobs/fields/remote_storage.hpp"
#include "hpsearch/jobs/fields/requirements.hpp"
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

/// With what an object store keeps brought here: the checkpoint that the program starts from. not_found: it
/// is not there.
Result<LaunchSpec> with_checkpoint_here(const LaunchSpec& asked, const AttemptDirectory& directory) {
  LaunchSpec spec = asked;
  const bool fetch = jobs::is_remote(asked.latest_checkpoint);
  if (fetch || jobs::is_remote(asked.checkpoint_root)) {
    if (const Status found = net::find_rclone(); !found) {
      return Error{Errc::wrong_state, "checkpoint storage " +
                                          (fetch ? asked.latest_checkpoint : asked.checkpoint_root) + ": " +
                                          found.error().message};
    }
  }
  if (fetch) {
    spec.latest_checkpoint = directory.fetched().string();
    const Result<files::Directory> attempt = directory.opened();
    const Status fetched =
        attempt ? download_checkpoint(asked.latest_checkpoint, *attempt, directory.fetched().filename(),
                                      asked.warm_start ? asked.source_environment : asked.storage_environment)
                : Status(attempt.error());
    if (!fetched) {
      return fetched.error();
    }
  }
  return spec;
}

/// The one it starts from is where this machine sees it, as it was published: without it a program would
/// begin anew, and say nothing; with half of it, it would train on something else. not_found: it is not
/// there. corrupt: it is not what its manifest says.
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

/// Who does not see where it was cannot say that it is gone: a file system that is not mounted looks like
/// that.
bool sees_the_storage_of(const std::string& checkpoint) {
  std::error_code error;
  const std::filesystem::path experiment = std::filesystem::path(checkpoint).parent_path().parent_path();
  return jobs::is_remote(checkpoint) ||
         std::filesystem::exists(experiment / proto::checkpoint_owner_name, error);
}

/// Whose failure it is that the checkpoint to start from could not be had.
void note_missing(const Error& why, bool may_be_gone, Prepared& prepared) {
  prepared.outage = why.code == Errc::unavailable;
  prepared.checkpoint_gone = may_be_gone && (why.code == Errc::not_found || why.code == Errc::corrupt);
}

/// A port that nobody listens at now, for the processes of an attempt on this machine; 0 when none can be
/// had.
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

/// Of the container that the program wants, or "".
std::string image_of(const LaunchSpec& spec, const LentMachine& machine) {
  if (only_lends_slots(spec)) {
    return "";  // What waits there is ours.
  }
  return devices_lent(spec, machine).empty() ? spec.contract.image : spec.contract.gpu_image;
}

/// What one image has made of a context means nothing to another.
std::string setup_name(const LaunchSpec& spec, const std::string& image) {
  return files::sha256_of(spec.context_digest + "\n" + image);
}

/// The Python that installs the context's requirements; nothing when they are not wanted.
std::optional<SetupPython> setup_python(const LaunchSpec& spec, const std::string& image,
                                        const ProgramStart& program) {
  if (!spec.environment_variables.contains(jobs::requirements_variable)) {
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

/// The plan's program in its container. What it is told by paths is there under the same ones.
Result<ProgramStart> in_container(const LaunchSpec& spec, const std::string& image,
                                  const AttemptDirectory& directory, const LentMachine& machine,
                                  const AttemptSockets& sockets, const std::filesystem::path& setups,
                                  ProgramStart program, bool at_ml) {
  Result<FoundRuntime> runtime = find_container_runtime(machine.environment);
  if (!runtime) {
    return runtime.error();
  }
  ContainerPlan plan;
  plan.runtime = runtime->kind;
  plan.runtime_file = std::move(runtime->program);
  plan.image = image;
  plan.pull = spec.contract.pull_image;
  plan.name = "hpsearch-" + directory.root().filename().string() + "-" +
              files::sha256_of(sockets.report).substr(0, 12);
  plan.user = ::geteuid();
  plan.group = ::getegid();
  plan.shared = {directory.root().string()};
  if (const std::string at = std::filesystem::path(sockets.report).parent_path().string();
      at != directory.root()) {
    plan.shared.push_back(at);
  }
  if (std::filesystem::exists(setups)) {
    plan.shared.push_back(setups.string());
  }
  if (spec.contract.in_place) {
    plan.shared.push_back(spec.context_directory);
  }
  for (const jobs::Channel& channel : spec.contract.outputs) {
    if (!channel.path.empty()) {
      plan.shared.push_back(channel.path);
    }
  }
  for (const jobs::Channel& channel : spec.contract.inputs) {
    if (channel.path.starts_with('/')) {
      plan.shown.push_back(channel.path);
    }
  }
  if (!spec.latest_checkpoint.empty() && spec.latest_checkpoint != directory.fetched()) {
    plan.shown.push_back(spec.latest_checkpoint);
  }
  plan.mounts = spec.contract.bind_mounts;
  plan.ml = at_ml ? directory.ml().string() : "";
  plan.devices = devices_lent(spec, machine);
  std::erase_if(program.environment, [&](const auto& variable) {
    // The machine's own variables say nothing about the image; the image's PATH is better than ours.
    const auto& [name, value] = variable;
    const auto own = machine.environment.find(name);
    const bool inherited = name == "PATH" || (own != machine.environment.end() && own->second == value &&
                                              !is_identity_variable(name));
    return inherited && !spec.environment_variables.contains(name);
  });
  plan.program = std::move(program);
  plan.worker_environment = machine.environment;
  if (plan.runtime != ContainerRuntime::apptainer) {  // Whose containers are processes and nothing else.
    if (const Status written = write_container_record(directory.container(), {plan.runtime_file, plan.name});
        !written) {
      return written.error();
    }
  }
  return container_command(plan);
}

/// bind_mounts without a container.
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
      // With source: in_place, and where the context has links, this is where the user says.
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

/// The directory, with the context unless it is somewhere where a user says: that is read with the user's
/// rights (arrange). What the worker itself has unpacked nobody else may read.
Status make_directory(const LaunchSpec& asked, const AttemptDirectory& directory,
                      const std::optional<UnixAccount>& account, const std::filesystem::path* unpacked) {
  const std::string context = unpacked != nullptr ? unpacked->string() : asked.context_directory;
  if (!account) {
    return directory.make(context, asked.contract.in_place);
  }
  const Status made = directory.make(unpacked != nullptr ? context : "");
  return made ? directory.hand_over(*account) : made;
}

/// What the program needs in its directory, and how it is started. With the rights of its user, whose paths
/// these are. Files of the worker's part of the directory are left in `files`.
Status arrange(const LaunchSpec& asked, const AttemptDirectory& directory, const LentMachine& machine,
               const AttemptSockets& sockets, const std::filesystem::path& setups, bool has_context,
               const std::optional<UnixAccount>& account, Prepared& prepared, LaunchOrder& order,
               std::map<std::string, std::string>& files) {
  if (account && !has_context) {
    if (const Status taken = directory.take_context(asked.context_directory, asked.contract.in_place);
        !taken) {
      return taken;
    }
  }
  if (const Status writable = account ? storage_is_writable(*account, asked) : Status(engine::Done{});
      !writable) {
    return writable;
  }
  const Result<LaunchSpec> here = with_checkpoint_here(asked, directory);
  const bool was_fetched =
      jobs::is_remote(asked.latest_checkpoint) || asked.latest_checkpoint == directory.fetched();
  const Status found = !here         ? Status(here.error())
                       : was_fetched ? Status(engine::Done{})
                                     : checkpoint_is_here(*here);
  if (!found) {
    note_missing(found.error(), asked.checkpoint_may_be_gone && sees_the_storage_of(asked.latest_checkpoint),
                 prepared);
    return found;
  }
  const LaunchSpec& spec = *here;
  const std::string image = image_of(spec, machine);
  if (!image.empty() && spec.launch.rank == jobs::RankLevel::process) {
    return Error{Errc::bad_request,
                 "launch.rank is process, and environment.image is " + image +
                     ": in a container one process is started, which may be torchrun (launch.rank: node)"};
  }
  const bool at_ml = spec.contract.ml_layout && (!image.empty() || (!account && can_mount_ml()));
  const std::string ml = at_ml ? std::string(ml_mount_point) : directory.ml().string();
  Result<ChannelPlaces> channels = make_channels(spec, directory, ml);
  if (!channels) {
    return channels.error();
  }
  const AttemptPlaces places{.work_directory = directory.work().string(),
                             .checkpoint_directory = (directory.output() / "checkpoints").string(),
                             .output_directory = directory.output().string(),
                             .params_file = directory.params().string(),
                             .socket = sockets.report,
                             .ml = ml,
                             .log_directory = directory.root().string(),
                             .hostfile = ml + "/input/config/hostfile",
                             .free_port = spec.launch.kind == jobs::LaunchKind::process ? 0 : free_port(),
                             .harness_directory = directory.harness().string(),
                             .inputs = std::move(channels->inputs),
                             .outputs = std::move(channels->outputs)};
  Result<Launch> plan = plan_launch(spec, places, machine);
  if (!plan) {
    return plan.error();
  }
  for (auto& [name, text] : plan->files) {
    if (!name.starts_with("ml/")) {
      files.emplace(name, std::move(text));
    } else if (const Status written = directory.write(name, text); !written) {
      return written;
    }
  }
  ProgramStart& program = plan->program;
  program.token = marks_of(sockets.report).front();
  program.environment[std::string(attempt_mark)] = sockets.report;
  // The Determined harness sources the hook itself, in every attempt.
  const auto setup =
      needs_determined_harness(spec)
          ? std::nullopt
          : setup_of(directory.work(), image.empty() ? spec.context_digest : setup_name(spec, image),
                     setup_python(spec, image, program), setups);
  if (setup) {
    if (const Status made = make_directories(setup->directory); !made) {
      return made;
    }
    put_setup_before(*setup, program);
  }
  if (!image.empty()) {
    Result<ProgramStart> contained =
        in_container(spec, image, directory, machine, sockets, setups, std::move(program), at_ml);
    if (!contained) {
      return contained.error();
    }
    program = *std::move(contained);
  } else {
    if (const Status mounted = mount_for(spec, directory, program); !mounted) {
      return mounted;
    }
    if (!needs_determined_harness(spec)) {
      buffer_by_lines(program);
    }
    if (at_ml) {
      program.argv = under_ml(directory.ml().string(), std::move(program.argv));
    }
  }
  // Of a gang only rank 0 reports, and the harness reports for its trials.
  const bool reports_by_itself = spec.rendezvous.rank == 0 && !needs_determined_harness(spec);
  order = {.program = std::move(program),
           .report_socket = sockets.report,
           .agent_socket = sockets.agent,
           .metric_patterns = spec.metric_patterns,
           .metric = reports_by_itself ? spec.metric : "",
           .first_step = spec.latest_step};
  order.program.account = account;
  return engine::Done{};
}

/// arrange() with the rights of the program's user.
Status arrange_as(const UnixAccount& account, const LaunchSpec& asked, const AttemptDirectory& directory,
                  LentMachine machine, const AttemptSockets& sockets, const std::filesystem::path& setups,
                  bool has_context, Prepared& prepared, LaunchOrder& order,
                  std::map<std::string, std::string>& files) {
  // Of each user its own: what one has installed there, another would run.
  const std::filesystem::path own_setups = setups / ("uid-" + std::to_string(account.uid));
  if (const Status made = make_directory_of(account, own_setups); !made) {
    return made;
  }
  LaunchSpec spec = asked;
  bool storage_is_there = false;
  const Result<bool> brought = bring_checkpoint(account, asked, directory, storage_is_there);
  if (!brought) {
    note_missing(brought.error(), asked.checkpoint_may_be_gone && storage_is_there, prepared);
    return brought.error();
  }
  if (*brought) {
    spec.latest_checkpoint = directory.fetched().string();
  }
  machine.environment = environment_of(account, machine.environment, machine.run_as.keep_environment);
  const Result<AttemptDirectory> kept = directory.kept_open();
  const Result<FilesAs> user = kept ? FilesAs::begin(account) : Result<FilesAs>(kept.error());
  return user ? arrange(spec, *kept, machine, sockets, own_setups, has_context, account, prepared, order,
                        files)
              : Status(user.error());
}

Status prepare(const LaunchSpec& asked, const AttemptDirectory& directory, const LentMachine& machine,
               const AttemptSockets& sockets, const std::filesystem::path& setups,
               const std::filesystem::path* unpacked, Prepared& prepared) {
  const Result<std::optional<UnixAccount>> account = account_for(asked, machine.run_as, find_account);
  if (!account) {
    prepared.outage = account.error().code == Errc::unavailable;
    if (!prepared.outage) {
      // A submission without a user never gets one.
      prepared.status = asked.unix_user.empty() ? status_same_everywhere : status_refuses_submitter;
    }
    return account.error();
  }
  LaunchOrder order;
  std::map<std::string, std::string> files;
  const bool has_context = unpacked != nullptr;
  Status done = make_directory(asked, directory, *account, unpacked);
  if (done) {
    done = *account ? arrange_as(**account, asked, directory, machine, sockets, setups, has_context, prepared,
                                 order, files)
                    : arrange(asked, directory, machine, sockets, setups, has_context, *account, prepared,
                              order, files);
  }
  const Result<files::Directory> root = done ? directory.opened() : Result<files::Directory>(done.error());
  if (!root) {
    return root.error();
  }
  for (const auto& [name, text] : files) {
    done = root->write(name, text, false);
    if (done && *account) {
      done = files::give_tree(*root, name, static_cast<std::uint32_t>((*account)->uid),
                              static_cast<std::uint32_t>((*account)->gid));
    }
    if (!done) {
      return done;
    }
  }
  if (asked.keep_files_mb > 0 && !asked.contract.in_place) {
    if (const Status stamped = stamp_working_directory(directory); !stamped) {
      return stamped;
    }
  }
  return write_launch_order(directory.launch(), order);
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
    const int reuse = 1;  // Connections that ended a moment ago are in nobody's way.
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
    prepared.made = prepare(spec, directory, machine, sockets, setups, unpacked, prepared);
  } catch (const std::exception& error) {  // The file system library throws when memory is short.
    prepared.made = Error{Errc::unavailable,
                          "cannot prepare " + directory.root().string() + ": " + std::string(error.what())};
  }
  return prepared;
}

}  // namespace hpsearch::workers
