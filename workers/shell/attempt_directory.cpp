#include "hpsearch/workers/shell/attempt_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

#include "hpsearch/io/archive/context_files.hpp"
#include "hpsearch/io/files/tree.hpp"
#include "hpsearch/workers/core/launch/attempt_places.hpp"
#include "hpsearch/workers/shell/files.hpp"
#include "hpsearch/workers/shell/json_file.hpp"
#include "hpsearch/workers/shell/processes/control_group.hpp"
#include "hpsearch/workers/shell/shim/launch_order.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using files::Directory;
using files::Entry;
using files::Kind;

namespace {

constexpr std::size_t longest_record = 64 * 1024;

// Names in it.
constexpr const char* spool_name = "spool";
constexpr const char* record_name = "checkpoint.json";
constexpr const char* process_name = "process.json";

/// The directories that the worker has made; others in their place are the program's.
struct MadeDirectories {
  OwnDirectory root;
  OwnDirectory checkpoint;
};

void spell(auto& fields, proto::Is<MadeDirectories> auto& made) {
  fields("root", made.root);
  fields("checkpoint", made.checkpoint);
}

bool is(const Directory& directory, const OwnDirectory& made) {
  const Result<Directory::Identity> found = directory.identity();
  return found && found->device == made.device && found->inode == made.inode;
}

Result<OwnDirectory> identity_of(const Directory& directory) {
  const Result<Directory::Identity> found = directory.identity();
  return found ? Result<OwnDirectory>(OwnDirectory{directory.name(), found->device, found->inode})
               : Result<OwnDirectory>(found.error());
}

Status copy_context(const fs::path& context, const Directory& work) {
  const auto listing = context::context_files(context);
  // Mounts in a user's own directory belong to the directory.
  const Result<Directory> from =
      listing ? Directory::open(context, {.mounts = files::Rules::Mounts::entered}) : listing.error();
  if (!from) {
    return from.error().code != Errc::not_found
               ? from.error()
               : Error{Errc::not_found,
                       "the context directory " + context.string() +
                           " is not there (any more) on this worker's machine; bring it back, or "
                           "submit the experiment from where it lies now"};
  }
  for (const context::ContextFile& file : listing->files) {
    Status made = Done{};
    switch (file.kind) {
      case context::ContextFile::Kind::directory:
        made = work.make_directory(file.path);
        break;
      case context::ContextFile::Kind::link:
        made = work.make_link(file.target, file.path);
        break;
      case context::ContextFile::Kind::file:
        made = files::copy_file(*from, file.path, work, file.path);
        break;
    }
    if (!made) {
      return made;
    }
  }
  return Done{};
}

/// Removes a link or an empty directory. Other files that the program has put there stay.
void remove_hollow(const Directory& directory, const std::string& name) {
  const Result<std::optional<Kind>> kind = directory.kind(name);
  if (kind && (*kind == Kind::link || *kind == Kind::directory)) {
    static_cast<void>(directory.remove(name).has_value());
  }
}

void remove_file(const Directory& directory, const std::string& name) {
  const Result<std::optional<Kind>> kind = directory.kind(name);
  if (kind && *kind != Kind::directory) {
    static_cast<void>(directory.remove(name).has_value());
  }
}

/// Removes empty output channels, and the worker's own links: one to another attempt directory's place that
/// ends with `own_place`, and logs, which links to tensorboard.
void remove_empty_channels(const Directory& output, const std::string& own_place) {
  const Result<std::vector<Entry>> entries = output.entries();
  for (std::size_t i = 0; entries && i < entries->size(); ++i) {
    const bool checkpoints = (*entries)[i].name == "checkpoints";  // The worker's own name.
    if (checkpoints || (*entries)[i].kind == Kind::directory) {
      remove_hollow(output, (*entries)[i].name);
    }
  }
  for (std::size_t i = 0; entries && i < entries->size(); ++i) {
    const Entry& entry = (*entries)[i];
    const Result<std::string> target =
        entry.kind == Kind::link ? output.link_target(entry.name) : Result<std::string>(std::string());
    const bool to_nothing = target && *target == "tensorboard" && !output.has(*target);
    if (target && (to_nothing || target->ends_with(own_place))) {
      remove_hollow(output, entry.name);
    }
  }
}

/// Links the context itself in place of a copy.
Status link_context(const fs::path& context, const Directory& root, const fs::path& work) {
  std::error_code error;
  if (!fs::is_directory(context, error)) {
    return Error{Errc::not_found,
                 "the context directory " + context.string() +
                     " is not there on this worker's machine; source: in_place needs one file "
                     "system for all workers"};
  }
  const Status emptied = root.remove(work);
  return emptied ? root.make_link(context, work) : emptied;
}

Status copy_into(const fs::path& context, const Directory& root, const fs::path& work) {
  const Result<Directory> copy = root.directory(work);
  return copy ? copy_context(context, *copy) : Status(copy.error());
}

Status make_anew(const Directory& root, const std::string& context, bool in_place) {
  // The directory is from the same lease if the worker ended before its first report.
  const Result<std::vector<Entry>> entries = root.entries();
  if (!entries) {
    return entries.error();
  }
  for (const Entry& entry : *entries) {
    if (entry.name != spool_name) {
      if (const Status removed = files::remove_tree(root, entry.name); !removed) {
        return removed;
      }
    }
  }
  const fs::path work = "ml/usercode";
  const fs::path checkpoint = "ml/output/checkpoints";
  for (const fs::path& path :
       {checkpoint, work, fs::path(config_directory_name), fs::path("ml/input/data")}) {
    if (const Status made = root.make_directories(path); !made) {
      return made;
    }
  }
  const Result<Directory> checkpoints = root.directory(checkpoint);
  const Result<OwnDirectory> own = identity_of(root);
  const Result<OwnDirectory> for_checkpoints = checkpoints ? identity_of(*checkpoints) : checkpoints.error();
  if (!own || !for_checkpoints) {
    return own ? for_checkpoints.error() : own.error();
  }
  const MadeDirectories record{*own, *for_checkpoints};
  if (const Status written = write_json_file(root, record_name, record, false); !written) {
    return written;
  }
  // These links are for people.
  for (const auto& [name, target] :
       {std::pair("work", "ml/usercode"), {"checkpoint", "ml/output/checkpoints"}, {"output", "ml/output"}}) {
    if (const Status made = root.make_link(target, name); !made) {
      return made;
    }
  }
  if (context.empty()) {
    return Done{};
  }
  return in_place ? link_context(context, root, work) : copy_into(context, root, work);
}

}  // namespace

