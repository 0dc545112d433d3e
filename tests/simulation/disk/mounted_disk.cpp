#include "simulation/disk/mounted_disk.hpp"

#include <sqlite3.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace hpsearch::simulation {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

namespace {

std::string directory_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

Error failed(const std::string& doing, int error) {
  return Error{Errc::unavailable, doing + ": " + std::strerror(error)};
}

std::span<const std::byte> bytes_at(const void* data, std::size_t size) {
  return {static_cast<const std::byte*>(data), size};
}

class Writer final : public daemon::FileWriter {
 public:
  Writer(MountedDisk& disk, DiskImage::FileId file, std::string path)
      : disk_(disk), file_(file), path_(std::move(path)) {}

  Status write(std::span<const std::byte> bytes) override {
    if (const int error = disk_.call(DiskCall::write, path_)) {
      return failed("cannot write " + path_, error);
    }
    disk_.image().write(file_, disk_.image().content(file_).size(), bytes);
    return Done{};
  }
  Status sync() override {
    if (const int error = disk_.call(DiskCall::sync, path_)) {
      if (!disk_.dead()) {
        disk_.image().fail_to_sync(file_);
      }
      return failed("cannot make " + path_ + " durable", error);
    }
    disk_.image().sync(file_);
    return Done{};
  }

 private:
  MountedDisk& disk_;
  DiskImage::FileId file_;
  std::string path_;
};

/// A file as SQLite has it open.
struct OpenFile {
  sqlite3_file base;  // First: SQLite knows nothing else of it.
  MountedDisk* disk;
  DiskImage::FileId id;
  std::string path;  // "" for one without a name, which is nobody's concern.
  int last_error;
  bool name_to_sync;

  static OpenFile& of(sqlite3_file* file) { return *reinterpret_cast<OpenFile*>(file); }

