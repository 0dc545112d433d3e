#include "daemon/blobs/kept_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/files/directory.hpp"
#include "hpsearch/io/files/file_bytes.hpp"
#include "hpsearch/io/files/sha256.hpp"
#include "hpsearch/io/files/tree.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::daemon {

namespace fs = std::filesystem;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using files::Directory;
using proto::FileOffer;

void spell(auto& fields, proto::Is<StoredFiles> auto& stored) {
  fields("attempt", stored.attempt);
  spell(fields, stored.offer);
}

namespace {

constexpr const char* list_file = "list.json";
constexpr std::string_view part_ending = ".part";
constexpr std::uint32_t mode = 0600;
// An offer is a megabyte at most, and whoever is forgotten offers again.
constexpr std::size_t most_offers = 64;
// Of what is on the worker alone: the worker can tell all.
constexpr std::size_t most_named_left = 20;

std::string number(const auto& id) {
  return std::to_string(id.number());
}

std::string path_of(const FileSet& set) {
  return number(set.experiment) + "/" + number(set.trial) + "/" + number(set.worker);
}

std::string part_of(const std::string& digest) {
  return digest + std::string(part_ending);
}

/// As much as a file takes at least.
std::uint64_t on_disk(std::uint64_t bytes) {
  constexpr std::uint64_t block = 4096;
  return (bytes + block - 1) / block * block;
}

std::optional<std::uint64_t> size_of(const Directory& directory, const std::string& name) {
  struct stat info {};
  return ::fstatat(directory.descriptor(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                 S_ISREG(info.st_mode)
             ? std::optional(static_cast<std::uint64_t>(info.st_size))
             : std::nullopt;
}

std::vector<files::Entry> entries_of(const Result<Directory>& directory) {
  Result<std::vector<files::Entry>> entries =
      directory ? directory->entries() : Result<std::vector<files::Entry>>(directory.error());
  return entries ? *std::move(entries) : std::vector<files::Entry>();
}

Result<Directory> open_set(const std::string& directory, const FileSet& set) {
  const Result<Directory> root = Directory::open(directory);
  return root ? root->directory(path_of(set)) : root.error();
}

Result<StoredFiles> list_in(const Directory& set) {
  const auto text = set.read(list_file, proto::kept_files_limits.bytes);
  const auto value =
      text ? proto::parse_json(*text, proto::kept_files_limits) : Result<engine::Value>(text.error());
  return value ? proto::decode_value<StoredFiles>(*value) : Result<StoredFiles>(value.error());
}

Status write_list(const Directory& set, const StoredFiles& stored) {
  return set.write(list_file, engine::compact_json(proto::encode_value(stored)) + "\n", true, mode);
}

std::map<std::string, std::uint64_t> contents_of(const FileOffer& offer) {
  std::map<std::string, std::uint64_t> bytes;
  for (const proto::OfferedFile& file : offer.files) {
    if (file.link.empty()) {
      bytes[file.digest] = file.bytes;
    }
  }
  return bytes;
}

void leave(proto::DroppedFiles& left, const std::string& path, std::uint64_t bytes, const std::string& why) {
  if (left.files.size() < most_named_left) {
    left.files.push_back({path, bytes, why});
  } else {
    ++left.unnamed;
  }
}

/// The same list when nothing of it is here.
StoredFiles all_left(StoredFiles stored) {
  for (const proto::OfferedFile& file : std::exchange(stored.offer.files, {})) {
    leave(stored.offer.left, file.path, file.bytes, no_room_for_files);
  }
  return stored;
}

/// What the set's directory has beside its list and what of `wanted` is whole.
void remove_others(const Directory& set, const std::map<std::string, std::uint64_t>& wanted) {
  const auto entries = set.entries();
  for (std::size_t i = 0; entries && i < entries->size(); ++i) {
    const std::string& name = (*entries)[i].name;
    if (name != list_file && !wanted.contains(name)) {
      static_cast<void>(files::remove_tree(set, name).has_value());
    }
  }
}

Result<std::string> read_at(const Directory& directory, const std::string& name, std::uint64_t offset,
                            std::uint64_t limit) {
  const Result<files::Descriptor> file = directory.file(name);
  return file ? files::read_at(directory, *file, name, offset, limit) : file.error();
}

/// Names of directories on the way to the set are on the disk as well.
Status sync_above(const std::string& directory, const FileSet& set) {
  const Result<Directory> root = Directory::open(directory);
  const Result<Directory> experiment = root ? root->directory(number(set.experiment)) : root.error();
  const Result<Directory> trial = experiment ? experiment->directory(number(set.trial)) : experiment.error();
  if (!trial) {
    return trial.error();
  }
  for (const Directory* at : {&*trial, &*experiment, &*root}) {
    if (const Status synced = at->sync(); !synced) {
      return synced;
    }
  }
  return Done{};
}

}  // namespace

/// What lay there when the daemon started.
struct KeptFiles::Found {
  struct Set {
    std::optional<StoredFiles> list;
    std::uint64_t bytes = 0;
  };
  std::map<FileSet, Set> sets;
};

/// How far the digests of content on its way have come.
struct KeptFiles::Arriving {
  struct Part {
    files::Sha256 digest;
    std::uint64_t bytes = 0;
  };
  std::map<std::pair<FileSet, std::string>, Part> parts;

  /// Of what is on the disk; read again where this process has not seen all of it.
  Result<Part*> find(const FileSet& set, const std::string& digest, const Directory& directory,
                     std::uint64_t size) {
    if (parts.size() >= most_offers) {
      parts.clear();
    }
    Part& part = parts[{set, digest}];
    if (part.bytes == size) {
      return &part;
    }
    part = Part{};
    while (part.bytes < size) {
      const Result<std::string> piece =
          read_at(directory, part_of(digest), part.bytes, proto::most_piece_bytes);
      if (!piece || piece->empty()) {
        parts.erase({set, digest});
        return piece ? Error{Errc::unavailable, "content became shorter while it was read"} : piece.error();
      }
      part.digest.update(*piece);
      part.bytes += piece->size();
    }
    return &part;
  }
};

KeptFiles::KeptFiles(net::Loop& loop, std::string directory, std::uint64_t quota, EndedAt ended_at)
    : directory_(std::move(directory)),
      quota_(quota),
      ended_at_(std::move(ended_at)),
      arriving_(std::make_shared<Arriving>()),
      files_(loop, 1) {
  std::error_code error;
  fs::create_directories(directory_, error);  // Whoever writes there says why it is not there.
  files_.run([this, where = directory_]() -> net::Background::Afterwards {
    return [this, found = look_around(where)] {
      for (const auto& [set, files] : found.sets) {
        FilesQuota::Weight weight{.bytes = files.bytes};
        if (files.list) {
          remember(set, *files.list);
          weight.metric = files.list->offer.metric;
          weight.larger_is_better = files.list->offer.larger_is_better;
        }
        if (files.bytes > 0) {
          make_room(quota_.add(set, weight, ended_at_));
        }
      }
    };
  });
}

KeptFiles::Found KeptFiles::look_around(const std::string& directory) {
  Found found;
  const Result<Directory> root = Directory::open(directory);
  for (const files::Entry& experiment : entries_of(root)) {
    const auto id = engine::number_in<std::uint64_t>(experiment.name);
    const Result<Directory> trials = id ? root->directory(experiment.name) : Result<Directory>(Error{});
    for (const files::Entry& trial : entries_of(trials)) {
      const auto trial_number = engine::number_in<std::uint64_t>(trial.name);
      const Result<Directory> workers =
          trial_number ? trials->directory(trial.name) : Result<Directory>(Error{});
      for (const files::Entry& worker : entries_of(workers)) {
        const auto worker_number = engine::number_in<std::uint64_t>(worker.name);
        const Result<Directory> set =
            worker_number ? workers->directory(worker.name) : Result<Directory>(Error{});
        if (!set) {
          continue;
        }
        Found::Set& files = found.sets[{engine::ExperimentId(*id), engine::TrialNumber(*trial_number),
                                        engine::WorkerId(*worker_number)}];
        for (const files::Entry& file : entries_of(set)) {
          files.bytes += file.name == list_file ? 0 : on_disk(size_of(*set, file.name).value_or(0));
        }
        if (Result<StoredFiles> list = list_in(*set)) {
          files.list = *std::move(list);
        }
      }
    }
  }
  return found;
}

void KeptFiles::remember(const FileSet& set, const StoredFiles& stored) {
  sets_[set] = {set,
                stored.attempt,
                stored.offer.files.size(),
                proto::bytes_of(stored.offer),
                stored.offer.left.files.size() + stored.offer.left.unnamed,
                stored.offer.metric};
}

void KeptFiles::offer(const FileSet& set, engine::AttemptNumber attempt, FileOffer offer,
                      OfferAnswer answer) {
  if (const Status good = proto::check(offer); !good) {
    answer(good.error());
    return;
  }
  // Behind what lay there at the start.
  files_.run([this, set, attempt, offer = std::move(offer),
              answer = std::move(answer)]() mutable -> net::Background::Afterwards {
    return [this, set, attempt, offer = std::move(offer), answer = std::move(answer)]() mutable {
      take(set, attempt, std::move(offer), answer);
    };
  });
}

void KeptFiles::take(const FileSet& set, engine::AttemptNumber attempt, FileOffer offer,
                     const OfferAnswer& answer) {
  FilesQuota::Weight weight{.bytes = 0, .metric = offer.metric, .larger_is_better = offer.larger_is_better};
  std::map<std::string, std::uint64_t> contents = contents_of(offer);
  for (const auto& [digest, bytes] : contents) {
    weight.bytes += on_disk(bytes);
  }
  auto offered = std::make_shared<const Offered>(
      Offered{attempt, std::move(offer), std::move(contents), ++offers_made_});
  std::vector<FileSet> gone;
  if (weight.bytes == 0) {
    quota_.forget(set);
  } else {
    gone = quota_.add(set, weight, ended_at_);
  }
  const auto itself = std::find(gone.begin(), gone.end(), set);
  if (itself != gone.end()) {
    gone.erase(itself);
    make_room(gone);
    offers_.erase(set);
    leave_on_worker(set, offered, [answer](const Status& done) {
      answer(done ? Result<Taken>(Taken{{}, no_room_for_files}) : Result<Taken>(done.error()));
    });
    return;
  }
  make_room(gone);
  made_room_.erase(set);
  offers_[set] = offered;
  if (offers_.size() > most_offers) {
    offers_.erase(std::min_element(offers_.begin(), offers_.end(), [](const auto& a, const auto& b) {
      return a.second->number < b.second->number;
    }));
  }
  store(set, offered, answer);
}

void KeptFiles::make_room(const std::vector<FileSet>& gone) {
  for (const FileSet& set : gone) {
    const auto offered = offers_.find(set);
    std::shared_ptr<const Offered> was = offered == offers_.end() ? nullptr : offered->second;
    if (was != nullptr) {
      offers_.erase(offered);
      made_room_.insert(set);
    }
    leave_on_worker(set, std::move(was), [](const Status& done) {
      if (!done) {
        net::log(net::Level::warning, "kept files cannot be removed: " + done.error().message);
      }
    });
  }
}

/// First the list says so, then its content goes.
void KeptFiles::leave_on_worker(const FileSet& set, std::shared_ptr<const Offered> offered,
                                const std::function<void(const Status&)>& then) {
  files_.run([this, set, offered = std::move(offered), then,
              directory = directory_]() -> net::Background::Afterwards {
    const Result<Directory> root = Directory::open(directory);
    const Status made = root ? root->make_directories(path_of(set)) : Status(root.error());
    const Result<Directory> there = made ? root->directory(path_of(set)) : made.error();
    Result<StoredFiles> stored = !there ? Result<StoredFiles>(there.error())
                                 : offered != nullptr
                                     ? Result<StoredFiles>(StoredFiles{offered->attempt, offered->offer})
                                     : list_in(*there);
    if (!stored && there && stored.error().code == Errc::not_found) {
      remove_others(*there, {});  // Content of an offer that never came to its end.
      return [then] { then(Done{}); };
    }
    if (!stored) {
      return [then, error = stored.error()] { then(error); };
    }
    const StoredFiles left = all_left(*std::move(stored));
    const Status written = write_list(*there, left);
    if (written) {
      remove_others(*there, {});
    }
    return [this, set, left, then, written] {
      if (written) {
        remember(set, left);
      }
      then(written);
    };
  });
}

void KeptFiles::store(const FileSet& set, std::shared_ptr<const Offered> offered, const OfferAnswer& answer) {
  files_.run([this, set, offered = std::move(offered), answer,
              directory = directory_]() -> net::Background::Afterwards {
    const auto failed = [answer](const Error& error) { return [answer, error] { answer(error); }; };
    const Result<Directory> root = Directory::open(directory);
    const Status made = root ? root->make_directories(path_of(set)) : Status(root.error());
    const Result<Directory> there = made ? root->directory(path_of(set)) : made.error();
    if (!there) {
      return failed(there.error());
    }
    Taken taken;
    for (const auto& [digest, bytes] : offered->bytes) {
      if (size_of(*there, digest) == bytes) {
        continue;
      }
      if (bytes > 0) {
        taken.missing.push_back(
            {digest, bytes, std::min(size_of(*there, part_of(digest)).value_or(0), bytes)});
      } else if (const Status empty = there->write(digest, "", true, mode); !empty) {
        return failed(empty.error());
      }
    }
    if (!taken.missing.empty()) {
      return [answer, taken] { answer(taken); };
    }
    const StoredFiles stored{offered->attempt, offered->offer};
    Status done = write_list(*there, stored);
    done = done ? sync_above(directory, set) : done;
    if (!done) {
      return failed(done.error());
    }
    remove_others(*there, offered->bytes);
    return [this, set, stored, number = offered->number, answer] {
      const auto current = offers_.find(set);
      if (current != offers_.end() && current->second->number == number) {
        offers_.erase(current);
      }
      remember(set, stored);
      answer(Taken{});
    };
  });
}

void KeptFiles::remove(engine::ExperimentId experiment) {
  files_.run([this, experiment, directory = directory_]() -> net::Background::Afterwards {
    const Result<Directory> root = Directory::open(directory);
    const Status gone = root ? files::remove_tree(*root, number(experiment)) : Status(root.error());
    if (!gone) {
      net::log(net::Level::warning, "kept files of experiment " + number(experiment) +
                                        " cannot be removed: " + gone.error().message);
    }
    return [this, experiment] {
      const auto of_it = [experiment](const FileSet& set) { return set.experiment == experiment; };
      for (const auto& [set, summary] : sets_) {
        if (of_it(set)) {
          quota_.forget(set);
        }
      }
      for (const auto& [set, offered] : offers_) {
        if (of_it(set)) {
          quota_.forget(set);
        }
      }
      std::erase_if(sets_, [&of_it](const auto& entry) { return of_it(entry.first); });
      std::erase_if(offers_, [&of_it](const auto& entry) { return of_it(entry.first); });
      std::erase_if(made_room_, of_it);
    };
  });
}

void KeptFiles::add_piece(const FileSet& set, const std::string& digest, std::uint64_t offset,
                          std::string piece, PieceAnswer answer) {
  if (made_room_.contains(set)) {
    answer(Error{Errc::bad_request, no_room_for_files});
    return;
  }
  const auto offered = offers_.find(set);
  const auto content = offered == offers_.end() ? std::map<std::string, std::uint64_t>::const_iterator()
                                                : offered->second->bytes.find(digest);
  if (offered == offers_.end() || content == offered->second->bytes.end()) {
    answer(Error{Errc::wrong_state, "content with this digest was not offered; offer the files again"});
    return;
  }
  files_.run([set, digest, offset, piece = std::move(piece), bytes = content->second,
              answer = std::move(answer), directory = directory_,
              arriving = arriving_]() -> net::Background::Afterwards {
    const auto add = [&]() -> Result<std::uint64_t> {
      const Result<Directory> there = open_set(directory, set);
      if (!there) {
        return there.error();
      }
      if (size_of(*there, digest) == bytes) {
        return bytes;
      }
      const std::string name = part_of(digest);
      const std::optional<std::uint64_t> before = size_of(*there, name);
      const std::uint64_t size = before.value_or(0);
      if (offset > size) {
        return Error{Errc::wrong_state, "bytes before this piece are missing; offer the files again"};
      }
      const std::string_view rest =
          std::string_view(piece).substr(std::min<std::size_t>(size - offset, piece.size()));
      if (rest.size() > bytes - std::min(size, bytes)) {
        return Error{Errc::bad_request, "there is more content than was offered"};
      }
      Result<files::Descriptor> file = before ? there->file_to_append_to(name) : there->create(name, mode);
      if (!file) {
        return file.error();
      }
      const Result<Arriving::Part*> part = arriving->find(set, digest, *there, size);
      if (!part) {
        return part.error();
      }
      if (!files::write_all(file->get(), rest)) {
        return there->failed("cannot write", name, errno);
      }
      (*part)->digest.update(rest);
      (*part)->bytes += rest.size();
      if ((*part)->bytes < bytes) {
        return (*part)->bytes;
      }
      const bool same = (*part)->digest.hex() == digest;
      arriving->parts.erase({set, digest});
      if (!same) {
        static_cast<void>(there->remove(name).has_value());
        return Error{Errc::wrong_state, "the content is not what its digest says; offer the files again"};
      }
      if (::fdatasync(file->get()) != 0) {
        return there->failed("cannot write", name, errno);
      }
      const Status whole = files::move_entry(*there, name, *there, digest);
      return whole ? Result<std::uint64_t>(bytes) : whole.error();
    };
    return [answer, added = add()] { answer(added); };
  });
}

void KeptFiles::list(engine::ExperimentId experiment,
                     const std::function<void(const std::vector<Summary>&)>& answer) {
  files_.run([this, experiment, answer]() -> net::Background::Afterwards {
    return [this, experiment, answer] {
      std::vector<Summary> all;
      for (auto at = sets_.lower_bound({experiment, {}, {}});
           at != sets_.end() && at->first.experiment == experiment; ++at) {
        all.push_back(at->second);
      }
      answer(all);
    };
  });
}

void KeptFiles::lists_of(engine::ExperimentId experiment, engine::TrialNumber trial, ListsAnswer answer) {
  files_.run([experiment, trial, answer = std::move(answer),
              directory = directory_]() -> net::Background::Afterwards {
    const auto read_all = [&]() -> Result<Lists> {
      Lists lists;
      const Result<Directory> root = Directory::open(directory);
      const Result<Directory> workers =
          root ? root->directory(number(experiment) + "/" + number(trial)) : root.error();
      for (const files::Entry& worker : entries_of(workers)) {
        const auto id = engine::number_in<std::uint64_t>(worker.name);
        const Result<Directory> set = id ? workers->directory(worker.name) : Result<Directory>(Error{});
        Result<StoredFiles> list = set ? list_in(*set) : Result<StoredFiles>(set.error());
        if (list) {
          lists.emplace_back(engine::WorkerId(*id), *std::move(list));
        } else if (set && list.error().code != Errc::not_found) {
          return list.error();
        }
      }
      std::stable_sort(lists.begin(), lists.end(),
                       [](const auto& a, const auto& b) { return a.second.attempt < b.second.attempt; });
      return lists;
    };
    return [answer, lists = read_all()] { answer(lists); };
  });
}

void KeptFiles::read(const FileSet& set, const std::string& digest, std::uint64_t offset, std::uint64_t limit,
                     ReadAnswer answer) {
  files_.run([set, digest, offset, limit, answer = std::move(answer),
              directory = directory_]() -> net::Background::Afterwards {
    const Result<Directory> there = open_set(directory, set);
    return [answer, bytes = there ? read_at(*there, digest, offset, limit)
                                  : Result<std::string>(there.error())] { answer(bytes); };
  });
}

}  // namespace hpsearch::daemon
