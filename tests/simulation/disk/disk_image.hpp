#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"

namespace hpsearch::simulation {

/// The bytes of a file, in pages that copies share until one of them writes.
class PagedBytes {
 public:
  static constexpr std::size_t page_bytes = 4'096;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// What lies beyond the end becomes zeros.
  void resize(std::size_t size);
  void write(std::size_t at, std::span<const std::byte> bytes);  ///< Grows as needed.
  /// How many bytes there were to read.
  std::size_t read(std::size_t at, std::span<std::byte> bytes) const;
  /// Takes over the pages of `other` that hold these bytes.
  void share(const PagedBytes& other, std::size_t at, std::size_t bytes);

 private:
  using Page = std::array<std::byte, page_bytes>;
  Page& own(std::size_t page);

  std::size_t size_ = 0;
  std::vector<std::shared_ptr<Page>> pages_;  // nullptr: zeros.
};

/// What a machine's disk holds, and what its kernel has promised to write.
///
/// Processes see what was written last. When power fails, of what was not synced any part may be there: each
/// sector holds what some write left in it, from the synced content to the last; names may have been made,
/// moved and removed or not. Nothing is there that nobody wrote, except zeros where a file grew.
///
/// Cost: a copy shares all pages; each call O(bytes · log files).
class DiskImage {
 public:
  using FileId = std::uint64_t;

  /// An empty one with this directory.
  explicit DiskImage(const std::string& root);

  [[nodiscard]] std::optional<FileId> find(const std::string& path) const;
  [[nodiscard]] bool has_directory(const std::string& path) const { return directories_.contains(path); }
  [[nodiscard]] std::vector<std::string> names_in(const std::string& directory) const;

  FileId create(const std::string& path);  ///< A new and empty one, under this name.
  FileId create_nameless() { return make_file(); }
  void rename(const std::string& from, const std::string& to);
  void link(const std::string& from, const std::string& to);  ///< A further name of the file.
  void remove(const std::string& path);
  void make_directory(const std::string& path);
  void sync_directory(const std::string& directory);

  [[nodiscard]] const PagedBytes& content(FileId file) const { return files_.at(file).now; }
  void write(FileId file, std::size_t at, std::span<const std::byte> bytes);
  void truncate(FileId file, std::size_t size);
  void sync(FileId file);
  /// The kernel could not write what was not synced, and calls it clean from now on: it is still seen, and no
  /// later sync makes it durable.
  void fail_to_sync(FileId file);

  /// One bit of a file is another one from now on, also when power fails.
  void flip(const std::string& path, std::size_t bit);

  /// Power fails: everything that is not durable is decided by chance.
  void lose_power(engine::Draw& draw);

 private:
  struct Change {
    std::size_t at = 0;
    std::vector<std::byte> bytes;
    bool truncates = false;  // To `at`.
  };
  struct File {
    PagedBytes now;
    PagedBytes durable;
    std::vector<Change> unsynced;
  };
  struct Naming {
    std::string removed;  // "" for none.
    std::string added;    // "" for none.
    FileId file = 0;
  };
  using Names = std::map<std::string, FileId>;

  FileId make_file();
  void note(Naming naming);
  static void apply(Names& names, const Naming& naming);
  static void decide(File& file, engine::Draw& draw);
  void forget_nameless();

  std::map<FileId, File> files_;
  Names names_;
  Names durable_names_;
  std::vector<Naming> unsynced_names_;
  std::map<std::string, bool> directories_;  // Whether durable; they are never removed.
  FileId last_ = 0;
};

}  // namespace hpsearch::simulation
