// KeptStore: the files that programs left in their working directories.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "daemon/blobs/kept_store.hpp"
#include "daemon/blobs/kept_tree.hpp"
#include "hpsearch/io/files/file_bytes.hpp"
#include "hpsearch/io/files/links.hpp"
#include "hpsearch/io/files/sha256.hpp"
#include "hpsearch/io/files/tree.hpp"

namespace hpsearch::daemon {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using files::Directory;
using proto::FileOffer;

namespace {

constexpr std::string_view part_ending = ".part";
// An offer has at most a megabyte, and a worker whose offer was dropped offers again.
constexpr std::size_t most_offers = 64;
// The daemon names only some of the files that stayed on the worker; the worker can list all.
constexpr std::size_t most_named_left = 20;

std::string part_of(const std::string& digest) {
  return digest + std::string(part_ending);
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

/// The same list with all files marked as left on the worker.
StoredFiles all_left(StoredFiles stored) {
  for (const proto::OfferedFile& file : std::exchange(stored.offer.files, {})) {
    leave(stored.offer.left, file.path, file.bytes, no_room_for_files);
  }
  return stored;
}

/// Removes contents that are not wanted, and incomplete ones.
void remove_others(const Directory& set, const std::map<std::string, std::uint64_t>& wanted) {
  for (const files::Entry& entry : entries_of(set)) {
    if (entry.name != list_file && !is_about_logs(entry.name) && !wanted.contains(entry.name)) {
      static_cast<void>(files::remove_tree(set, entry.name).has_value());
    }
  }
}

/// Syncs the directories above the set, so that their entries are durable as well.
Status sync_above(const std::string& directory, const KeptSet& set) {
  const Result<Directory> root = Directory::open(directory);
  const Result<Directory> experiment =
      root ? root->directory(std::to_string(set.experiment.number())) : root.error();
  const Result<Directory> trial =
      experiment ? experiment->directory(std::to_string(set.trial.number())) : experiment.error();
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

Result<KeptStore::Lists> read_lists(const std::string& directory, engine::ExperimentId experiment,
                                    engine::TrialNumber trial) {
  KeptStore::Lists lists;
  const Result<Directory> root = Directory::open(directory);
  const Result<Directory> workers =
      root ? root->directory(std::to_string(experiment.number()) + "/" + std::to_string(trial.number()))
           : root.error();
  std::optional<Error> damaged;
  const auto add = [&](std::uint64_t worker, const Directory& set) {
    if (Result<StoredFiles> list = list_in(set)) {
      lists.emplace_back(engine::WorkerId(worker), *std::move(list));
    } else if (list.error().code != Errc::not_found) {
      damaged = list.error();
    }
  };
  if (workers) {
    each_numbered(*workers, add);
  }
  if (damaged) {
    return *damaged;
  }
  std::stable_sort(lists.begin(), lists.end(),
                   [](const auto& a, const auto& b) { return a.second.attempt < b.second.attempt; });
  return lists;
}

/// An open set, and when its list was written, in seconds since the epoch.
struct OpenSet {
  std::shared_ptr<const Directory> directory;
  std::int64_t listed_at = 0;
};

Result<OpenSet> open_listed(const std::string& directory, const KeptSet& set) {
  Result<Directory> there = open_set(directory, set);
  const Result<files::Descriptor> list =
      there ? there->file(list_file) : Result<files::Descriptor>(there.error());
  if (!list) {
    return list.error();
  }
  struct ::stat status {};
  if (::fstat(list->get(), &status) != 0) {
    return there->failed("cannot read", list_file, errno);
  }
  return OpenSet{std::make_shared<const Directory>(*std::move(there)), status.st_mtim.tv_sec};
}

/// Files of one attempt in an archive.
Status add_tree(KeptStore::Archive& archive, files::Sha256& names, engine::AttemptNumber attempt,
                const std::map<std::string, KeptStore::TrialFile>& tree,
                const std::map<engine::WorkerId, OpenSet>& sets) {
  const std::string top = "attempt-" + std::to_string(attempt.number()) + "/";
  for (const auto& [path, found] : tree) {
    const proto::OfferedFile& file = found.file;
    if (!file.link.empty()) {
      if (files::leads_inside(path, file.link)) {
        archive.tar.add_link(top + path, file.link);
        names.update(top + path + '\0' + file.link + '\0');
      }
      continue;
    }
    const std::shared_ptr<const Directory>& set = sets.at(found.worker).directory;
    if (size_of(*set, file.digest) != file.bytes) {
      return Error{Errc::corrupt, (set->name() / file.digest).string() + " is damaged: it has not the " +
                                      std::to_string(file.bytes) + " bytes of " + path};
    }
    archive.tar.add_file(top + path, {set, file.digest, file.bytes}, file.executable);
    names.update(top + path + '\0' + file.digest + (file.executable ? "x" : "-"));
  }
  return Done{};
}

Result<KeptStore::Archive> pack(const std::string& directory, engine::ExperimentId experiment,
                                engine::TrialNumber trial) {
  const Result<KeptStore::Lists> lists = read_lists(directory, experiment, trial);
  if (!lists) {
    return lists.error();
  }
  std::map<engine::WorkerId, OpenSet> sets;
  std::int64_t listed_at = 0;
  for (const auto& [worker, stored] : *lists) {
    Result<OpenSet> set = open_listed(directory, {experiment, trial, worker});
    if (!set) {
      return set.error();
    }
    listed_at = std::max(listed_at, set->listed_at);
    sets.emplace(worker, *std::move(set));
  }
  KeptStore::Archive archive{files::TarArchive(listed_at), ""};
  files::Sha256 names;
  names.update(std::to_string(listed_at));
  for (auto first = lists->begin(); first != lists->end();) {
    const engine::AttemptNumber attempt = first->second.attempt;
    const auto last =
        std::find_if(first, lists->end(), [&](const auto& one) { return one.second.attempt != attempt; });
    if (const Status added = add_tree(archive, names, attempt, KeptStore::one_tree({first, last}), sets);
        !added) {
      return added.error();
    }
    first = last;
  }
  if (archive.tar.bytes() == 0) {
    return Error{Errc::not_found, "no file of trial " + std::to_string(trial.number()) + " is kept here"};
  }
  archive.tar.end();
  archive.tag = names.hex();
  return archive;
}

}  // namespace

/// The digests of contents that have arrived in part.
struct KeptStore::Arriving {
  struct Part {
    files::Sha256 digest;
    std::uint64_t bytes = 0;
  };
  std::map<std::pair<KeptSet, std::string>, Part> parts;

  /// Read from the disk, unless this process wrote all of it.
  Result<Part*> find(const KeptSet& set, const std::string& digest, const Directory& directory,
                     std::uint64_t size) {
    if (parts.size() >= most_offers) {
      parts.clear();
    }
    Part& part = parts[{set, digest}];
    if (part.bytes == size) {
      return &part;
    }
    part = Part{};
    const auto file = files::OpenFile::of(directory, part_of(digest));
    while (part.bytes < size) {
      const Result<std::string> piece =
          file ? file->read(part.bytes, proto::most_piece_bytes) : Result<std::string>(file.error());
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

std::shared_ptr<KeptStore::Arriving> KeptStore::make_arriving() {
  return std::make_shared<Arriving>();
}

void KeptStore::remember(const KeptSet& set, const StoredFiles& stored) {
  listed_[set] = {set,
                  stored.attempt,
                  stored.offer.files.size(),
                  proto::bytes_of(stored.offer),
                  stored.offer.left.files.size() + stored.offer.left.unnamed,
                  stored.offer.metric};
}

void KeptStore::offer(const KeptSet& set, engine::AttemptNumber attempt, FileOffer offer,
                      OfferAnswer answer) {
  if (const Status good = proto::check(offer); !good) {
    answer(good.error());
    return;
  }
  // Runs after the first scan, which would count it again.
  looking_.run([this, set, attempt, offer = std::move(offer),
                answer = std::move(answer)]() mutable -> net::Background::Afterwards {
    return [this, set, attempt, offer = std::move(offer), answer = std::move(answer)]() mutable {
      take(set, attempt, std::move(offer), answer);
    };
  });
}

void KeptStore::take(const KeptSet& set, engine::AttemptNumber attempt, FileOffer offer,
                     const OfferAnswer& answer) {
  const KeptItem item{set.experiment, KeptItem::Kind::files, set.trial, set.worker};
  KeptQuota::Weight weight{.bytes = 0, .metric = offer.metric, .larger_is_better = offer.larger_is_better};
  std::map<std::string, std::uint64_t> contents = contents_of(offer);
  for (const auto& [digest, bytes] : contents) {
    weight.bytes += bytes_on_disk(bytes);
  }
  auto offered = std::make_shared<const Offered>(
      Offered{attempt, std::move(offer), std::move(contents), ++offers_made_});
  quota_.count(item, weight);
  std::vector<KeptItem> surplus = quota_.take_surplus(ended_at_, item);
  const bool fits = std::erase(surplus, item) == 0;
  make_room(surplus);
  if (!fits) {
    offers_.erase(set);
    leave_on_worker(set, offered, [answer](const Status& done) {
      answer(done ? Result<Taken>(Taken{{}, no_room_for_files}) : Result<Taken>(done.error()));
    });
    return;
  }
  offers_[set] = offered;
  if (offers_.size() > most_offers) {
    const auto number_of = [](const auto& one) { return one.second == nullptr ? 0 : one.second->number; };
    offers_.erase(std::min_element(offers_.begin(), offers_.end(), [&](const auto& a, const auto& b) {
      return number_of(a) < number_of(b);
    }));
  }
  store(set, offered, answer);
}

/// The list is changed before the content is removed.
void KeptStore::leave_on_worker(const KeptSet& set, std::shared_ptr<const Offered> offered,
                                const Answer& then) {
  disk_.run([this, set, offered = std::move(offered), then,
             directory = directory_]() -> net::Background::Afterwards {
    const Result<Directory> there = make_set(directory, set);
    Result<StoredFiles> stored = !there ? Result<StoredFiles>(there.error())
                                 : offered != nullptr
                                     ? Result<StoredFiles>(StoredFiles{offered->attempt, offered->offer})
                                     : list_in(*there);
    if (!stored && there && stored.error().code == Errc::not_found) {
      remove_others(*there, {});  // Removes content of an offer that was never completed.
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

void KeptStore::store(const KeptSet& set, std::shared_ptr<const Offered> offered, const OfferAnswer& answer) {
  disk_.run([this, set, offered = std::move(offered), answer,
             directory = directory_]() -> net::Background::Afterwards {
    const auto failed = [answer](const Error& error) { return [answer, error] { answer(error); }; };
    const Result<Directory> there = make_set(directory, set);
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
      } else if (const Status empty = there->write(digest, "", true, kept_file_mode); !empty) {
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
      if (current != offers_.end() && current->second != nullptr && current->second->number == number) {
        offers_.erase(current);
      }
      remember(set, stored);
      answer(Taken{});
    };
  });
}

void KeptStore::add_piece(const KeptSet& set, const std::string& digest, std::uint64_t offset,
                          const net::HttpRequest& request, PieceAnswer answer) {
  const auto offered = offers_.find(set);
  if (offered != offers_.end() && offered->second == nullptr) {
    answer(Error{Errc::bad_request, no_room_for_files});
    return;
  }
  if (offered == offers_.end() || !offered->second->bytes.contains(digest)) {
    answer(Error{Errc::wrong_state, "content with this digest was not offered; offer the files again"});
    return;
  }
  disk_.run([set, digest, offset, body = request.body, upload = request.uploaded,
             bytes = offered->second->bytes.at(digest), answer = std::move(answer), directory = directory_,
             arriving = arriving_]() -> net::Background::Afterwards {
    const auto add = [&]() -> Result<std::uint64_t> {
      // The removal of logs may have removed the empty directory.
      const Result<Directory> there = make_set(directory, set);
      const Result<std::string> piece = body_of(body, upload, proto::most_piece_bytes);
      if (!there || !piece) {
        return there ? piece.error() : there.error();
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
          std::string_view(*piece).substr(std::min<std::size_t>(size - offset, piece->size()));
      if (rest.size() > bytes - std::min(size, bytes)) {
        return Error{Errc::bad_request, "there is more content than was offered"};
      }
      Result<files::Descriptor> file =
          before ? there->file_to_append_to(name) : there->create(name, kept_file_mode);
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

void KeptStore::list(engine::ExperimentId experiment,
                     const std::function<void(const std::vector<Summary>&)>& answer) {
  looking_.run([this, experiment, answer]() -> net::Background::Afterwards {
    return [this, experiment, answer] {
      std::vector<Summary> all;
      for (auto at = listed_.lower_bound({experiment, {}, {}});
           at != listed_.end() && at->first.experiment == experiment; ++at) {
        all.push_back(at->second);
      }
      answer(all);
    };
  });
}

void KeptStore::lists_of(engine::ExperimentId experiment, engine::TrialNumber trial, ListsAnswer answer) {
  disk_.run([experiment, trial, answer = std::move(answer),
             directory = directory_]() -> net::Background::Afterwards {
    return [answer, lists = read_lists(directory, experiment, trial)] { answer(lists); };
  });
}

std::map<std::string, KeptStore::TrialFile> KeptStore::one_tree(std::span<const Lists::value_type> lists) {
  std::map<std::string, TrialFile> files;
  for (const auto& [worker, stored] : lists) {
    for (const proto::OfferedFile& file : stored.offer.files) {
      const std::string& path = file.path;
      for (std::size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1)) {
        files.erase(path.substr(0, end));
      }
      files.erase(files.lower_bound(path + "/"), files.lower_bound(path + "0"));  // '0' follows '/' in ASCII.
      files[path] = {worker, file};
    }
  }
  return files;
}

void KeptStore::archive(engine::ExperimentId experiment, engine::TrialNumber trial, ArchiveAnswer answer) {
  disk_.run([experiment, trial, answer = std::move(answer),
             directory = directory_]() -> net::Background::Afterwards {
    auto packed = std::make_shared<Result<Archive>>(pack(directory, experiment, trial));
    return [answer, packed] { answer(std::move(*packed)); };
  });
}

void KeptStore::open(const KeptSet& set, const std::string& digest, OpenAnswer answer) {
  disk_.run(
      [set, digest, answer = std::move(answer), directory = directory_]() -> net::Background::Afterwards {
        const Result<Directory> there = open_set(directory, set);
        auto file = std::make_shared<Result<files::OpenFile>>(there ? files::OpenFile::of(*there, digest)
                                                                    : Result<files::OpenFile>(there.error()));
        return [answer, file] { answer(std::move(*file)); };
      });
}

}  // namespace hpsearch::daemon
