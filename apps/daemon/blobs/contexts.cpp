#include "daemon/blobs/contexts.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "daemon/store/files/file_sync.hpp"
#include "hpsearch/io/archive/context_archive.hpp"
#include "hpsearch/io/files/sha256.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Status;

constexpr std::string_view ending = ".tar";
constexpr std::string_view upload_ending = ".upload";
// Long enough for an operator who restores an older copy of the store and then returns to the newer one.
constexpr std::chrono::hours kept_for{7 * 24};

/// The digest in a file's name, or "".
std::string digest_in(const std::string& name, std::string_view kind) {
  const bool fits = name.size() == 64 + kind.size() && name.ends_with(kind);
  const std::string digest = fits ? name.substr(0, 64) : "";
  return files::is_sha256(digest) ? digest : "";
}

/// A file's content, mapped while this object lives. Only the daemon writes the file, so it does not become
/// shorter meanwhile.
class MappedFile {
 public:
  MappedFile(const std::string& path, std::uint64_t bytes) : size_(bytes) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    struct stat found {};
    if (file && ::fstat(file.get(), &found) == 0 && static_cast<std::uint64_t>(found.st_size) == bytes &&
        bytes > 0) {
      place_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
    }
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (place_ != MAP_FAILED) {
      ::munmap(place_, size_);
    }
  }
  /// "" if it cannot be read.
  [[nodiscard]] std::string_view text() const noexcept {
    return place_ == MAP_FAILED ? std::string_view()
                                : std::string_view(static_cast<const char*>(place_), size_);
  }

 private:
  void* place_ = MAP_FAILED;
  std::size_t size_;
};

Status check(const std::string& digest, std::string_view bytes, std::uint64_t limit_megabytes) {
  if (const std::string actual = files::sha256_of(bytes); actual != digest) {
    return Error{Errc::bad_request, "the context that came is " + actual + ", not " + digest +
                                        ": it was changed on its way; send it again"};
  }
  auto files = context::contents_of(bytes);
  return files ? context::check_size("the context", *std::move(files), limit_megabytes)
               : Status(files.error());
}

}  // namespace

Contexts::Contexts(net::Timeline& loop, FileSystem& files, std::string directory,
                   std::uint64_t limit_megabytes, RunBeside run_beside)
    : loop_(loop),
      files_(files),
      directory_(std::move(directory)),
      limit_megabytes_(limit_megabytes),
      run_beside_(std::move(run_beside)) {
  // If it cannot be made, each take() reports the error.
  if (const auto made = files_.make_directory(directory_); made && *made) {
    static_cast<void>(files_.sync_directory(std::filesystem::path(directory_).parent_path().string()));
  }
  const auto names = files_.names_in(directory_);
  for (const std::string_view kind : {ending, upload_ending}) {
    for (const std::string& name : names) {
      const std::string digest = digest_in(name, kind);
      std::error_code error;
      const std::uint64_t bytes =
          digest.empty() ? 0 : std::filesystem::file_size(directory_ + "/" + name, error);
      if (!digest.empty() && !error) {
        known_.try_emplace(digest, Known{bytes, kind == ending, loop_.now()});
      }
    }
  }
  for (const std::string& name :
       names) {  // The rest of an interrupted take(), and contexts that are stored twice.
    const std::string digest = name.substr(0, name.find('.'));
    if (!known_.contains(digest) || directory_ + "/" + name != path(digest)) {
      files_.remove(directory_ + "/" + name);
    }
  }
}

std::optional<std::uint64_t> Contexts::find(const std::string& digest) const {
  const auto found = known_.find(digest);
  return found == known_.end() ? std::nullopt : std::optional(found->second.bytes);
}

std::string Contexts::path(const std::string& digest) const {
  const auto found = known_.find(digest);
  const bool is_used = found == known_.end() || found->second.is_used;
  return directory_ + "/" + digest + std::string(is_used ? ending : upload_ending);
}

bool Contexts::was_brought_by(const std::string& digest, const std::string& client) {
  const auto found = known_.find(digest);
  if (found == known_.end()) {
    return false;
  }
  const auto bringer = found->second.brought_by.find(client);
  if (bringer == found->second.brought_by.end() || bringer->second.at + uploads_kept_for <= loop_.now()) {
    return false;
  }
  bringer->second.at = loop_.now();
  return true;
}

