#include "daemon/backup/stored_keys.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "daemon/store/files/file_system.hpp"
#include "daemon/store/postgresql/heartbeat.hpp"
#include "daemon/store/thread_without_signals.hpp"
#include "hpsearch/io/files/sha256.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

constexpr std::chrono::seconds look_for_keys_every{1};
constexpr const char* agreed_name = "/stored_keys";

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Status write_key_file(const std::string& path, std::string_view content) {
  const std::array parts{std::as_bytes(std::span(content))};
  return write_file_durably(kernel_files(), path, parts);
}

bool is_stored_key(std::string_view name) {
  return std::find(stored_key_names.begin(), stored_key_names.end(), name) != stored_key_names.end();
}

/// "" for a file that is missing.
std::string digest_in(const std::map<std::string, std::string>& digests, const std::string& name) {
  const auto found = digests.find(name);
  return found == digests.end() ? "" : found->second;
}

/// Whether the database has the table: databases without a store have none.
Result<bool> has_table(Connection& connection) {
  const auto found = connection.read("SELECT to_regclass('hpsearch_keys') IS NOT NULL");
  return found ? Result<bool>(found->number(0, 0) == 1) : Result<bool>(found.error());
}

}  // namespace

Result<bool> has_stored_keys(const DatabaseUrl& url) {
  Connection connection(url);
  const auto table = has_table(connection);
  if (!table || !*table) {
    return table;
  }
  const auto rows = connection.read("SELECT only_row FROM hpsearch_keys");
  return rows ? Result<bool>(rows->count() > 0) : Result<bool>(rows.error());
}

StoredKeys::StoredKeys(DatabaseUrl url, BackupKey key, std::string state_directory,
                       std::function<void(const std::string&)> say)
    : key_(std::move(key)),
      directory_(std::move(state_directory)),
      say_(std::move(say)),
      connection_(std::move(url), durable_commits) {
}

StoredKeys::~StoredKeys() {
  if (!thread_.joinable()) {
    return;
  }
  {
    const std::scoped_lock lock(ending_);
    stopping_ = true;
  }
  ends_.notify_one();
  thread_.join();
}

StoredKeys::Digests StoredKeys::digests_of(const KeyFiles& files) {
  Digests digests;
  for (const auto& [name, content] : files) {
    digests.emplace(name, files::sha256_of(content));
  }
  return digests;
}

Result<KeyFiles> StoredKeys::files_here() const {
  KeyFiles found;
  for (const char* name : stored_key_names) {
    const auto bytes = kernel_files().read(directory_ + "/" + name);
    if (bytes) {
      found.emplace(name, text_of(*bytes));
    } else if (bytes.error().code != Errc::not_found) {
      return bytes.error();
    }
  }
  return found;
}

Result<std::optional<KeyFiles>> StoredKeys::read() {
  const auto table = has_table(connection_);
  if (!table) {
    return table.error();
  }
  if (!*table) {
    return std::optional<KeyFiles>();
  }
  const auto rows = connection_.read("SELECT sealed FROM hpsearch_keys");
  if (!rows) {
    return rows.error();
  }
  if (rows->count() == 0) {
    return std::optional<KeyFiles>();
  }
  auto opened = open_keys(rows->text(0, 0), key_);
  if (!opened) {
    return Error{opened.error().code, "the key file of the store doesn't open the keys in " +
                                          connection_.url() + ": " + opened.error().message +
                                          ". No key was changed; give --store-key-file the file that the "
                                          "other daemons of this store have"};
  }
  return std::optional<KeyFiles>(*std::move(opened));
}

Status StoredKeys::check() {
  const std::scoped_lock lock(mutex_);
  const auto stored = read();
  return stored ? Status(Done{}) : Status(stored.error());
}

