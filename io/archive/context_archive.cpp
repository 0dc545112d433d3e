#include "hpsearch/io/archive/context_archive.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <memory>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace hpsearch::context {

namespace fs = std::filesystem;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using files::Descriptor;
using files::Directory;

namespace {

struct FreeEntry {
  void operator()(archive_entry* entry) const noexcept { archive_entry_free(entry); }
};
struct FreeReader {
  void operator()(archive* reader) const noexcept { archive_read_free(reader); }
};
struct FreeWriter {
  void operator()(archive* writer) const noexcept { archive_write_free(writer); }
};
using Entry = std::unique_ptr<archive_entry, FreeEntry>;
using Reader = std::unique_ptr<archive, FreeReader>;
using Writer = std::unique_ptr<archive, FreeWriter>;

std::string complaint_of(archive* from) {
  const char* text = archive_error_string(from);
  return text != nullptr ? text : "unknown error";
}

/// Copies exactly this many bytes, even if the file has grown, because a program may be writing a log there.
Status copy_content(const Directory& context, const std::string& from, std::uint64_t bytes, archive* to) {
  const auto failed = [&](const std::string& why) {
    return Error{Errc::unavailable, "cannot pack " + (context.name() / from).string() + ": " + why};
  };
  const Result<Descriptor> file = context.file(from);
  if (!file) {
    return Error{Errc::unavailable, file.error().message};
  }
  std::array<char, 64 * 1024> piece{};
  std::uint64_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        ::read(file->get(), piece.data(), std::min<std::uint64_t>(piece.size(), bytes - done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return failed(std::generic_category().message(errno));
    }
    if (got == 0) {
      return failed("it becomes shorter while it is read");
    }
    done += static_cast<std::uint64_t>(got);
    if (archive_write_data(to, piece.data(), static_cast<std::size_t>(got)) != got) {
      return failed(complaint_of(to));
    }
  }
  return Done{};
}

la_ssize_t append(archive* /*writer*/, void* to, const void* bytes, std::size_t size) {
  static_cast<std::string*>(to)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

/// Whether a name stays inside, has only one spelling, and isn't the directory itself.
bool is_plain(const std::string& path) {
  if (path.empty() || path.front() == '/') {
    return false;
  }
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string name = path.substr(at, end - at);
    if (name.empty() || name == "." || name == "..") {
      return false;
    }
    at = end + 1;
  }
  return true;
}

// The limits of workers' file systems: NAME_MAX of Linux, and PATH_MAX without the directory of an attempt.
constexpr std::size_t most_name_bytes = 255;
constexpr std::size_t most_path_bytes = 3'000;
constexpr std::size_t most_target_bytes = 4'095;

bool has_long_name(std::string_view path) {
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > most_name_bytes) {
      return true;
    }
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return false;
}

/// Whether a relative target of the link `path` stays inside; absolute ones name a place on each machine.
bool stays_inside(const std::string& path, const std::string& target) {
  if (target.front() == '/') {
    return true;
  }
  const fs::path meant = (fs::path(path).parent_path() / target).lexically_normal();
  return !meant.empty() && *meant.begin() != "..";
}

/// Reads an archive entry by entry, and refuses entries that pack() would not write.
class Contents {
 public:
  explicit Contents(std::string_view bytes) : bytes_(bytes.size()), reader_(archive_read_new()) {
    archive_read_support_format_tar(reader_.get());
    opened_ = archive_read_open_memory(reader_.get(), bytes.data(), bytes.size()) == ARCHIVE_OK;
  }

  using Take = std::function<Status(const ContextFile& file, archive* reader)>;
  Status each(const Take& take) {
    if (!opened_) {
      return Error{Errc::bad_request, "the context is no tar archive: " + complaint_of(reader_.get())};
    }
    while (true) {
      archive_entry* entry = nullptr;
      const int read = archive_read_next_header(reader_.get(), &entry);
      if (read == ARCHIVE_EOF) {
        return Done{};
      }
      if (read != ARCHIVE_OK) {
        return Error{Errc::bad_request, "the context cannot be read: " + complaint_of(reader_.get())};
      }
      const Result<ContextFile> file = check(entry);
      if (!file) {
        return file.error();
      }
      if (const Status taken = take(*file, reader_.get()); !taken) {
        return taken;
      }
    }
  }