std::string mark_of(const std::string& socket) {
  return std::string(attempt_mark) + "=" + socket;
}

std::vector<ProcessInfo> leaked_processes_of(const ProcessRecord& record,
                                             const std::vector<ProcessInfo>& all) {
  std::vector<ProcessInfo> leaked_processes;
  if (record.boot_id != boot_id()) {
    return leaked_processes;
  }
  std::vector<pid_t> members;
  if (!record.group.empty()) {
    members = ControlGroup(record.group).processes();
  }
  std::vector<std::string> marks;
  if (!record.socket.empty()) {
    marks.push_back(mark_of(record.socket));
  }
  if (!record.mark.empty()) {
    marks.push_back(record.mark);
  }
  const auto is_marked = [&marks](const ProcessInfo& process) {
    return std::any_of(marks.begin(), marks.end(),
                       [&process](const std::string& mark) { return started_with(process.pid, mark); });
  };
  const auto pid = static_cast<pid_t>(record.pid);
  bool leader_is_ours = false;
  for (const ProcessInfo& process : all) {
    leader_is_ours = leader_is_ours || (process.pid == pid && process.start_time == record.start_time);
  }
  for (const ProcessInfo& process : all) {
    const bool in_session = leader_is_ours && process.session == pid;
    const bool in_group = std::find(members.begin(), members.end(), process.pid) != members.end();
    if (!process.dead() && (in_session || in_group || is_marked(process))) {
      leaked_processes.push_back(process);
    }
  }
  return leaked_processes;
}

AttemptDirectory::AttemptDirectory(const fs::path& attempts, const engine::AttemptKey& key)
    : root_(attempts / (std::to_string(key.experiment.number()) + "-" + std::to_string(key.trial.number()) +
                        "-" + engine::label_of(key))) {
}

fs::path AttemptDirectory::log(std::string_view stream, std::uint64_t process) const {
  return root_ / (std::string(stream) + (process == 0 ? "" : "." + std::to_string(process)) + ".log");
}

