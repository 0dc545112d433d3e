#include "daemon/keys/worker_keys.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "daemon/store/files/file_system.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/io/zmq/curve.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

constexpr std::size_t most_name_chars = 64;
struct Line {
  std::size_t number = 0;
  std::optional<WorkerKey> worker;  ///< Null: it cannot be read.
};

/// The lines that are not empty or comments.
std::vector<Line> lines_of(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  std::vector<Line> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(blank), line.size()));
    line = line.substr(0, line.find_last_not_of(blank) + 1);
    if (line.empty() || line.front() == '#') {
      continue;
    }
    const std::string_view name = line.substr(0, line.find_first_of(blank));
    std::string_view key = line.substr(name.size());
    key.remove_prefix(std::min(key.find_first_not_of(blank), key.size()));
    Line& added = lines.emplace_back(Line{number, std::nullopt});
    if (is_worker_name(name) && net::is_curve_key(key)) {
      added.worker = WorkerKey{std::string(name), std::string(key)};
    }
  }
  return lines;
}

Error unreadable(const std::string& path, std::size_t line) {
  return {Errc::corrupt,
          path + ":" + std::to_string(line) +
              ": is not \"NAME KEY\": a name of letters, digits, '.', '_' and '-', and a key of 64 "
              "digits, as hpsearch-worker --show-key prints it"};
}

}  // namespace

bool is_worker_name(std::string_view name) noexcept {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name.size() <= most_name_chars &&
         name.find_first_not_of(allowed) == std::string_view::npos;
}

WorkerKeys::WorkerKeys(std::string state_directory) : path_(std::move(state_directory) + "/worker_keys") {
}

void WorkerKeys::read_if_changed() {
  if (const FileStamp now = FileStamp::of(path_); now != read_) {
    ++version_;
    names_.clear();
    if (const auto text = text_of_own_file(path_)) {
      read_ = now;
      problem_.clear();
      for (const Line& line : lines_of(*text)) {
        if (line.worker) {
          names_.emplace(line.worker->key, line.worker->name);
        } else {
          net::log(net::Level::error, unreadable(path_, line.number).message + "; the line is ignored");
        }
      }
    } else if (text.error().message != problem_) {
      problem_ = text.error().message;
      net::log(net::Level::error, problem_ + ": no worker is allowed");
    }
  }
}

std::optional<std::string> WorkerKeys::name_of(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  read_if_changed();
  const auto found = names_.find(key);
  return found == names_.end() ? std::nullopt : std::optional(found->second);
}

std::uint64_t WorkerKeys::version() {
  const std::scoped_lock lock(mutex_);
  read_if_changed();
  return version_;
}

Result<std::vector<WorkerKey>> WorkerKeys::list() const {
  const auto text = text_of_own_file(path_);
  if (!text) {
    return text.error();
  }
  std::vector<WorkerKey> all;
  for (Line& line : lines_of(*text)) {
    if (!line.worker) {
      return unreadable(path_, line.number);
    }
    all.push_back(*std::move(line.worker));
  }
  return all;
}

Status WorkerKeys::allow(const WorkerKey& worker) {
  if (!is_worker_name(worker.name)) {
    return Error{Errc::bad_request, "the worker's name is \"" + worker.name +
                                        "\"; it must be 1 to 64 letters, digits, '.', '_' and '-'"};
  }
  if (!net::is_curve_key(worker.key)) {
    return Error{
        Errc::bad_request,
        "the key is \"" + worker.key + "\"; it must be the 64 digits that hpsearch-worker --show-key prints"};
  }
  const auto lock = lock_beside(path_);
  if (!lock) {
    return lock.error();
  }
  auto all = list();
  if (!all) {
    return all.error();
  }
  const auto known =
      std::find_if(all->begin(), all->end(), [&](const WorkerKey& one) { return one.key == worker.key; });
  if (known != all->end()) {
    return known->name == worker.name
               ? Status(Done{})
               : Status(Error{Errc::wrong_state, "this key is worker " + known->name + "'s; deny it first"});
  }
  all->push_back(worker);
  return write(*all);
}

Result<std::size_t> WorkerKeys::deny(const std::string& name_or_key) {
  const auto lock = lock_beside(path_);
  if (!lock) {
    return lock.error();
  }
  auto all = list();
  if (!all) {
    return all.error();
  }
  const std::size_t removed = std::erase_if(
      *all, [&](const WorkerKey& one) { return one.name == name_or_key || one.key == name_or_key; });
  if (removed == 0) {
    return Error{Errc::not_found,
                 "no worker of " + path_ + " has the name or the key \"" + name_or_key + "\""};
  }
  if (auto written = write(*all); !written) {
    return written.error();
  }
  return removed;
}

Status WorkerKeys::write(const std::vector<WorkerKey>& all) const {
  std::string text = "# Workers that may connect to this daemon: NAME KEY (hpsearch keys)\n";
  for (const WorkerKey& one : all) {
    text += one.name + " " + one.key + "\n";
  }
  const auto write_file = [&]() -> Status {
    const std::array parts{std::as_bytes(std::span(text))};
    return write_file_durably(kernel_files(), path_, parts);
  };
  return keep_ ? keep_(text, write_file) : write_file();
}

}  // namespace hpsearch::daemon