 private:
  Result<ContextFile> check(archive_entry* entry) {
    ContextFile file;
    const char* path = archive_entry_pathname(entry);
    file.path = path != nullptr ? path : "";
    const auto refused = [&file](const std::string& why) {
      return Error{Errc::bad_request, "the context holds \"" + file.path + "\", which " + why};
    };
    const auto type = archive_entry_filetype(entry);
    if (type == AE_IFDIR && file.path.size() > 1 && file.path.back() == '/') {
      file.path.pop_back();
    }
    if (!is_plain(file.path)) {
      return refused("is no name inside it");
    }
    if (has_long_name(file.path) || file.path.size() > most_path_bytes) {
      return refused("no worker can store: a name may have " + std::to_string(most_name_bytes) +
                     " bytes and a path " + std::to_string(most_path_bytes));
    }
    const std::size_t slash = file.path.rfind('/');
    if (slash != std::string::npos && !directories_.contains(file.path.substr(0, slash))) {
      return refused("lies in no directory that came before");
    }
    if (!names_.insert(file.path).second) {
      return refused("is there twice");
    }
    const char* target = archive_entry_symlink(entry);
    if (archive_entry_hardlink(entry) != nullptr) {
      return refused("is a hard link");
    }
    if (type == AE_IFDIR) {
      file.kind = ContextFile::Kind::directory;
      directories_.insert(file.path);
    } else if (type == AE_IFLNK && target != nullptr && *target != '\0') {
      file.kind = ContextFile::Kind::link;
      file.target = target;
      if (file.target.size() > most_target_bytes) {
        return refused("no worker can store: a link may lead to " + std::to_string(most_target_bytes) +
                       " bytes");
      }
      if (!stays_inside(file.path, file.target)) {
        return refused("is a link that leads out of it");
      }
    } else if (type == AE_IFREG) {
      const la_int64_t size = archive_entry_size(entry);
      // Without holes and compression no file is larger than the archive.
      if (size < 0 || static_cast<std::uint64_t>(size) > bytes_ || archive_entry_sparse_count(entry) > 0) {
        return refused("is a file with holes");
      }
      file.bytes = static_cast<std::uint64_t>(size);
      file.executable = (archive_entry_perm(entry) & S_IXUSR) != 0;
    } else {
      return refused("is no directory, file or link");
    }
    return file;
  }

  std::uint64_t bytes_;
  Reader reader_;
  bool opened_ = false;
  std::set<std::string> directories_;
  std::set<std::string> names_;
};

Status write_file(const ContextFile& file, const Directory& directory, archive* reader) {
  const Result<Descriptor> out = directory.create(file.path, file.executable ? 0755 : 0644);
  if (!out) {
    return Error{Errc::unavailable, out.error().message};
  }
  if (archive_read_data_into_fd(reader, out->get()) != ARCHIVE_OK) {
    return Error{Errc::unavailable,
                 "cannot write " + (directory.name() / file.path).string() + ": " + complaint_of(reader)};
  }
  return Done{};
}

}  // namespace

Result<std::string> pack(const fs::path& context, const std::vector<ContextFile>& files) {
  std::string bytes;
  const Writer writer(archive_write_new());
  archive_write_set_format_gnutar(writer.get());
  archive_write_add_filter_none(writer.get());
  archive_write_set_bytes_in_last_block(writer.get(), 1);
  if (archive_write_open(writer.get(), &bytes, nullptr, &append, nullptr) != ARCHIVE_OK) {
    return Error{Errc::unavailable, "cannot pack " + context.string() + ": " + complaint_of(writer.get())};
  }
  // Mounts in a user's own directory belong to the directory.
  const Result<Directory> from = Directory::open(context, {.mounts = files::Rules::Mounts::entered});
  if (!from) {
    return Error{Errc::unavailable, from.error().message};
  }
  for (const ContextFile& file : files) {
    const Entry entry(archive_entry_new());
    archive_entry_set_pathname(entry.get(), file.path.c_str());
    archive_entry_set_mtime(entry.get(), 0, 0);
    switch (file.kind) {
      case ContextFile::Kind::directory:
        archive_entry_set_filetype(entry.get(), AE_IFDIR);
        archive_entry_set_perm(entry.get(), 0755);
        break;
      case ContextFile::Kind::link:
        archive_entry_set_filetype(entry.get(), AE_IFLNK);
        archive_entry_set_perm(entry.get(), 0777);
        archive_entry_set_symlink(entry.get(), file.target.c_str());
        break;
      case ContextFile::Kind::file:
        archive_entry_set_filetype(entry.get(), AE_IFREG);
        archive_entry_set_perm(entry.get(), file.executable ? 0755 : 0644);
        archive_entry_set_size(entry.get(), static_cast<la_int64_t>(file.bytes));
        break;
    }
    if (archive_write_header(writer.get(), entry.get()) != ARCHIVE_OK) {
      return Error{Errc::unavailable,
                   "cannot pack " + (context / file.path).string() + ": " + complaint_of(writer.get())};
    }
    if (file.kind == ContextFile::Kind::file) {
      if (const Status copied = copy_content(*from, file.path, file.bytes, writer.get()); !copied) {
        return copied.error();
      }
    }
  }
  if (archive_write_close(writer.get()) != ARCHIVE_OK) {
    return Error{Errc::unavailable, "cannot pack " + context.string() + ": " + complaint_of(writer.get())};
  }
  return bytes;
}

Result<std::vector<ContextFile>> contents_of(std::string_view archive) {
  std::vector<ContextFile> files;
  const Status read = Contents(archive).each([&files](const ContextFile& file, ::archive* /*reader*/) {
    files.push_back(file);
    return Status(Done{});
  });
  return read ? Result<std::vector<ContextFile>>(std::move(files)) : read.error();
}

Status unpack(std::string_view archive, const Directory& directory) {
  return Contents(archive).each([&directory](const ContextFile& file, ::archive* reader) -> Status {
    if (file.kind == ContextFile::Kind::file) {
      return write_file(file, directory, reader);
    }
    const Status made = file.kind == ContextFile::Kind::directory
                            ? directory.make_directory(file.path)
                            : directory.make_link(file.target, file.path);
    return made ? made : Error{Errc::unavailable, made.error().message};
  });
}

}  // namespace hpsearch::context