Result<Directory> AttemptDirectory::opened() const {
  if (open_ != nullptr) {
    Descriptor same(::fcntl(open_->descriptor(), F_DUPFD_CLOEXEC, 0));
    return same ? Result<Directory>(Directory(std::move(same), open_->name(), open_->rules()))
                : open_->failed("cannot open", "", errno);
  }
  const Result<Directory> attempts = Directory::open(root_.parent_path());
  return attempts ? attempts->directory(root_.filename()) : attempts.error();
}

Result<Directory> AttemptDirectory::made() const {
  if (const Status there = make_directories(root_.parent_path()); !there) {
    return there.error();
  }
  const Result<Directory> attempts = Directory::open(root_.parent_path());
  const Result<std::optional<Kind>> kind =
      attempts ? attempts->kind(root_.filename()) : Result<std::optional<Kind>>(attempts.error());
  if (kind && *kind == Kind::link) {
    remove_hollow(*attempts,
                  root_.filename());  // The worker may remove its own name, but not the target of a link.
  }
  const Status there = attempts ? attempts->make_directories(root_.filename()) : Status(attempts.error());
  return there ? attempts->directory(root_.filename()) : there.error();
}

bool AttemptDirectory::is_missing(const Error& error) const {
  const bool elsewhere = error.code == Errc::not_found || error.code == Errc::wrong_state;
  return elsewhere && Directory::open(root_.parent_path()).has_value();
}

Status AttemptDirectory::make(const std::string& context, bool in_place) const {
  try {
    const Result<Directory> root = made();
    return root ? make_anew(*root, context, in_place) : Status(root.error());
  } catch (const std::exception& error) {  // The file system library throws if memory is short.
    return Error{Errc::unavailable, "cannot prepare " + root_.string() + ": " + error.what()};
  }
}

Result<AttemptDirectory> AttemptDirectory::kept_open() const {
  Result<Directory> root = opened();
  if (!root) {
    return root.error();
  }
  AttemptDirectory same(root_);
  same.open_ = std::make_shared<const Directory>(*std::move(root));
  return same;
}

Status AttemptDirectory::hand_over(const UnixAccount& account) const {
  const auto uid = static_cast<std::uint32_t>(account.uid);
  const auto gid = static_cast<std::uint32_t>(account.gid);
  const Result<Directory> root = opened();
  const Status given = root ? files::give_tree(*root, "ml", uid, gid) : Status(root.error());
  const Result<Directory> ml = given ? root->directory("ml") : given.error();
  if (!ml) {
    return ml.error();
  }
  return ::fchmod(ml->descriptor(), 0700) == 0 && ::fchmod(root->descriptor(), 0711) == 0
             ? Status(Done{})
             : Status(root->failed("cannot change the mode of", "", errno));
}

Status AttemptDirectory::take_context(const std::string& context, bool in_place) const {
  const fs::path work = "ml/usercode";
  const Result<Directory> root = opened();
  if (!root || context.empty()) {
    return root ? Status(Done{}) : Status(root.error());
  }
  return in_place ? link_context(context, *root, work) : copy_into(context, *root, work);
}

Result<std::optional<UnixAccount>> AttemptDirectory::runs_as() const {
  const Result<LaunchOrder> order = read_launch_order(launch());
  if (!order && order.error().code != Errc::not_found) {
    return order.error();
  }
  return order ? order->program.account : std::nullopt;
}

Status AttemptDirectory::write_spool(std::string_view bytes, bool anew) const {
  if (anew) {
    const Result<Directory> root = made();
    return root ? root->write(spool_name, bytes, true, 0600)
                : Status(root.error());  // A launch order has secrets.
  }
  const Result<Directory> root = opened();
  const Result<Descriptor> file = root ? root->file_to_append_to(spool_name) : root.error();
  if (!file) {
    return file.error();
  }
  if (!write_all(file->get(), bytes) || ::fdatasync(file->get()) != 0) {
    return file_error("cannot write", spool(), errno);
  }
  return Done{};
}

Result<std::string> AttemptDirectory::read(const std::string& name, std::size_t limit) const {
  const Result<Directory> root = opened();
  return root ? root->read(name, limit) : Result<std::string>(root.error());
}

Status AttemptDirectory::write(const fs::path& name, std::string_view text) const {
  const Result<Directory> root = opened();
  return root ? root->write(name, text, false) : Status(root.error());
}

Status AttemptDirectory::write_process(const ProcessRecord& record) const {
  return write(process_name, engine::compact_json(proto::encode_value(record)) + "\n");
}

