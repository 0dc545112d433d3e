// KeptStore: the output of attempts that have ended.

#include <algorithm>
#include <string_view>

#include "daemon/blobs/kept_store.hpp"
#include "daemon/blobs/kept_tree.hpp"
#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/io/archive/kept_log.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/proto/encoding/utf8.hpp"

namespace hpsearch::daemon {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::ExperimentId;
using engine::Result;
using engine::Status;
using engine::TrialNumber;
using files::Directory;

namespace {

constexpr std::size_t longest_problem = 1024;

KeptSet set_of(const engine::AttemptKey& key, engine::WorkerId worker) {
  return {key.experiment, key.trial, worker};
}

KeptItem logs_of(const engine::AttemptKey& key) {
  return {key.experiment, KeptItem::Kind::logs, key.trial, {}};
}

std::string file_name(const LogName& name, std::string_view stream) {
  return engine::label_of(name.key) + "." + std::to_string(name.process) + "." + std::string(stream) +
         std::string(log_ending);
}

std::string problem_name(const engine::AttemptKey& key) {
  return engine::label_of(key) + std::string(problem_ending);
}

struct Written {
  std::uint64_t bytes = 0;
  std::uint64_t before = 0;
};

Result<Written> write_log(const std::string& directory, const LogName& name, const std::string& packed) {
  if (const Status good = logs::check(packed); !good) {
    return Error{good.error().code == Errc::corrupt ? Errc::bad_request : good.error().code,
                 good.error().message};
  }
  const Result<Directory> set = make_set(directory, set_of(name.key, name.worker));
  if (!set) {
    return set.error();
  }
  const std::string file = file_name(name, name.stream);
  const Written written{packed.size(), size_of(*set, file).value_or(0)};
  Status done = set->write(file, packed, false, kept_file_mode);
  done = done ? set->remove(problem_name(name.key)) : done;
  return done ? Result<Written>(written) : done.error();
}

Result<proto::TextPiece> read_kept(const std::string& directory, const LogName& name, std::uint64_t offset,
                                   std::uint64_t limit, bool from_end) {
  const Result<Directory> set = open_set(directory, set_of(name.key, name.worker));
  if (!set) {
    return set.error();
  }
  const Result<std::string> packed = set->read(file_name(name, name.stream), logs::most_packed_bytes);
  if (!packed && packed.error().code == Errc::not_found && name.stream == "stderr" &&
      set->has(file_name(name, "stdout"))) {
    return proto::TextPiece{};  // Workers send stderr only if it is not empty.
  }
  Result<logs::Stretch> stretch =
      packed ? logs::unpack(*packed, offset, limit, from_end) : Result<logs::Stretch>(packed.error());
  if (!stretch) {
    return stretch.error();
  }
  return proto::text_piece(stretch->offset, stretch->size, std::move(stretch->bytes), from_end,
                           stretch->goes_on);
}

}  // namespace

void KeptStore::take_log(LogName name, const net::HttpRequest& request, Answer answer) {
  disk_.run([this, directory = directory_, name = std::move(name), body = request.body,
             upload = request.uploaded, answer = std::move(answer)]() mutable -> net::Background::Afterwards {
    const Result<std::string> packed = body_of(body, upload, logs::most_packed_bytes);
    const Result<Written> written =
        packed ? write_log(directory, name, *packed) : Result<Written>(packed.error());
    upload.reset();
    return [this, name, written, answer] {
      if (written) {
        quota_.count_file(logs_of(name.key), written->bytes, written->before);
        if (const auto problems = problems_.find({name.key.experiment, name.key.trial});
            problems != problems_.end()) {
          problems->second.erase({engine::label_of(name.key), name.worker});
        }
        make_room(quota_.take_surplus(ended_at_));
      }
      answer(written ? Status(Done{}) : Status(written.error()));
    };
  });
}

void KeptStore::read_log(LogName name, std::uint64_t offset, std::uint64_t limit, bool from_end,
                         LogAnswer answer) {
  disk_.run([directory = directory_, name = std::move(name), offset, limit, from_end,
             answer = std::move(answer)]() -> net::Background::Afterwards {
    return [answer, piece = read_kept(directory, name, offset, limit, from_end)] { answer(piece); };
  });
}

void KeptStore::note_log_problem(const engine::AttemptKey& key, engine::WorkerId worker,
                                 std::string_view why) {
  std::string text = proto::to_utf8(why.substr(0, longest_problem / 4));
  problems_[{key.experiment, key.trial}][{engine::label_of(key), worker}] = text;
  disk_.run([directory = directory_, key, worker, text = std::move(text)]() -> net::Background::Afterwards {
    const Result<Directory> set = make_set(directory, set_of(key, worker));
    const Status done =
        set ? set->write(problem_name(key), text, false, kept_file_mode) : Status(set.error());
    if (!done) {
      net::log(net::Level::warning,
               "the reason for a log that is not kept cannot be stored: " + done.error().message);
    }
    return [] {};
  });
}

std::string KeptStore::log_problem_of(const engine::AttemptKey& key, engine::WorkerId worker) const {
  const auto trial = problems_.find({key.experiment, key.trial});
  if (trial == problems_.end()) {
    return "";
  }
  const auto problem = trial->second.find({engine::label_of(key), worker});
  return problem == trial->second.end() ? "" : problem->second;
}

std::string KeptStore::log_problem_of(ExperimentId experiment, TrialNumber trial) const {
  const auto found = problems_.find({experiment, trial});
  std::uint64_t last = 0;
  std::string why;
  for (const auto& [part, problem] : found == problems_.end() ? Problems() : found->second) {
    const std::uint64_t attempt =
        engine::number_in<std::uint64_t>(part.first.substr(0, part.first.find('.'))).value_or(0);
    if (attempt >= last) {
      last = attempt;
      why = problem;
    }
  }
  return why;
}

bool KeptStore::log_was_removed(ExperimentId experiment, TrialNumber trial) const {
  const auto removed = removed_up_to_.find(experiment);
  return removed != removed_up_to_.end() && trial <= removed->second &&
         !quota_.has({experiment, KeptItem::Kind::logs, trial, {}});
}

}  // namespace hpsearch::daemon