std::uint64_t Contexts::uploaded_by(const std::string& client) const {
  std::uint64_t bytes = 0;
  for (const auto& [digest, known] : known_) {
    bytes += !known.is_used && known.brought_by.contains(client) ? known.bytes : 0;
  }
  return bytes;
}

std::uint64_t Contexts::uploaded_to(std::string_view workspace) const {
  std::uint64_t bytes = 0;
  for (const auto& [digest, known] : known_) {
    const bool counts = !known.is_used && std::any_of(known.brought_by.begin(), known.brought_by.end(),
                                                      [workspace](const auto& one) {
                                                        const Scope& scope = one.second.scope;
                                                        return !scope.is_all() && scope.has(workspace);
                                                      });
    bytes += counts ? known.bytes : 0;
  }
  return bytes;
}

void Contexts::take(std::string digest, std::shared_ptr<const net::UploadedFile> archive, Client client,
                    Answer answer) {
  if (was_brought_by(digest, client.name)) {
    answer(Done{});
    return;
  }
  // A context that is stored already is not stored again: the upload shows that the client has it, too.
  run_beside_([this, is_here = known_.contains(digest), digest = std::move(digest),
               archive = std::move(archive), client = std::move(client),
               answer = std::move(answer)]() mutable -> net::Background::Afterwards {
    const std::uint64_t bytes = archive->bytes();
    Status done = store(digest, *archive, is_here);
    archive.reset();
    return [this, is_here, digest, bytes, client, answer, done]() mutable {
      if (done && is_here && !known_.contains(digest)) {
        done = Error{Errc::unavailable, "the context " + digest + " has just been removed; send it again"};
      }
      if (done) {
        note_bringer(digest, bytes, std::move(client));
      }
      answer(done);
    };
  });
}

Status Contexts::store(const std::string& digest, const net::UploadedFile& archive, bool is_here) const {
  const MappedFile bytes(archive.path(), archive.bytes());
  const Status good = check(digest, bytes.text(), limit_megabytes_);
  if (!good || is_here) {
    return good;
  }
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(bytes.text()))};
  return write_file_durably(files_, directory_ + "/" + digest + std::string(upload_ending), parts);
}

void Contexts::note_bringer(const std::string& digest, std::uint64_t bytes, Client client) {
  const auto [found, is_new] = known_.try_emplace(digest, Known{bytes, false, loop_.now()});
  found->second.came = loop_.now();
  found->second.brought_by.insert_or_assign(std::move(client.name),
                                            Bringer{loop_.now(), std::move(client.scope)});
}

void Contexts::note_use(const std::string& digest) {
  const auto found = known_.find(digest);
  if (found == known_.end() || found->second.is_used) {
    return;
  }
  const std::string uploaded = path(digest);
  found->second.is_used = true;
  // If that fails, keep_only() tries it again.
  if (!files_.rename(uploaded, path(digest))) {
    found->second.is_used = false;
  }
}

void Contexts::keep_only(const std::set<std::string>& named) {
  for (const std::string& digest : named) {
    note_use(digest);
  }
  const engine::Instant now = loop_.now();
  for (auto next = known_.begin(); next != known_.end();) {
    auto& [digest, known] = *next;
    std::erase_if(known.brought_by,
                  [now](const auto& bringer) { return bringer.second.at + uploads_kept_for <= now; });
    std::error_code error;
    const auto written = std::filesystem::last_write_time(path(digest), error);
    const bool was_used_lately =
        known.is_used && !error && std::filesystem::file_time_type::clock::now() - written < kept_for;
    if (named.contains(digest) || !known.brought_by.empty() || known.came + uploads_kept_for > now ||
        was_used_lately) {
      ++next;
    } else {
      files_.remove(path(digest));
      next = known_.erase(next);
    }
  }
}

std::uint64_t Contexts::most_bytes() const noexcept {
  return context::most_archive_bytes(limit_megabytes_);
}

}  // namespace hpsearch::daemon
