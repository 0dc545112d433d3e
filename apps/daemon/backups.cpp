#include "daemon/backups.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "daemon/store/durable_file.hpp"
#include "daemon/store/new_store_file.hpp"

namespace hpsearch::daemon {

using engine::Errc;
using engine::Error;
using engine::Result;

// 4 MiB: a commit that comes meanwhile waits for no more.
constexpr int pages_per_step = 1'024;

Backups::Backups(Runtime& runtime, SqliteStore& store, std::string directory)
    : runtime_(runtime), store_(store), directory_(std::move(directory)) {
  std::error_code none;
  const auto present = std::filesystem::file_time_type::clock::now();
  for (const auto& entry : std::filesystem::directory_iterator(directory_, none)) {
    std::error_code gone;
    const auto written = entry.last_write_time(gone);
    if (!gone && entry.path().extension() == ".db") {
      const auto age = std::chrono::duration_cast<std::chrono::microseconds>(present - written).count();
      const auto made =
          engine::Instant::from_micros(runtime_.now().micros() - std::max<std::int64_t>(0, age));
      last_made_ = last_made_ ? std::max(*last_made_, made) : made;
    }
  }
}

struct Backups::Making {
  Answer answer;
  std::string path;
  std::unique_ptr<NewStoreFile> file;
  std::optional<SqliteFile::Copy> copy;

  /// True when there is more to copy.
  Result<bool> step(SqliteStore& store) {
    if (!file) {
      auto begun = NewStoreFile::begin(path);
      if (!begun) {
        return begun.error();
      }
      file = std::move(begun).value();
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
    answer(Error{Errc::wrong_state, "a backup is being made already; ask again when it is done"});
    return;
  }
  if (::mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST) {
    answer(system_error("cannot make the directory " + directory_));
    return;
  }
  making_ = true;
  auto making = std::make_shared<Making>();
  making->answer = std::move(answer);
  making->path = directory_ + "/events-" + std::to_string(runtime_.daemon_epoch()) + "-" +
                 std::to_string(runtime_.engine().last_lsn().number()) + ".db";
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
        last_made_ = runtime_.now();
      }
      making->answer(more ? Result<std::string>(making->path) : Result<std::string>(more.error()));
    };
  });
}

}  // namespace hpsearch::daemon
