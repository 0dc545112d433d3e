#include "hpsearch/workers/shell/transfer/file_delivery.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/files/file_bytes.hpp"
#include "hpsearch/io/files/sha256.hpp"
#include "hpsearch/io/files/tree_walk.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/proto/encoding/utf8.hpp"
#include "hpsearch/proto/wire/file_offer.hpp"

namespace hpsearch::workers {

namespace fs = std::filesystem;
using engine::Error;
using engine::Result;
using engine::Value;
using files::Directory;
using files::OpenFile;
using proto::FileOffer;
using proto::OfferedFile;
using namespace std::chrono_literals;

namespace {

using End = FilesSent::End;

constexpr std::chrono::milliseconds patience = 20s;  // With one request.
constexpr std::chrono::milliseconds first_wait = 1s;
constexpr std::chrono::milliseconds longest_wait = 60s;
constexpr int most_offers = 6;  // Before it waits: files that change all the time are never as offered.

void leave(proto::DroppedFiles& left, const fs::path& path, std::uint64_t bytes, const std::string& why) {
  constexpr std::size_t most_named = 100;
  if (left.files.size() < most_named) {
    left.files.push_back({proto::to_utf8(path.string()), bytes, why});
  } else {
    ++left.unnamed;
  }
}

/// Reads a trial's files and says what they are.
class Reader {
 public:
  Reader(const Directory& files, const std::stop_token& stop) : files_(files), stop_(stop) {}

  FileOffer read() {
    files::each_file(files_, [this](const files::TreeEntry& entry) {
      add_file(entry.at, entry.entry, entry.path, entry.status);
      return !stop_.stop_requested();
    });
    return std::move(offer_);
  }

 private:
  void add_file(const Directory& at, const files::Entry& entry, const fs::path& path,
                const struct ::stat& info) {
    OfferedFile file;
    file.path = path.string();
    const auto size = static_cast<std::uint64_t>(info.st_size);
    named_ += 6 * path.string().size() + 160;  // As JSON at most, with its other fields.
    if (!proto::leads_below(file.path)) {
      leave(offer_.left, path, size, "its name is too long or not UTF-8");
    } else if (named_ > proto::most_offer_bytes / 2) {
      leave(offer_.left, path, size, "the trial has too many files for the daemon");
    } else if (entry.kind == files::Kind::link) {
      Result<std::string> target = at.link_target(entry.name);
      named_ += target ? 6 * target->size() : 0;
      if (target && proto::is_utf8(*target)) {
        file.link = *std::move(target);
        offer_.files.push_back(std::move(file));
      } else {
        leave(offer_.left, path, 0, "the daemon cannot store this link");
      }
    } else if (const std::string why = digest(at, entry.name, file); why.empty()) {
      file.executable = (info.st_mode & S_IXUSR) != 0;
      offer_.files.push_back(std::move(file));
    } else {
      leave(offer_.left, path, size, why);
    }
  }

  std::string digest(const Directory& at, const std::string& name, OfferedFile& file) {
    const Result<OpenFile> open = OpenFile::of(at, name);
    if (!open) {
      return open.error().message;
    }
    files::Sha256 digest;
    for (;;) {
      const Result<std::string> piece = open->read(file.bytes, proto::most_piece_bytes);
      if (!piece) {
        return piece.error().message;
      }
      if (piece->empty() || stop_.stop_requested()) {
        break;
      }
      digest.update(*piece);
      file.bytes += piece->size();
    }
    file.digest = digest.hex();
    return "";
  }

  const Directory& files_;
  const std::stop_token& stop_;
  FileOffer offer_;
  std::size_t named_ = 0;
};

/// The dropped files that are named when all do not fit beside the others.
proto::DroppedFiles shortened(proto::DroppedFiles dropped) {
  constexpr std::size_t most_named = 100;
  if (dropped.files.size() > most_named) {
    dropped.unnamed += dropped.files.size() - most_named;
    dropped.files.resize(most_named);
  }
  return dropped;
}

class Sender {
 public:
  Sender(const Directory& trial, const UnsentFiles& files, const DaemonAccess& daemon,
         const std::stop_token& stop)
      : trial_(trial), unsent_(files), daemon_(daemon), stop_(stop) {}

