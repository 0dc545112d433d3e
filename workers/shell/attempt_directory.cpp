#include "hpsearch/workers/shell/attempt_directory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

#include "hpsearch/context/context_files.hpp"
#include "hpsearch/workers/core/attempt_places.hpp"
#include "hpsearch/workers/shell/control_group.hpp"
#include "hpsearch/workers/shell/files.hpp"
#include "hpsearch/workers/shell/json_file.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

namespace {

constexpr std::size_t longest_record = 64 * 1024;

Status copy_context(const fs::path& context, const fs::path& work) {
  const auto files = context::context_files(context);
  if (!files) {
    return files.error().code != Errc::not_found
               ? files.error()
               : Error{Errc::not_found,
                       "the context directory " + context.string() +
                           " is not there (any more) on this worker's machine; bring it back, or "
                           "submit the experiment from where it lies now"};
  }
  for (const context::ContextFile& file : *files) {
    const fs::path place = work / file.path;
    std::error_code error;
    switch (file.kind) {
      case context::ContextFile::Kind::directory:
        fs::create_directory(place, error);
        break;
      case context::ContextFile::Kind::link:
        fs::create_symlink(file.target, place, error);
        break;
      case context::ContextFile::Kind::file:
        if (const Status copied = copy_one_file(context / file.path, place); !copied) {
          return copied;
        }
        break;
    }
    if (error) {
      return file_error("cannot make", place, error);
    }
  }
  return Done{};
}

/// Output channels in which nothing is, and those that only lead elsewhere.
void remove_empty_channels(const fs::path& output) {
  std::error_code error;
  std::vector<fs::path> links;
  for (fs::directory_iterator at(output, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_symlink(ignored)) {
      links.push_back(at->path());
    } else if (at->is_directory(ignored)) {
      fs::remove(at->path(), ignored);
    }
  }
  for (const fs::path& link : links) {
    const bool leads_inside = fs::read_symlink(link, error).is_relative();
    if (!leads_inside || !fs::exists(link, error)) {
      fs::remove(link, error);
    }
  }
}

/// The context itself in the place of a copy.
Status link_context(const fs::path& context, const fs::path& work) {
  std::error_code error;
  if (!fs::is_directory(context, error)) {
    return Error{Errc::not_found,
                 "the context directory " + context.string() +
                     " is not there on this worker's machine; source: in_place needs one file "
                     "system for all workers"};
  }
  fs::remove(work, error);
  fs::create_directory_symlink(context, work, error);
  return error ? Status(file_error("cannot make link", work, error)) : Status(Done{});
}

Status make_anew(const AttemptDirectory& directory, const std::string& context, bool in_place) {
  // Of the same lease, before this worker died on the way to its first report.
  std::error_code error;
  for (fs::directory_iterator at(directory.root(), error), end; !error && at != end; at.increment(error)) {
    if (at->path() != directory.spool()) {
      remove_tree(at->path());
    }
  }
  for (const fs::path& path :
       {directory.work(), directory.config(), directory.data(), directory.checkpoint()}) {
    if (const Status made = make_directories(path); !made) {
      return made;
    }
  }
  // For people.
  for (const auto& [name, target] :
       {std::pair("work", "ml/usercode"), {"checkpoint", "ml/output/checkpoints"}, {"output", "ml/output"}}) {
    fs::create_symlink(target, directory.root() / name, error);
    if (error) {
      return file_error("cannot make link", directory.root() / name, error);
    }
  }
  if (context.empty()) {
    return Done{};
  }
  return in_place ? link_context(context, directory.work()) : copy_context(context, directory.work());
}

}  // namespace

std::vector<std::string> marks_of(const std::string& socket) {
  return {std::string(attempt_mark) + "=" + socket, "HPSEARCH_SOCKET=" + socket};
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
  const std::vector<std::string> marks = marks_of(record.socket);
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

Status AttemptDirectory::make(const std::string& context, bool in_place) const {
  try {
    const Status made = make_anew(*this, context, in_place);
    return made ? write_checkpoint_record() : made;
  } catch (const std::exception& error) {  // The file system library throws when memory is short.
    return Error{Errc::unavailable, "cannot prepare " + root_.string() + ": " + error.what()};
  }
}

Status AttemptDirectory::write_spool(std::string_view bytes, bool anew) const {
  if (anew) {
    const Status made = make_directories(root_);
    return made ? write_file(spool(), bytes, true, Readers::owner) : made;  // A lease holds secrets.
  }
  const Descriptor file(::open(spool().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!file || !write_all(file.get(), bytes) || ::fdatasync(file.get()) != 0) {
    return file_error("cannot write", spool(), errno);
  }
  return Done{};
}

Status AttemptDirectory::write_process(const ProcessRecord& record) const {
  return write_json_file(process(), record, false);
}

Status AttemptDirectory::process_can_be_read() const {
  const Result<std::string> text = read_file(process(), longest_record);
  return text || text.error().code == Errc::not_found ? Status(Done{}) : Status(text.error());
}

std::optional<ProcessRecord> AttemptDirectory::read_process() const {
  Result<ProcessRecord> record = read_json_file<ProcessRecord>(process(), longest_record);
  return record ? std::optional(*std::move(record)) : std::nullopt;
}

Status AttemptDirectory::write_checkpoint_record() const {
  const Result<OwnDirectory> made = own_directory_at(checkpoint());
  return made ? write_json_file(checkpoint_record(), *made, false) : Status(made.error());
}

Result<OwnDirectory> AttemptDirectory::made_for_checkpoints() const {
  Result<OwnDirectory> made = read_json_file<OwnDirectory>(checkpoint_record(), longest_record);
  if (made) {
    made->path = checkpoint();
  } else if (made.error().code == Errc::corrupt) {
    return Error{Errc::corrupt, checkpoint_record().string() + " is damaged: " + made.error().message};
  }
  return made;
}

/// What of ml/ the program has replaced stays, and nothing is removed through a link: it may be all that
/// somebody has.
void AttemptDirectory::remove_working_tree() const {
  std::error_code error;
  if (fs::is_directory(fs::symlink_status(ml(), error))) {
    remove_tree(ml() / "usercode");
    remove_tree(ml() / "input");
    if (fs::is_directory(fs::symlink_status(output(), error))) {
      if (const Result<OwnDirectory> made = made_for_checkpoints(); made && open_own_directory(*made)) {
        remove_tree(checkpoint());
      }
      remove_empty_channels(output());
    }
    fs::remove(output(), error);  // Only when nothing is in it, as all of these; of a link, the link.
  }
  fs::remove(ml(), error);
}

void AttemptDirectory::remove_working_files() const {
  std::error_code error;
  fs::remove(spool(), error);  // First: without it, the rest is litter that the next start takes away.
  remove_working_tree();
  for (const fs::path& path : {root_ / "work", root_ / "checkpoint", staging(), fetched(), harness()}) {
    remove_tree(path);
  }
  const fs::path link = root_ / "output";
  if (!fs::exists(link, error) || fs::is_directory(fs::symlink_status(link, error))) {
    fs::remove(link, error);
  }
  for (const fs::path& path : {checkpoint_record(), process(), journal(), launch(), container(),
                               root_ / "agent.socket", root_ / "socket"}) {
    fs::remove(path, error);
  }
}

void AttemptDirectory::remove_everything() const {
  std::error_code error;
  fs::remove(spool(), error);
  remove_tree(root_);
}

}  // namespace hpsearch::workers