void AttemptDirectory::remove_process() const {
  if (const Result<Directory> root = opened()) {
    remove_file(*root, process_name);
  }
}

Status AttemptDirectory::process_can_be_read() const {
  const Result<std::string> text = read(process_name, longest_record);
  return text || text.error().code == Errc::not_found ? Status(Done{}) : Status(text.error());
}

std::optional<ProcessRecord> AttemptDirectory::read_process() const {
  Result<ProcessRecord> record = read_json_text<ProcessRecord>(read(process_name, longest_record));
  return record ? std::optional(*std::move(record)) : std::nullopt;
}

Result<OwnDirectory> AttemptDirectory::made_for_checkpoints() const {
  const Result<MadeDirectories> made = read_json_text<MadeDirectories>(read(record_name, longest_record));
  if (!made) {
    return made.error().code == Errc::corrupt
               ? Error{Errc::corrupt, (root_ / record_name).string() + " is damaged: " + made.error().message}
               : made.error();
  }
  return OwnDirectory{checkpoint(), made->checkpoint.device, made->checkpoint.inode};
}

Status AttemptDirectory::set_spool_aside() const {
  const Result<Directory> root = opened();
  return root ? files::move_entry(*root, spool_name, *root, "spool.broken") : Status(root.error());
}

void AttemptDirectory::remove_working_files() const {
  const Result<Directory> root = opened();
  const Result<MadeDirectories> made =
      root ? read_json_file<MadeDirectories>(*root, record_name) : Result<MadeDirectories>(root.error());
  if (!made || !is(*root, made->root)) {
    remove_what_was_never_made();
    return;
  }
  remove_file(*root, spool_name);  // First: without it, the next start removes the rest as garbage.
  // Parts of ml/ that the program has replaced stay, because they may be its only output.
  if (const Result<Directory> ml = root->directory("ml")) {
    static_cast<void>(files::remove_tree(*ml, "usercode").has_value());
    static_cast<void>(files::remove_tree(*ml, "input").has_value());
    if (const Result<Directory> output = ml->directory("output")) {
      const Result<Directory> checkpoints = output->directory("checkpoints");
      if (checkpoints && is(*checkpoints, made->checkpoint)) {
        static_cast<void>(files::remove_tree(*output, "checkpoints").has_value());
      }
      std::string own_place = "/" + root_.filename().string();  // The name that lay_output() gives it.
      std::replace(own_place.begin(), own_place.end(), '-', '/');
      remove_empty_channels(*output, own_place);
    }
    remove_hollow(*ml, "output");
  }
  remove_hollow(*root, "ml");
  for (const char* const name : {"staging", "fetched", "harness"}) {
    static_cast<void>(files::remove_tree(*root, name).has_value());
  }
  for (const char* const name : {"work", "checkpoint"}) {
    remove_hollow(*root, name);
  }
  if (!root->has("ml/output")) {
    remove_hollow(*root, "output");
  }
  for (const char* const name : {process_name, "journal", "launch", "container.json", "agent.socket",
                                 "socket", "context.json", record_name}) {
    remove_file(*root, name);
  }
}

void AttemptDirectory::remove_everything() const {
  const Result<Directory> attempts = Directory::open(root_.parent_path());
  const Result<Directory> root = opened();
  const Result<MadeDirectories> made =
      root ? read_json_file<MadeDirectories>(*root, record_name) : Result<MadeDirectories>(root.error());
  if (!made || !is(*root, made->root)) {
    remove_what_was_never_made();
    return;
  }
  remove_file(*root, spool_name);
  static_cast<void>(files::remove_tree(*attempts, root_.filename()).has_value());
}

/// At this point only the spool was written. If a directory has other files, or is a link, the program has
/// made it: a link's name becomes free again, and nothing else is changed.
void AttemptDirectory::remove_what_was_never_made() const {
  const Result<Directory> attempts = Directory::open(root_.parent_path());
  if (!attempts) {
    return;
  }
  const Result<Directory> root = attempts->directory(root_.filename());
  const Result<std::vector<Entry>> entries =
      root ? root->entries() : Result<std::vector<Entry>>(root.error());
  if (entries && entries->size() == 1 && entries->front().name == spool_name) {
    remove_file(*root, spool_name);
  }
  remove_hollow(*attempts, root_.filename());
}

}  // namespace hpsearch::workers
