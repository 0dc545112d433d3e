#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/io/files/directory.hpp"
#include "hpsearch/proto/encoding/spell.hpp"
#include "hpsearch/workers/core/launch/launch_environment.hpp"
#include "hpsearch/workers/core/launch/run_as.hpp"
#include "hpsearch/workers/shell/own_directory.hpp"
#include "hpsearch/workers/shell/processes/process_table.hpp"

namespace hpsearch::workers {

/// Identifies the process of an attempt's program after this worker has ended.
struct ProcessRecord {
  std::int64_t pid = 0;
  std::uint64_t start_time = 0;
  std::string boot_id;
  std::string socket;
  std::string group = {};  ///< The directory of its cgroup, or "".
  std::string mark = {};   ///< If the program was a spare: the assignment with which it was started; or "".
};

void spell(auto& fields, proto::Is<ProcessRecord> auto& record) {
  fields("pid", record.pid);
  fields("start_time", record.start_time);
  fields("boot_id", record.boot_id);
  fields("socket", record.socket);
  fields.maybe("group", record.group);
  fields.maybe("mark", record.mark);
}

/// The assignment in the environment of every program of the attempt with this report socket.
[[nodiscard]] std::string mark_of(const std::string& socket);

/// The processes of a recorded program that still run: its session, and processes with its mark. None if the
/// machine was restarted since then: another process may have the pid.
[[nodiscard]] std::vector<ProcessInfo> leaked_processes_of(const ProcessRecord& record,
                                                           const std::vector<ProcessInfo>& all);

/// One attempt's directory:
///
///   spool  journal  launch  shim.log  agent.socket
///   ml/usercode/  ml/input/config/  ml/input/data/  ml/output/<channel>/
///   stdout.log  stderr.log  [stdout.N.log  stderr.N.log]  [utilization.log]  params.json  process.json
///   [container.json]
///   [socket]  [harness/] [context.json] checkpoint.json work → ml/usercode  checkpoint →
///   ml/output/checkpoints  output → ml/output
///
/// PAI's programs see ml/ as /ml. Its usercode is a private copy of the experiment's
/// context directory and the program's current directory. While the spool exists, the attempt is not over.
class AttemptDirectory {
 public:
  AttemptDirectory(const std::filesystem::path& attempts, const engine::AttemptKey& key);
  explicit AttemptDirectory(std::filesystem::path root) : root_(std::move(root)) {}

  [[nodiscard]] const std::filesystem::path& root() const noexcept { return root_; }
  [[nodiscard]] std::filesystem::path spool() const { return root_ / "spool"; }
  [[nodiscard]] std::filesystem::path journal() const { return root_ / "journal"; }
  [[nodiscard]] std::filesystem::path launch() const { return root_ / "launch"; }
  [[nodiscard]] std::filesystem::path ml() const { return root_ / "ml"; }
  [[nodiscard]] std::filesystem::path work() const { return ml() / "usercode"; }
  [[nodiscard]] std::filesystem::path config() const { return root_ / config_directory_name; }
  [[nodiscard]] std::filesystem::path data() const { return ml() / "input" / "data"; }
  [[nodiscard]] std::filesystem::path output() const { return ml() / "output"; }
  [[nodiscard]] std::filesystem::path checkpoint() const { return output() / "checkpoints"; }
  [[nodiscard]] std::filesystem::path staging() const {
    return root_ / "staging";
  }  ///< Checkpoints to upload.
  [[nodiscard]] std::filesystem::path fetched() const {
    return root_ / "fetched";
  }  ///< The one it starts from.
  [[nodiscard]] std::filesystem::path params() const { return root_ / params_file_name; }
  [[nodiscard]] std::filesystem::path process() const { return root_ / "process.json"; }
  [[nodiscard]] std::filesystem::path container() const {
    return root_ / "container.json";
  }  ///< The container that may still exist.
  [[nodiscard]] std::filesystem::path harness() const { return root_ / "harness"; }
  /// `process`: the number of one of the attempt's processes here, if it has one per slot.
  [[nodiscard]] std::filesystem::path log(std::string_view stream, std::uint64_t process = 0) const;

  /// Makes it again, except the spool, with a copy of the files from context_files() of `context` ("" = none)
  /// as its usercode, or `in_place` with a link to the context itself. not_found: the context doesn't exist.
  /// Cost: a copy of the context; don't call it on the loop.
  [[nodiscard]] engine::Status make(const std::string& context, bool in_place = false) const;

  /// The same directory, whose opened() needs no rights for the directories above it.
  [[nodiscard]] engine::Result<AttemptDirectory> kept_open() const;

  /// Gives the program's part of the directory, ml/, to its user, and closes it to all others. The rest stays
  /// the worker's; that user may pass through it.
  [[nodiscard]] engine::Status hand_over(const UnixAccount& account) const;

  /// Copies a context like make(), into the usercode of an attempt that was made without one. For a context
  /// in a place that the program's user names.
  [[nodiscard]] engine::Status take_context(const std::string& context, bool in_place) const;

  /// The user of the attempt's program, from its launch order; none = the worker's own user, or it never ran.
  /// unavailable, corrupt: the order can't be read.
  [[nodiscard]] engine::Result<std::optional<UnixAccount>> runs_as() const;

  /// Opens the directory below that of all attempts. If a program has replaced it by a link, the link isn't
  /// followed. not_found, wrong_state, unavailable: as for files::Directory.
  [[nodiscard]] engine::Result<files::Directory> opened() const;

  /// Whether an error of these functions concerns only this directory: its program has removed or replaced
  /// it.
  [[nodiscard]] bool is_missing(const engine::Error& error) const;

  /// The content of a file in it. Links aren't followed.
  [[nodiscard]] engine::Result<std::string> read(const std::string& name, std::size_t limit) const;
  engine::Status write(const std::filesystem::path& name, std::string_view text) const;

  /// The directory for checkpoints that make() made, even if it was replaced since.
  /// not_found, corrupt, unavailable: checkpoint.json, which has it, is missing, damaged or can't be read.
  [[nodiscard]] engine::Result<OwnDirectory> made_for_checkpoints() const;

  /// Appends to the spool or replaces it; durable when it returns. unavailable: the write failed; after a
  /// failed append, the end of the file is unknown.
  engine::Status write_spool(std::string_view bytes, bool anew) const;

  engine::Status write_process(const ProcessRecord& record) const;
  void remove_process() const;
  /// Fails if read_process() can't distinguish a missing record from an unreadable one.
  [[nodiscard]] engine::Status process_can_be_read() const;
  [[nodiscard]] std::optional<ProcessRecord> read_process()
      const;  ///< Nothing if no program ran or all processes have exited.

  /// Renames an unreadable spool, so that an operator can look at it.
  [[nodiscard]] engine::Status set_spool_aside() const;

  /// Removes files that aren't needed after the exit of the program; logs and outputs stay, and everything
  /// that the program has put in place of the worker's directories, with the targets of its links. If the
  /// whole directory was replaced, everything in it stays.
  void remove_working_files() const;
  void remove_everything() const;

 private:
  [[nodiscard]] engine::Result<files::Directory> made() const;
  void remove_what_was_never_made() const;

  std::filesystem::path root_;
  std::shared_ptr<const files::Directory> open_;  ///< Set by kept_open().
};

}  // namespace hpsearch::workers