  int call(DiskCall kind) {
    last_error = path.empty() ? 0 : disk->call(kind, path);
    return last_error;
  }
};

int close(sqlite3_file* file) {
  OpenFile::of(file).~OpenFile();
  return SQLITE_OK;
}

int read(sqlite3_file* file, void* to, int size, sqlite3_int64 at) {
  OpenFile& open = OpenFile::of(file);
  const std::span<std::byte> bytes(static_cast<std::byte*>(to), static_cast<std::size_t>(size));
  if (open.disk->dead()) {
    open.last_error = EIO;
    return SQLITE_IOERR_READ;
  }
  const std::size_t read = open.disk->image().content(open.id).read(static_cast<std::size_t>(at), bytes);
  std::memset(bytes.data() + read, 0, bytes.size() - read);
  return read == bytes.size() ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

int write(sqlite3_file* file, const void* from, int size, sqlite3_int64 at) {
  OpenFile& open = OpenFile::of(file);
  if (const int error = open.call(DiskCall::write)) {
    return error == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE;
  }
  open.disk->image().write(open.id, static_cast<std::size_t>(at),
                           bytes_at(from, static_cast<std::size_t>(size)));
  return SQLITE_OK;
}

int truncate(sqlite3_file* file, sqlite3_int64 size) {
  OpenFile& open = OpenFile::of(file);
  if (open.call(DiskCall::truncate) != 0) {
    return SQLITE_IOERR_TRUNCATE;
  }
  open.disk->image().truncate(open.id, static_cast<std::size_t>(size));
  return SQLITE_OK;
}

int sync(sqlite3_file* file, int /*flags*/) {
  OpenFile& open = OpenFile::of(file);
  if (open.call(DiskCall::sync) != 0) {
    if (!open.disk->dead()) {
      open.disk->image().fail_to_sync(open.id);
    }
    return SQLITE_IOERR_FSYNC;
  }
  open.disk->image().sync(open.id);
  if (std::exchange(open.name_to_sync, false)) {
    return open.disk->sync_directory(directory_of(open.path)) ? SQLITE_OK : SQLITE_IOERR_DIR_FSYNC;
  }
  return SQLITE_OK;
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  OpenFile& open = OpenFile::of(file);
  if (open.disk->dead()) {
    return SQLITE_IOERR_FSTAT;
  }
  *size = static_cast<sqlite3_int64>(open.disk->image().content(open.id).size());
  return SQLITE_OK;
}

// Only one process has the disk.
int lock(sqlite3_file* /*file*/, int /*kind*/) {
  return SQLITE_OK;
}
int check_reserved_lock(sqlite3_file* /*file*/, int* reserved) {
  *reserved = 0;
  return SQLITE_OK;
}

int control(sqlite3_file* file, int operation, void* argument) {
  if (operation == SQLITE_FCNTL_LAST_ERRNO) {
    *static_cast<int*>(argument) = OpenFile::of(file).last_error;
    return SQLITE_OK;
  }
  return SQLITE_NOTFOUND;
}

// As SQLite's own unix files say.
int sector_size(sqlite3_file* /*file*/) {
  return 4'096;
}
int characteristics(sqlite3_file* /*file*/) {
  return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

// Without shared memory: a write-ahead log then takes the exclusive lock, which the store takes anyway.
const sqlite3_io_methods file_methods{1,
                                      close,
                                      read,
                                      write,
                                      truncate,
                                      sync,
                                      file_size,
                                      lock,
                                      lock,
                                      check_reserved_lock,
                                      control,
                                      sector_size,
                                      characteristics,
                                      nullptr,
                                      nullptr,
                                      nullptr,
                                      nullptr,
                                      nullptr,
                                      nullptr};

MountedDisk& disk_of(sqlite3_vfs* vfs) {
  return *static_cast<MountedDisk*>(vfs->pAppData);
}

int open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out_flags) {
  MountedDisk& disk = disk_of(vfs);
  file->pMethods = nullptr;
  const std::string name = path == nullptr ? "" : path;
  std::optional<DiskImage::FileId> id =
      name.empty() ? disk.image().create_nameless() : disk.image().find(name);
  const bool may_create = (flags & SQLITE_OPEN_CREATE) != 0;
  if (!id) {
    if (!may_create || disk.call(DiskCall::create, name) != 0) {
      return SQLITE_CANTOPEN;
    }
    id = disk.image().create(name);
  } else if (disk.dead()) {
    return SQLITE_CANTOPEN;
  }
  const bool journal = (flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL)) != 0;
  new (file) OpenFile{{&file_methods}, &disk, *id, name, 0, may_create && journal};
  if (out_flags != nullptr) {
    *out_flags = flags;
  }
  return SQLITE_OK;
}

int remove(sqlite3_vfs* vfs, const char* path, int sync_directory) {
  MountedDisk& disk = disk_of(vfs);
  if (!disk.image().find(path)) {
    return SQLITE_IOERR_DELETE_NOENT;
  }
  if (disk.call(DiskCall::remove, path) != 0) {
    return SQLITE_IOERR_DELETE;
  }
  disk.image().remove(path);
  return sync_directory == 0 || disk.sync_directory(directory_of(path)) ? SQLITE_OK : SQLITE_IOERR_DIR_FSYNC;
}

int access(sqlite3_vfs* vfs, const char* path, int /*flags*/, int* there) {
  *there = disk_of(vfs).image().find(path) ? 1 : 0;
  return SQLITE_OK;
}

int full_path(sqlite3_vfs* /*vfs*/, const char* path, int size, char* full) {
  std::strncpy(full, path, static_cast<std::size_t>(size));
  return SQLITE_OK;
}

int randomness(sqlite3_vfs* /*vfs*/, int size, char* bytes) {
  std::memset(bytes, 7, static_cast<std::size_t>(size));
  return size;
}

int sleep(sqlite3_vfs* /*vfs*/, int /*micros*/) {
  return 0;
}

int current_time(sqlite3_vfs* /*vfs*/, double* day) {
  *day = 2'460'000;
  return SQLITE_OK;
}

int last_error(sqlite3_vfs* /*vfs*/, int /*size*/, char* /*text*/) {
  return 0;
}

}  // namespace

