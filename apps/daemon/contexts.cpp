#include "daemon/contexts.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <chrono>
#include <deque>
#include <filesystem>
#include <mutex>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "daemon/store/durable_file.hpp"
#include "hpsearch/context/context_archive.hpp"
#include "hpsearch/context/sha256.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Status;

constexpr std::string_view ending = ".tar";
// Long enough for whoever brings an older copy of the store back, and then thinks better of it.
constexpr std::chrono::hours kept_for{7 * 24};

/// The digest in a file's name, or "".
std::string digest_in(const std::string& name) {
  const bool fits = name.size() == 64 + ending.size() && name.ends_with(ending);
  const std::string digest = fits ? name.substr(0, 64) : "";
  return context::is_sha256(digest) ? digest : "";
}

/// A file's content, as long as this lives. It is ours: nobody makes it shorter meanwhile.
class MappedFile {
 public:
  MappedFile(const std::string& path, std::uint64_t bytes) : size_(bytes) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    struct stat found {};
    if (file && ::fstat(file.number(), &found) == 0 && static_cast<std::uint64_t>(found.st_size) == bytes &&
        bytes > 0) {
      place_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number(), 0);
    }
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (place_ != MAP_FAILED) {
      ::munmap(place_, size_);
    }
  }
  /// "" when it cannot be read.
  [[nodiscard]] std::string_view text() const noexcept {
    return place_ == MAP_FAILED ? std::string_view()
                                : std::string_view(static_cast<const char*>(place_), size_);
  }

 private:
  void* place_ = MAP_FAILED;
  std::size_t size_;
};

Status check(const std::string& digest, std::string_view bytes, std::uint64_t limit_megabytes) {
  if (const std::string actual = context::sha256_of(bytes); actual != digest) {
    return Error{Errc::bad_request, "the context that came is " + actual + ", not " + digest +
                                        ": it was changed on its way; send it again"};
  }
  auto files = context::contents_of(bytes);
  return files ? context::check_size("the context", *std::move(files), limit_megabytes)
               : Status(files.error());
}

}  // namespace

struct Contexts::Shared {
  struct Job {
    std::string digest;
    std::shared_ptr<const net::UploadedFile> archive;
    Answer answer;
  };
  std::mutex mutex;
  std::deque<Job> jobs;
  bool ended = false;  ///< Only on the loop's thread.
};

Contexts::Contexts(net::Timeline& loop, FileSystem& files, std::string directory,
                   std::uint64_t limit_megabytes, EmployStoreExecutor employ)
    : loop_(loop),
      files_(files),
      directory_(std::move(directory)),
      limit_megabytes_(limit_megabytes),
      shared_(std::make_shared<Shared>()) {
  // When it cannot be made, each take() says so.
  if (const auto made = files_.make_directory(directory_); made && *made) {
    static_cast<void>(files_.sync_directory(std::filesystem::path(directory_).parent_path().string()));
  }
  for (const std::string& name : files_.names_in(directory_)) {
    std::error_code error;
    const std::string digest = digest_in(name);
    const std::uint64_t bytes = digest.empty() ? 0 : std::filesystem::file_size(path(digest), error);
    if (!digest.empty() && !error) {
      known_[digest] = bytes;
    }
  }
  thread_ = employ([this] { return work(); });
}

Contexts::~Contexts() {
  shared_->ended = true;
  thread_.reset();
}

std::optional<std::uint64_t> Contexts::find(const std::string& digest) const {
  const auto found = known_.find(digest);
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

void Contexts::take(std::string digest, std::shared_ptr<const net::UploadedFile> archive, Answer answer) {
  if (known_.contains(digest)) {
    answer(Done{});
    return;
  }
  {
    const std::scoped_lock lock(shared_->mutex);
    shared_->jobs.push_back({std::move(digest), std::move(archive), std::move(answer)});
  }
  thread_->wake();
}

bool Contexts::work() {
  Shared::Job job;
  {
    const std::scoped_lock lock(shared_->mutex);
    if (shared_->jobs.empty()) {
      return false;
    }
    job = std::move(shared_->jobs.front());
    shared_->jobs.pop_front();
  }
  const std::uint64_t bytes = job.archive->bytes();
  Status done = Done{};
  {
    const MappedFile archive(job.archive->path(), bytes);
    done = check(job.digest, archive.text(), limit_megabytes_);
    if (done) {
      const std::span<const std::byte> parts[] = {std::as_bytes(std::span(archive.text()))};
      done = write_file_durably(files_, path(job.digest), parts);
    }
  }
  job.archive.reset();
  loop_.post(
      [this, shared = shared_, digest = std::move(job.digest), bytes, answer = std::move(job.answer), done] {
        if (shared->ended) {
          return;
        }
        if (done) {
          known_[digest] = bytes;
        }
        answer(done);
      });
  return true;
}

void Contexts::keep_only(const std::set<std::string>& named) {
  for (const std::string& name : files_.names_in(directory_)) {
    const std::string digest = digest_in(name);
    std::error_code error;
    const auto written = std::filesystem::last_write_time(directory_ + "/" + name, error);
    const bool young = !error && std::filesystem::file_time_type::clock::now() - written < kept_for;
    if (digest.empty() || (!named.contains(digest) && !young)) {
      files_.remove(directory_ + "/" + name);
      known_.erase(digest);
    }
  }
}

std::uint64_t Contexts::most_bytes() const noexcept {
  return context::most_archive_bytes(limit_megabytes_);
}

}  // namespace hpsearch::daemon
