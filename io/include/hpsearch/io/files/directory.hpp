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

/// The kind of file that a name stands for; links aren't followed.
enum class Kind : std::uint8_t { file, directory, link, other };

struct Entry {
  std::string name;
  Kind kind = Kind::other;
};

/// How names are looked up below a directory.
struct Rules {
  enum class Lookup : std::uint8_t {
    at_once,  ///< By openat2(), if the kernel has it (5.6); else by steps.
    by_steps  ///< One openat() for each name.
  };
  /// A directory on which something is mounted, also with `mount --bind`: its content isn't part of
  /// the tree.
  enum class Mounts : std::uint8_t { refused, entered };

  Lookup lookup = Lookup::at_once;
  Mounts mounts = Mounts::refused;
};

/// An open directory. Every path is looked up below it, and symbolic links on the way or at its end are never
/// followed, even if other processes change the tree meanwhile. Paths are relative and have no "." and no
/// "..".
///
/// Fails:   not_found: it doesn't exist. wrong_state: a link, a mount point or a file of another
///          kind is in its place; it is left alone. unavailable: any other error of the kernel, with its
///          words after ": ".
/// Threads: any, even several at once.
/// Cost:    a few system calls; by steps, a few for each name of the path.
class Directory {
 public:
  struct Identity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    friend bool operator==(const Identity&, const Identity&) = default;
  };

  /// Opens `path` and follows links in it, so it must be a place of our own, or
  /// one that the user has named.
  [[nodiscard]] static engine::Result<Directory> open(const std::filesystem::path& path, Rules rules = {});
  /// The directory of a descriptor that is open for reading; `name` is for messages.
  Directory(Descriptor descriptor, std::filesystem::path name, Rules rules = {});

  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }
  [[nodiscard]] const std::filesystem::path& name() const noexcept { return name_; }
  [[nodiscard]] const Rules& rules() const noexcept { return rules_; }
  [[nodiscard]] engine::Result<Identity> identity() const;

  [[nodiscard]] engine::Result<Directory> directory(const std::filesystem::path& below) const;
  /// Nothing if nothing is there.
  [[nodiscard]] engine::Result<std::optional<Kind>> kind(const std::filesystem::path& below) const;
  /// Whether something is there; false if that is unknown.
  [[nodiscard]] bool has(const std::filesystem::path& below) const;
  /// Sorted by name.
  [[nodiscard]] engine::Result<std::vector<Entry>> entries() const;

  /// Opens a regular file for reading. Other kinds aren't opened: a pipe could block, a device could act.
  [[nodiscard]] engine::Result<Descriptor> file(const std::filesystem::path& below) const;
  /// The same, to append to it.
  [[nodiscard]] engine::Result<Descriptor> file_to_append_to(const std::filesystem::path& below) const;
  /// The whole content. corrupt: it is larger than `limit`.
  [[nodiscard]] engine::Result<std::string> read(const std::filesystem::path& below, std::size_t limit) const;
  [[nodiscard]] engine::Result<std::string> link_target(const std::filesystem::path& below) const;

  /// A new file for writing. wrong_state: the name is taken; the existing file is unchanged.
  [[nodiscard]] engine::Result<Descriptor> create(const std::filesystem::path& below,
                                                  std::uint32_t mode = 0666) const;
  /// Replaces the content: other processes see the new or the old one, never a mixture. A link is replaced,
  /// not followed. `durable`: survives a power failure.
  engine::Status write(const std::filesystem::path& below, std::string_view text, bool durable,
                       std::uint32_t mode = 0666) const;
  /// The same for a free name. Of several processes that make it at once, exactly one does. For
  /// all of them the file is complete and durable when this returns; read it to learn whose it is.
  engine::Status write_if_missing(const std::filesystem::path& below, std::string_view text,
                                  std::uint32_t mode = 0666) const;
  /// wrong_state: the name is taken.
  engine::Status make_directory(const std::filesystem::path& below) const;
  /// Also makes the directories above it; existing ones are no error.
  engine::Status make_directories(const std::filesystem::path& below) const;
  /// wrong_state: the name is taken.
  engine::Status make_link(const std::filesystem::path& target, const std::filesystem::path& below) const;

  /// Removes a file, or an empty directory; a missing name is no error.
  engine::Status remove(const std::filesystem::path& below) const;

  /// Makes the names in this directory durable.
  [[nodiscard]] engine::Status sync() const;

  /// An error with the path of `below` and the kernel's message. For functions besides this class.
  [[nodiscard]] engine::Error failed(std::string_view doing, const std::filesystem::path& below,
                                     int error) const;
  /// A descriptor for names below, or -1 and errno. `flags` as for open(), without O_TRUNC.
  [[nodiscard]] Descriptor look_up(const std::filesystem::path& below, int flags,
                                   std::uint32_t mode = 0) const;

 private:
  /// Where the last name of a path is looked up: at `directory`, or at this one if that is closed.
  struct Place {
    Descriptor directory;
    int at = -1;
    std::string name;
  };
  [[nodiscard]] engine::Result<Descriptor> regular_file(std::string_view doing,
                                                        const std::filesystem::path& below, int flags) const;
  /// A new file with a random name and that content; returns its name.
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
