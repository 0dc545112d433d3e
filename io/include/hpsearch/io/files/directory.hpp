#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/files/descriptor.hpp"

namespace hpsearch::files {

/// What a name stands for; a link is not what it leads to.
enum class Kind : std::uint8_t { file, directory, link, other };

struct Entry {
  std::string name;
  Kind kind = Kind::other;
};

/// How names are looked up below a directory.
struct Rules {
  enum class Lookup : std::uint8_t {
    at_once,  ///< By openat2(), where the kernel has it (5.6); else by steps.
    by_steps  ///< One openat() for each name.
  };
  /// A directory on which something is mounted, also with `mount --bind`: what is there belongs to somebody
  /// else.
  enum class Mounts : std::uint8_t { refused, entered };

  Lookup lookup = Lookup::at_once;
  Mounts mounts = Mounts::refused;
};

/// An open directory. Every path is looked up below it, and no symbolic link on the way or at its end is
/// followed, whatever other processes do to the tree meanwhile. Paths are relative and have no "." and no
/// "..".
///
/// Fails:   not_found: there is no such thing. wrong_state: a link, a mount point or something of another
///          kind is in its place; it was left alone. unavailable: anything else the kernel answers, with its
///          words behind ": ".
/// Threads: any, also several at once.
/// Cost:    a few system calls, for a path of n names by steps n times as many.
class Directory {
 public:
  struct Identity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    friend bool operator==(const Identity&, const Identity&) = default;
  };

  /// Opens `path` as it stands. Links in it are followed, so it must be a place that is known to be ours, or
  /// one that the user has named.
  [[nodiscard]] static engine::Result<Directory> open(const std::filesystem::path& path, Rules rules = {});
  /// The directory of a descriptor that was opened for reading; `name` is for messages.
  Directory(Descriptor descriptor, std::filesystem::path name, Rules rules = {});

  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }
  [[nodiscard]] const std::filesystem::path& name() const noexcept { return name_; }
  [[nodiscard]] const Rules& rules() const noexcept { return rules_; }
  [[nodiscard]] engine::Result<Identity> identity() const;

  [[nodiscard]] engine::Result<Directory> directory(const std::filesystem::path& below) const;
  /// Nothing where nothing is.
  [[nodiscard]] engine::Result<std::optional<Kind>> kind(const std::filesystem::path& below) const;
  /// Whether something is there; false where that cannot be told.
  [[nodiscard]] bool has(const std::filesystem::path& below) const;
  /// Sorted by name.
  [[nodiscard]] engine::Result<std::vector<Entry>> entries() const;

  /// Opens a regular file for reading. Nothing else is opened, so that no pipe blocks and no device notices.
  [[nodiscard]] engine::Result<Descriptor> file(const std::filesystem::path& below) const;
  /// The same, to write at its end.
  [[nodiscard]] engine::Result<Descriptor> file_to_append_to(const std::filesystem::path& below) const;
  /// Whole content. corrupt: it is larger than `limit`.
  [[nodiscard]] engine::Result<std::string> read(const std::filesystem::path& below, std::size_t limit) const;
  [[nodiscard]] engine::Result<std::string> link_target(const std::filesystem::path& below) const;

  /// A new file, for writing. wrong_state: the name is taken, and what is there was not touched.
  [[nodiscard]] engine::Result<Descriptor> create(const std::filesystem::path& below,
                                                  std::uint32_t mode = 0666) const;
  /// The new content or the old one, never a mixture. A link there is replaced, not followed. `durable`
  /// survives a power failure.
  engine::Status write(const std::filesystem::path& below, std::string_view text, bool durable,
                       std::uint32_t mode = 0666) const;
  /// The same for a name that is free. Of several processes that make it at once exactly one does, and for
  /// all of them the file is there, whole and durable, when this returns; read it to learn whose it is.
  engine::Status write_if_missing(const std::filesystem::path& below, std::string_view text,
                                  std::uint32_t mode = 0666) const;
  /// wrong_state: the name is taken.
  engine::Status make_directory(const std::filesystem::path& below) const;
  /// With those above it; ones that are there already are fine.
  engine::Status make_directories(const std::filesystem::path& below) const;
  /// wrong_state: the name is taken.
  engine::Status make_link(const std::filesystem::path& target, const std::filesystem::path& below) const;

  /// Removes a name that is no directory, or an empty directory; what is not there is fine.
  engine::Status remove(const std::filesystem::path& below) const;

  /// Its names are on the disk for good.
  [[nodiscard]] engine::Status sync() const;

  /// With the path of `below` and the kernel's answer. For functions beside this class.
  [[nodiscard]] engine::Error failed(std::string_view doing, const std::filesystem::path& below,
                                     int error) const;
  /// A descriptor for names below, or -1 and errno. `flags` as for open(), without O_TRUNC.
  [[nodiscard]] Descriptor look_up(const std::filesystem::path& below, int flags,
                                   std::uint32_t mode = 0) const;

 private:
  /// Where the last name of a path is looked up: at `directory`, or at this one when that is closed.
  struct Place {
    Descriptor directory;
    int at = -1;
    std::string name;
  };
  [[nodiscard]] engine::Result<Descriptor> regular_file(std::string_view doing,
                                                        const std::filesystem::path& below, int flags) const;
  /// A file that nobody knows yet, with that content; its name.
  [[nodiscard]] engine::Result<std::string> draft_of(const Place& where, const std::filesystem::path& below,
                                                     std::string_view text, bool durable,
                                                     std::uint32_t mode) const;
  [[nodiscard]] engine::Status sync_above(const std::filesystem::path& below) const;
  [[nodiscard]] engine::Result<Place> place(std::string_view doing, const std::filesystem::path& below) const;

  Descriptor descriptor_;
  std::filesystem::path name_;
  Rules rules_;
};

}  // namespace hpsearch::files
