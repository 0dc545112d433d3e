#include "simulation/disk/disk_image.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace hpsearch::simulation {
namespace {

std::string directory_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

}  // namespace

// --- PagedBytes ---

PagedBytes::Page& PagedBytes::own(std::size_t page) {
  std::shared_ptr<Page>& held = pages_[page];
  if (!held) {
    held = std::make_shared<Page>();
  } else if (held.use_count() > 1) {
    held = std::make_shared<Page>(*held);
  }
  return *held;
}

void PagedBytes::resize(std::size_t size) {
  if (size < size_ && size % page_bytes != 0 && pages_[size / page_bytes]) {
    Page& last = own(size / page_bytes);
    std::fill(last.begin() + static_cast<std::ptrdiff_t>(size % page_bytes), last.end(), std::byte{});
  }
  pages_.resize((size + page_bytes - 1) / page_bytes);
  size_ = size;
}

void PagedBytes::write(std::size_t at, std::span<const std::byte> bytes) {
  if (at + bytes.size() > size_) {
    resize(at + bytes.size());
  }
  while (!bytes.empty()) {
    const std::size_t within = at % page_bytes;
    const auto part = bytes.first(std::min(bytes.size(), page_bytes - within));
    std::copy(part.begin(), part.end(), own(at / page_bytes).begin() + static_cast<std::ptrdiff_t>(within));
    at += part.size();
    bytes = bytes.subspan(part.size());
  }
}

std::size_t PagedBytes::read(std::size_t at, std::span<std::byte> bytes) const {
  const std::size_t there = at < size_ ? std::min(bytes.size(), size_ - at) : 0;
  for (std::size_t done = 0; done < there;) {
    const std::size_t within = (at + done) % page_bytes;
    const std::size_t part = std::min(there - done, page_bytes - within);
    const auto to = bytes.begin() + static_cast<std::ptrdiff_t>(done);
    if (const auto& page = pages_[(at + done) / page_bytes]) {
      std::copy_n(page->begin() + static_cast<std::ptrdiff_t>(within), part, to);
    } else {
      std::fill_n(to, part, std::byte{});
    }
    done += part;
  }
  return there;
}

void PagedBytes::share(const PagedBytes& other, std::size_t at, std::size_t bytes) {
  const std::size_t end =
      std::min({(at + bytes + page_bytes - 1) / page_bytes, pages_.size(), other.pages_.size()});
  for (std::size_t page = at / page_bytes; page < end; ++page) {
    pages_[page] = other.pages_[page];
  }
}

// --- names ---

DiskImage::DiskImage(const std::string& root) {
  directories_[root] = true;
}

