#include "daemon/store/files/new_store_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "daemon/store/files/file_sync.hpp"
#include "daemon/store/files/placed_files.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

Error taken(const std::string& path) {
  return Error{Errc::wrong_state, path + " exists already, and is left as it is; name another place"};
}

/// Checks that the path is free, and that there is no file that SQLite would take for a part of the new one
/// and write its old pages over it.
Status nothing_at(const std::string& path) {
  if (::access(path.c_str(), F_OK) == 0) {
    return taken(path);
  }
  for (const char* const ending : {"-wal", "-journal", "-shm"}) {
    if (::access((path + ending).c_str(), F_OK) == 0) {
      return Error{
          Errc::wrong_state,
          path + ending +
              " is left of a store that was here before, and would be taken for a part of the new one; "
              "move it to where that store is now, or name another place"};
    }
  }
  if (const std::string second = second_name_of(path); ::access(second.c_str(), F_OK) == 0) {
    return Error{Errc::wrong_state,
                 second +
                     " is a store that was here before, and would be replaced by the new one; move it to "
                     "where it is safe, or name another place"};
  }
  return Done{};
}

}  // namespace

Result<std::unique_ptr<NewStoreFile>> NewStoreFile::begin(const std::string& path) {
  if (const Status nothing = nothing_at(path); !nothing) {
    return nothing.error();
  }
  std::unique_ptr<NewStoreFile> made(new NewStoreFile(path));
  made->remove_draft();
  {  // SQLite would let others read it, and creates its journals with the mode of the file.
    const Descriptor own(::open(made->draft_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!own || ::fchmod(own.get(), 0600) != 0) {
      return system_error("cannot write " + made->draft_);
    }
  }
  SqliteFile& file = made->file_.emplace();
  if (auto opened = file.open(made->draft_); !opened) {
    return opened.error();
  }
  if (auto done = file.run("PRAGMA locking_mode=EXCLUSIVE; PRAGMA synchronous=FULL", "cannot write"); !done) {
    return done.error();
  }
  return made;
}

NewStoreFile::~NewStoreFile() {
  file_.reset();
  remove_draft();
}

Status NewStoreFile::finish() {
  file_.reset();
  const Descriptor draft(::open(draft_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!draft || ::fsync(draft.get()) != 0) {
    return system_error("cannot make " + draft_ + " durable");
  }
  if (const Status nothing = nothing_at(path_); !nothing) {
    return nothing;
  }
  // Unlike rename, link refuses if the path exists.
  if (::link(draft_.c_str(), path_.c_str()) != 0) {
    return errno == EEXIST ? taken(path_) : system_error("cannot write " + path_);
  }
  const std::size_t slash = path_.rfind('/');
  const Status named = sync_directory(slash == std::string::npos ? "." : path_.substr(0, slash + 1));
  if (!named) {
    ::unlink(path_.c_str());  // No caller learns of it, and it would block the next one.
  }
  return named;
}

void NewStoreFile::remove_draft() const noexcept {
  for (const char* const ending : {"", "-journal", "-wal"}) {
    ::unlink((draft_ + ending).c_str());
  }
}

}  // namespace hpsearch::daemon
