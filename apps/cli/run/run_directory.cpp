#include "cli/run/run_directory.hpp"

#include "cli/client/search_places.hpp"
#include "daemon/store/files/owner_record.hpp"
#include "hpsearch/io/files/file_system_kind.hpp"
#include "hpsearch/io/files/state_place.hpp"

namespace hpsearch::cli {
namespace {

using engine::Done;

Outcome<Done> open_state_directory(RunSession& run) {
  std::error_code ignored;
  run.made_directory = !std::filesystem::exists(run.state.path(), ignored) ||
                       std::filesystem::is_empty(run.state.path(), ignored);
  if (const auto made = make_private_directory(run.state.path()); !made) {
    return made.failure();
  }
  Outcome<FileLock> lock =
      FileLock::take(run.state.lock_file(), "the state directory " + run.state.path().string());
  if (!lock) {
    Failure failure = lock.failure();
    if (failure.exit == Exit::conflict) {
      failure.message += "; stop that process, or use another --state-dir";
    }
    return failure;
  }
  run.lock.emplace(std::move(*lock));
  return Done{};
}

/// Checks, before anything is made or moved there, that its file system is suitable and no other host has it.
Outcome<Done> look_at_place(RunSession& run) {
  const daemon::OwnerFile owner(run.state.daemon().string(), daemon::this_owner());
  if (const auto free = owner.check_free(); !free && !run.options.take_over) {
    return conflict_failure(free.error().message);
  }
  const files::FileSystemKind on = files::file_system_at(run.state.path().string());
  if (on.trust == files::Trust::local) {
    return Done{};
  }
  const auto known = load_run_record(run.state);
  const bool allowed = run.options.allow_network_filesystem ||
                       (!run.options.fresh && known && *known && (*known)->allow_network_filesystem);
  const auto accepted =
      files::accept_place(run.state.path().string(), on,
                          allowed ? files::NetworkFileSystems::allowed : files::NetworkFileSystems::refused);
  if (!accepted) {
    return usage_failure(accepted.error().message);
  }
  if (const auto made = make_private_directory(run.state.path()); !made) {
    return made.failure();
  }
  if (const auto passed = files::check_place(run.state.path().string(), on); !passed) {
    return passed.error().code == engine::Errc::bad_request ? usage_failure(passed.error().message)
                                                            : plain_failure(passed.error().message);
  }
  if (!files::is_warned(run.state.daemon().string(), on)) {
    run.say()(files::warning_of(run.state.path().string(), on));
  }
  return Done{};
}

}  // namespace

Outcome<Done> take_state_directory(RunSession& run) {
  std::error_code error;
  const auto place = run.options.state_dir
                         ? Outcome<std::filesystem::path>(std::filesystem::path(*run.options.state_dir))
                         : state_directory_of(run.file.stem, run.file_path());
  if (!place) {
    return place.failure();
  }
  const std::filesystem::path absolute = std::filesystem::absolute(*place, error).lexically_normal();
  if (error) {
    return storage_failure("cannot find " + place->string(), error.value());
  }
  // "dir/" and "dir" are one directory; moving it aside needs its name.
  run.state = StateDirectory(absolute.has_filename() ? absolute : absolute.parent_path());
  if (const auto accepted = look_at_place(run); !accepted) {
    return accepted.failure();
  }
  if (const auto opened = open_state_directory(run); !opened) {
    return opened.failure();
  }
  std::error_code ignored;
  if (run.options.fresh &&
      (std::filesystem::exists(run.state.run_file(), ignored) || run.state.has_store())) {
    if (const auto free = PrivateCluster::await_free(run.state, run.say(), run.hurry()); !free) {
      return free.failure();
    }
    const auto moved = move_aside(run.state);
    if (!moved) {
      return moved.failure();
    }
    run.output.message("the earlier search is now in " + moved->string());
    run.lock.reset();
    if (const auto opened = open_state_directory(run); !opened) {
      return opened.failure();
    }
  }
  return Done{};
}

void remove_unused_directory(RunSession& run) {
  const bool is_ours = run.lock && run.made_directory;
  if (!is_ours || run.resumes || run.record.experiment || lock_holder(run.state.daemon() / "lock")) {
    return;
  }
  std::error_code ignored;
  for (const auto& made :
       {run.state.daemon(), run.state.run_file(), run.state.daemon_log(), run.state.lock_file()}) {
    std::filesystem::remove_all(made, ignored);
  }
  const std::filesystem::path around = run.state.path().parent_path();
  // Neither is removed while anything else is in it.
  if (std::filesystem::remove(run.state.path(), ignored) && around.filename() == ".hpsearch") {
    std::filesystem::remove(around, ignored);
  }
}

}  // namespace hpsearch::cli