Result<std::vector<std::string>> StoredKeys::fetch() {
  const std::scoped_lock lock(mutex_);
  const auto stored = read();
  if (!stored) {
    return stored.error();
  }
  std::vector<std::string> written;
  if (!*stored) {
    stored_ = Digests();
    return written;
  }
  const auto here = files_here();
  if (!here) {
    return here.error();
  }
  const Digests before = agreed_before();
  const Digests here_digests = digests_of(*here);
  stored_ = digests_of(**stored);
  for (const auto& [name, content] : **stored) {
    const std::string mine = digest_in(here_digests, name);
    const std::string theirs = digest_in(*stored_, name);
    const std::string agreed = digest_in(before, name);
    // A command changed it while no daemon ran here, and no other daemon changed it since. A removed file
    // asks for a new one, except that without the key of its secrets a search can't go on.
    const bool is_newer_here =
        !agreed.empty() && agreed == theirs && (!mine.empty() || name != "secrets.key");
    if (mine == theirs || is_newer_here || !is_stored_key(name)) {
      continue;
    }
    if (Status done = write_key_file(directory_ + "/" + name, content); !done) {
      return done.error();
    }
    written.push_back(name);
  }
  return written;
}

Status StoredKeys::begin(std::uint64_t epoch) {
  {
    const std::scoped_lock lock(mutex_);
    epoch_ = epoch;
    if (Status stored = look(); !stored) {
      return stored;
    }
  }
  thread_ = thread_without_signals([this] { run(); });
  return Done{};
}

Status StoredKeys::keep(const std::string& name, std::string_view content,
                        const std::function<Status()>& write) {
  const std::scoped_lock lock(mutex_);
  auto files = files_here();
  if (!files) {
    return files.error();
  }
  files->insert_or_assign(name, std::string(content));
  if (Status stored = store(*files); !stored) {
    return stored;
  }
  if (Status written = write(); !written) {
    return written;
  }
  // Without this note the next look makes it: the file is as in the database.
  static_cast<void>(agree(*stored_));
  return Done{};
}

/// Stores them if the store is still this daemon's: the row that says so stays as it is until they are
/// stored.
Status StoredKeys::store(const KeyFiles& files) {
  const auto sealed = seal_keys(files, key_);
  if (!sealed) {
    return sealed.error();
  }
  stored_.reset();
  const std::array<std::string, 1> value{*sealed};
  const auto done = connection_.run(
      "WITH ours AS (SELECT epoch FROM hpsearch_store WHERE epoch = $1 FOR SHARE) "
      "INSERT INTO hpsearch_keys (only_row, sealed) SELECT true, ($2)[1] FROM ours "
      "ON CONFLICT (only_row) DO UPDATE SET sealed = excluded.sealed RETURNING only_row",
      Parameters().number(epoch_).byte_strings(value));
  if (!done) {
    return done.error();
  }
  if (done->count() == 0) {
    return taken_over(connection_, epoch_);
  }
  stored_ = digests_of(files);
  return Done{};
}

Status StoredKeys::look() {
  const auto here = files_here();
  if (!here) {
    return here.error();
  }
  const Digests digests = digests_of(*here);
  if (stored_ != digests) {
    if (Status stored = store(*here); !stored) {
      return stored;
    }
  }
  return agreed_ == digests ? Status(Done{}) : agree(digests);
}

StoredKeys::Digests StoredKeys::agreed_before() const {
  Digests digests;
  const auto bytes = kernel_files().read(directory_ + agreed_name);
  const std::string lines = bytes ? text_of(*bytes) : "";
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    const std::string line = lines.substr(at, end - at);
    if (const std::size_t space = line.find(' '); space != std::string::npos) {
      digests.emplace(line.substr(space + 1), line.substr(0, space));
    }
    at = end + 1;
  }
  return digests;
}

Status StoredKeys::agree(const Digests& digests) {
  std::string lines;
  for (const auto& [name, digest] : digests) {
    lines += digest + " " + name + "\n";
  }
  if (Status written = write_key_file(directory_ + agreed_name, lines); !written) {
    return written;
  }
  agreed_ = digests;
  return Done{};
}

void StoredKeys::run() {
  std::string said;
  std::unique_lock ending(ending_);
  while (!ends_.wait_for(ending, look_for_keys_every, [this] { return stopping_; })) {
    ending.unlock();
    Status looked = Done{};
    {
      const std::scoped_lock lock(mutex_);
      looked = look();
    }
    std::string problem = looked ? "" : looked.error().message;
    if (!problem.empty() && problem != said) {
      say_(problem);
    }
    said = std::move(problem);
    ending.lock();
  }
}

}  // namespace hpsearch::daemon