  FilesSent send() {
    FileOffer offer = read();
    // An incomplete offer must not be sent, because it would mean that the other files were removed.
    for (int offers = 0; offers < most_offers && !stop_.stop_requested(); ++offers) {
      const Result<Value> answer = ask(place() + "/" + std::to_string(unsent_.key.attempt.number()) +
                                           "?lease=" + std::to_string(unsent_.key.lease.number()),
                                       engine::compact_json(proto::encode_value(offer)), "application/json");
      if (!answer) {
        return {end_ == End::taken ? End::later : end_, answer.error().message};
      }
      const Value* missing = answer->at_path("missing");
      const Value* why_not = answer->at_path("why_not");
      if (missing == nullptr || missing->as_list() == nullptr || missing->as_list()->empty()) {
        const std::string* why = why_not == nullptr ? nullptr : why_not->as_text();
        return {End::taken, why == nullptr ? "" : *why};
      }
      if (!send_missing(offer, *missing->as_list())) {
        if (end_ != End::taken) {
          return {end_, why_};
        }
        offer = read();
      }
    }
    return {End::later, stop_.stop_requested() ? "the worker ends" : "the files change while they are sent"};
  }

 private:
  [[nodiscard]] std::string place() const {
    return "/api/v1/files/" + std::to_string(unsent_.key.experiment.number()) + "/" +
           std::to_string(unsent_.key.trial.number());
  }

  [[nodiscard]] FileOffer read() const {
    FileOffer offer;
    if (const Result<Directory> files = trial_.directory(proto::kept_files_name)) {
      offer = Reader(*files, stop_).read();
    }
    offer.dropped = shortened(unsent_.dropped);
    offer.metric = unsent_.metric;
    offer.larger_is_better = unsent_.larger_is_better;
    return offer;
  }

  /// False: the files are not as they were offered.
  bool send_missing(const FileOffer& offer, const Value::List& missing) {
    for (const Value& content : missing) {
      const Value* const digest = content.at_path("digest");
      const Value* const have = content.at_path("have");
      const auto file = std::find_if(offer.files.begin(), offer.files.end(), [&](const OfferedFile& one) {
        return digest != nullptr && digest->as_text() != nullptr && one.digest == *digest->as_text();
      });
      const std::int64_t* const offset = have == nullptr ? nullptr : have->as_integer();
      if (file == offer.files.end() || offset == nullptr || *offset < 0) {
        end_ = End::refused;
        why_ = "the daemon wants content that was not offered";
        return false;
      }
      if (!send_content(*file, static_cast<std::uint64_t>(*offset))) {
        return false;
      }
    }
    return true;
  }

  bool send_content(const OfferedFile& file, std::uint64_t offset) {
    const Result<Directory> files = trial_.directory(proto::kept_files_name);
    const Result<OpenFile> open = files ? OpenFile::of(*files, file.path) : Result<OpenFile>(files.error());
    while (offset < file.bytes) {
      const Result<std::string> piece =
          open ? open->read(offset, std::min<std::uint64_t>(proto::most_piece_bytes, file.bytes - offset))
               : Result<std::string>(open.error());
      if (!piece || piece->empty() || stop_.stop_requested()) {
        return false;
      }
      const Result<Value> answer = ask(place() + "/" + file.digest + "?offset=" + std::to_string(offset),
                                       *piece, "application/octet-stream");
      if (!answer) {
        why_ = answer.error().message;
        return false;
      }
      const Value* const have = answer->at_path("have");
      const std::int64_t* const bytes = have == nullptr ? nullptr : have->as_integer();
      if (bytes == nullptr || static_cast<std::uint64_t>(*bytes) <= offset) {
        return false;
      }
      offset = static_cast<std::uint64_t>(*bytes);
    }
    return true;
  }