MountedDisk::MountedDisk(DiskImage& image) : image_(image), vfs_(std::make_unique<sqlite3_vfs>()) {
  static std::atomic<std::uint64_t> mounted{0};
  name_ = "simulated disk " + std::to_string(++mounted);
  vfs_->iVersion = 1;
  vfs_->szOsFile = sizeof(OpenFile);
  vfs_->mxPathname = 512;
  vfs_->zName = name_.c_str();
  vfs_->pAppData = this;
  vfs_->xOpen = simulation::open;
  vfs_->xDelete = simulation::remove;
  vfs_->xAccess = access;
  vfs_->xFullPathname = full_path;
  vfs_->xRandomness = randomness;
  vfs_->xSleep = sleep;
  vfs_->xCurrentTime = current_time;
  vfs_->xGetLastError = last_error;
  sqlite3_vfs_register(vfs_.get(), 0);
}

MountedDisk::~MountedDisk() {
  sqlite3_vfs_unregister(vfs_.get());
}

int MountedDisk::call(DiskCall call, const std::string& path) {
  if (dead_) {
    return EIO;
  }
  ++calls_;
  const int error = before ? before(call, path) : 0;
  return dead_ ? EIO : error;
}

Result<std::unique_ptr<daemon::FileWriter>> MountedDisk::create(const std::string& path) {
  if (const int error = call(DiskCall::create, path)) {
    return failed("cannot write " + path, error);
  }
  // Emptying what is there is as good as another file under its name, but for who has it open.
  return std::unique_ptr<daemon::FileWriter>(std::make_unique<Writer>(*this, image_.create(path), path));
}

Status MountedDisk::rename(const std::string& from, const std::string& to) {
  if (const int error = call(DiskCall::rename, to)) {
    return failed("cannot write " + to, error);
  }
  image_.rename(from, to);
  return Done{};
}

Status MountedDisk::link(const std::string& from, const std::string& to) {
  if (image_.find(from) == image_.find(to)) {
    return Done{};
  }
  if (const int error = call(DiskCall::link, to)) {
    return failed("cannot write " + to, error);
  }
  image_.link(from, to);
  return Done{};
}

void MountedDisk::remove(const std::string& path) noexcept {
  if (image_.find(path) && call(DiskCall::remove, path) == 0) {
    image_.remove(path);
  }
}

Result<bool> MountedDisk::make_directory(const std::string& path) {
  if (image_.has_directory(path)) {
    return false;
  }
  if (const int error = call(DiskCall::make_directory, path)) {
    return failed("cannot make the directory " + path, error);
  }
  image_.make_directory(path);
  return true;
}

Status MountedDisk::sync_directory(const std::string& path) {
  const std::string directory =
      path.size() > 1 && path.back() == '/' ? path.substr(0, path.size() - 1) : path;
  if (const int error = call(DiskCall::sync_directory, directory)) {
    return failed("cannot make " + directory + " durable", error);
  }
  image_.sync_directory(directory);
  return Done{};
}

Result<std::vector<std::byte>> MountedDisk::read(const std::string& path) {
  const auto file = image_.find(path);
  if (!file) {
    return Error{Errc::not_found, "cannot read " + path + ": " + std::strerror(ENOENT)};
  }
  const PagedBytes& content = image_.content(*file);
  std::vector<std::byte> bytes(content.size());
  content.read(0, bytes);
  return bytes;
}

Result<daemon::FileIdentity> MountedDisk::identity(const std::string& path) {
  if (const auto file = image_.find(path)) {
    return daemon::FileIdentity{1, *file};
  }
  return Error{Errc::not_found, "cannot look at " + path + ": " + std::strerror(ENOENT)};
}

Result<std::uint64_t> MountedDisk::size(const std::string& path) {
  if (const auto file = image_.find(path)) {
    return image_.content(*file).size();
  }
  return Error{Errc::not_found, "cannot look at " + path + ": " + std::strerror(ENOENT)};
}

std::vector<std::string> MountedDisk::names_in(const std::string& directory) {
  return image_.names_in(directory);
}

}  // namespace hpsearch::simulation
