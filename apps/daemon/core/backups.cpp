#include "daemon/core/backups.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "daemon/store/files/file_sync.hpp"
#include "daemon/store/files/file_system.hpp"
#include "daemon/store/files/new_store_file.hpp"
#include "daemon/store/tools/last_backup.hpp"
#include "hpsearch/io/net/log.hpp"

namespace hpsearch::daemon {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

constexpr engine::Duration longest_use = engine::Duration::seconds(3'600);
// 4 MiB: a commit waits for at most this much.
constexpr int pages_per_step = 1'024;

namespace {

bool is_copy(std::string_view name) {
  return name.starts_with("events-") && name.find(".db") != std::string_view::npos;
}

}  // namespace

Backups::Backups(Runtime& runtime, SqliteStore& store, std::string state_directory)
    : runtime_(runtime),
      store_(store),
      state_directory_(std::move(state_directory)),
      directory_(state_directory_ + backups_directory) {
  for (const std::string& name : kernel_files().names_in(directory_)) {
    if (is_copy(name)) {
      kernel_files().remove(directory_ + "/" + name);
    }
  }
  if (const auto last = last_backup_of(state_directory_)) {
    last_good_ = std::min(runtime_.now(), *last);
  }
}

struct Backups::Making {
  Answer answer;
  std::string path;
  engine::Instant begun;
  std::unique_ptr<NewStoreFile> file;
  std::optional<SqliteFile::Copy> copy;

  /// True when there is more to copy.
  Result<bool> step(SqliteStore& store) {
    if (!file) {
      auto draft = NewStoreFile::begin(path);
      if (!draft) {
        return draft.error();
      }
      file = std::move(draft).value();
      auto copying = store.copy_to(file->file());
      if (!copying) {
        return copying.error();
      }
      copy.emplace(std::move(copying).value());
    }
    const auto more = copy->step(pages_per_step);
    if (!more || *more) {
      return more;
    }
    copy.reset();
    if (auto finished = file->finish(); !finished) {
      return finished.error();
    }
    return false;
  }

  void end() {
    copy.reset();
    file.reset();
  }
};

void Backups::make(Answer answer) {
  if (making_) {
    answer(Error{Errc::wrong_state, "a backup is being made already; try again when it is done"});
    return;
  }
  if (::mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST) {
    answer(system_error("cannot make the directory " + directory_));
    return;
  }
  drop_copy();
  making_ = true;
  auto making = std::make_shared<Making>();
  making->answer = std::move(answer);
  making->begun = runtime_.now();
  making->path = directory_ + "/events-" + std::to_string(runtime_.daemon_epoch()) + "-" +
                 std::to_string(runtime_.engine().last_lsn().number()) + "-" + std::to_string(++made_) +
                 ".db";
  go_on(making);
}

void Backups::go_on(const std::shared_ptr<Making>& making) {
  runtime_.read([this, making](EventStore&) -> Committer::Then {
    const Result<bool> more = making->step(store_);
    if (!more || !*more) {
      making->end();
    }
    return [this, making, more] {
      if (more && *more) {
        go_on(making);
        return;
      }
      making_ = false;
      if (more) {
        copy_ = Copy{making->path, making->begun};
      }
      making->answer(more ? Result<std::string>(making->path) : Result<std::string>(more.error()));
    };
  });
}

void Backups::drop_copy() noexcept {
  if (copy_) {
    kernel_files().remove(copy_->path);
    copy_.reset();
  }
}

bool Backups::in_use() const {
  return making_ || (copy_ && runtime_.now() - copy_->made < longest_use);
}

void Backups::found_older(engine::Instant made) noexcept {
  last_good_ = std::max(last_good_.value_or(engine::Instant{}), std::min(runtime_.now(), made));
}

Status Backups::conclude(const std::string& path, Became became) {
  if (!copy_ || copy_->path != path) {
    return Error{Errc::not_found, "there is no copy of the store at " + path +
                                      "; another backup was begun after it, or the daemon was started again"};
  }
  if (became == Became::backup) {
    last_good_ = copy_->made;
    if (const Status noted = note_backup(state_directory_, *last_good_); !noted) {
      net::log(net::Level::warning,
               noted.error().message + ". The age of backups is unknown after a restart");
    }
  }
  drop_copy();
  return Done{};
}

}  // namespace hpsearch::daemon