  /// Where it fails, end_ says what that means: `taken`, that another offer may help.
  Result<Value> ask(const std::string& target, const std::string& body, const std::string& type) {
    const auto answer = workers::ask(
        daemon_, {.method = "PUT", .target = target, .body = body, .type = type, .patience = patience});
    if (!answer) {
      end_ = End::later;
      return answer.error();
    }
    const Result<Value> value = proto::parse_json(answer->body);
    if (answer->status < 300 && value) {
      return value;
    }
    // 401: the session is over, and its key with it.
    const bool later = may_help_later(*answer) || answer->status == 401;
    end_ = answer->status == 409 ? End::taken : later ? End::later : End::refused;
    // 404: the daemon keeps no files, which is no trouble.
    return Error{engine::Errc::unavailable, answer->status == 404 ? "" : problem_in(*answer)};
  }

  const Directory& trial_;
  const UnsentFiles& unsent_;
  const DaemonAccess& daemon_;
  const std::stop_token& stop_;
  End end_ = End::taken;
  std::string why_;
};

}  // namespace

FilesSent send_files(const UnsentFiles& files, const DaemonAccess& daemon, const std::stop_token& stop) {
  return Sender(files.directory, files, daemon, stop).send();
}

void FileDelivery::in_session(DaemonAccess daemon, std::uint64_t store) {
  daemon_ = std::move(daemon);
  store_ = store;
  wait_ = {};
  go_on();
}

void FileDelivery::go_on() {
  again_ = true;
  if (!running_) {
    retry_ = net::Watch();
    begin();
  }
}

void FileDelivery::begin() {
  if (daemon_.address.empty() || stop_.stop_requested()) {
    return;
  }
  again_ = false;
  running_ = true;
  says_(true);
  background_.run([this, daemon = daemon_, store = store_]() -> net::Background::Afterwards {
    const std::scoped_lock lock(one_at_a_time_);
    const bool left = send_each(daemon, store, stop_);
    return [this, left] {
      running_ = false;
      if (again_) {
        begin();
        return;
      }
      says_(false);
      if (left) {
        wait_ = wait_ == 0ms ? first_wait : std::min(wait_ * 2, longest_wait);
        retry_ = loop_.after(wait_, [this] { begin(); });
      } else {
        wait_ = {};
      }
    };
  });
}

void FileDelivery::send_all(const DaemonAccess& daemon, std::uint64_t store,
                            std::chrono::milliseconds within) {
  if (daemon.address.empty()) {
    return;
  }
  const auto until = std::chrono::steady_clock::now() + within;
  const std::unique_lock lock(one_at_a_time_, within);
  if (!lock.owns_lock()) {
    return;
  }
  std::stop_source over;
  const std::stop_callback ended(stop_, [&over] { over.request_stop(); });
  std::mutex mutex;
  std::condition_variable_any done;
  const std::jthread clock([&](const std::stop_token& finished) {
    std::unique_lock waiting(mutex);
    done.wait_until(waiting, finished, until, [] { return false; });
    over.request_stop();
  });
  static_cast<void>(send_each(daemon, store, over.get_token()));
}

bool FileDelivery::send_each(const DaemonAccess& daemon, std::uint64_t store, const std::stop_token& stop) {
  for (const KeptFiles::TrialKey& which : kept_.unsent(store)) {
    if (stop.stop_requested()) {
      return true;
    }
    const Result<UnsentFiles> files = kept_.unsent_files(store, which);
    const std::string whose = "the files of trial " + std::to_string(which.second.number()) +
                              " of experiment " + std::to_string(which.first.number());
    if (!files) {
      net::log(net::Level::warning, whose + " are not sent to the daemon: " + files.error().message);
      kept_.forget_unsent(store, which);
      continue;
    }
    const FilesSent sent = send_files(*files, daemon, stop);
    if (sent.end == FilesSent::End::later) {
      net::log(net::Level::debug, whose + " are not sent to the daemon yet: " + sent.why);
      return true;
    }
    kept_.sent(store, *files);
    if (!sent.why.empty()) {
      net::log(net::Level::info, whose + " stay on this worker alone: " + sent.why);
    }
  }
  return false;
}

}  // namespace hpsearch::workers