std::optional<DiskImage::FileId> DiskImage::find(const std::string& path) const {
  const auto found = names_.find(path);
  return found == names_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> DiskImage::names_in(const std::string& directory) const {
  std::vector<std::string> names;
  for (const auto& [path, file] : names_) {
    if (directory_of(path) == directory) {
      names.push_back(path.substr(directory.size() + 1));
    }
  }
  return names;
}

DiskImage::FileId DiskImage::make_file() {
  files_[++last_];
  return last_;
}

void DiskImage::apply(Names& names, const Naming& naming) {
  names.erase(naming.removed);
  if (!naming.added.empty()) {
    names[naming.added] = naming.file;
  }
}

void DiskImage::note(Naming naming) {
  apply(names_, naming);
  unsynced_names_.push_back(std::move(naming));
}

DiskImage::FileId DiskImage::create(const std::string& path) {
  const FileId file = make_file();
  note({"", path, file});
  return file;
}

void DiskImage::rename(const std::string& from, const std::string& to) {
  note({from, to, names_.at(from)});
}

void DiskImage::link(const std::string& from, const std::string& to) {
  note({"", to, names_.at(from)});
}

void DiskImage::remove(const std::string& path) {
  note({path, "", 0});
}

void DiskImage::make_directory(const std::string& path) {
  directories_.try_emplace(path, false);
}

void DiskImage::sync_directory(const std::string& directory) {
  const auto is_in = [&](const std::string& path) {
    return !path.empty() && directory_of(path) == directory;
  };
  std::erase_if(unsynced_names_, [&](const Naming& naming) {
    const bool here = is_in(naming.removed) || is_in(naming.added);
    if (here) {
      apply(durable_names_, naming);
    }
    return here;
  });
  for (auto& [path, durable] : directories_) {
    durable = durable || directory_of(path) == directory;
  }
}

// --- contents ---

void DiskImage::write(FileId file, std::size_t at, std::span<const std::byte> bytes) {
  File& written = files_.at(file);
  written.now.write(at, bytes);
  written.unsynced.push_back({at, {bytes.begin(), bytes.end()}, false});
}

void DiskImage::truncate(FileId file, std::size_t size) {
  File& cut = files_.at(file);
  cut.now.resize(size);
  cut.unsynced.push_back({size, {}, true});
}

void DiskImage::sync(FileId file) {
  File& synced = files_.at(file);
  for (const Change& change : std::exchange(synced.unsynced, {})) {
    if (change.truncates) {
      synced.durable.resize(change.at);
    }
    if (synced.durable.size() < synced.now.size()) {
      synced.durable.resize(synced.now.size());
    }
    synced.durable.share(synced.now, change.at, change.bytes.size());
  }
  synced.durable.resize(synced.now.size());
}

void DiskImage::fail_to_sync(FileId file) {
  files_.at(file).unsynced.clear();
}

void DiskImage::flip(const std::string& path, std::size_t bit) {
  File& file = files_.at(names_.at(path));
  for (PagedBytes* content : {&file.now, &file.durable}) {
    std::array<std::byte, 1> byte{};
    if (content->read(bit / 8, byte) == 1) {
      byte[0] ^= std::byte{1} << (bit % 8);
      content->write(bit / 8, byte);
    }
  }
}

/// How much of what was not synced is there: nothing, all, the first so many changes, or each sector by
/// itself.
void DiskImage::decide(File& file, engine::Draw& draw) {
  const std::size_t changes = file.unsynced.size();
  const std::uint64_t way = draw.below(5);
  const std::size_t sector_bytes = way == 3 ? 512 : 4'096;
  const std::size_t first = way == 0 ? 0 : way == 1 ? changes : draw.below(changes + 1);
  std::map<std::size_t, std::size_t> first_of;  // Of each sector.
  for (std::size_t i = 0; i < changes; ++i) {
    const Change& change = file.unsynced[i];
    if (change.truncates) {
      if (i < first) {
        file.durable.resize(change.at);
      }
      continue;
    }
    std::span<const std::byte> rest(change.bytes);
    for (std::size_t at = change.at; !rest.empty();) {
      const std::size_t sector = at / sector_bytes;
      const auto part = rest.first(std::min(rest.size(), (sector + 1) * sector_bytes - at));
      const bool apart = way >= 3;
      const std::size_t written = apart ? first_of.try_emplace(sector, 0).second
                                              ? first_of[sector] = draw.below(changes + 1)
                                              : first_of[sector]
                                        : first;
      // Of the change that power interrupted, what comes first may be there.
      if (i < written || (!apart && i == first && way == 2 && draw.below(2) == 0)) {
        file.durable.write(at, part);
      }
      at += part.size();
      rest = rest.subspan(part.size());
    }
  }
  file.now = file.durable;
  file.unsynced.clear();
}

void DiskImage::lose_power(engine::Draw& draw) {
  for (auto& [id, file] : files_) {
    if (!file.unsynced.empty()) {
      decide(file, draw);
    } else {
      file.now = file.durable;
    }
  }
  // A journal keeps their order; without one, each is for itself.
  const bool in_order = draw.below(2) == 0;
  const std::size_t first = draw.below(unsynced_names_.size() + 1);
  for (std::size_t i = 0; i < unsynced_names_.size(); ++i) {
    if (in_order ? i < first : draw.below(2) == 0) {
      apply(durable_names_, unsynced_names_[i]);
    }
  }
  unsynced_names_.clear();
  for (auto& [path, durable] : directories_) {
    durable = durable || draw.below(2) == 0;
  }
  std::erase_if(directories_, [](const auto& directory) { return !directory.second; });
  std::erase_if(durable_names_,
                [&](const auto& name) { return !directories_.contains(directory_of(name.first)); });
  names_ = durable_names_;
  forget_nameless();
}

void DiskImage::forget_nameless() {
  std::set<FileId> named;
  for (const auto& [path, file] : names_) {
    named.insert(file);
  }
  std::erase_if(files_, [&](const auto& file) { return !named.contains(file.first); });
}

}  // namespace hpsearch::simulation
