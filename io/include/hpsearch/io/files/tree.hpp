#pragma once

#include <cstdint>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/files/directory.hpp"

namespace hpsearch::files {

/// Directories inside each other that a tree may have to be copied or published. Removing has no limit.
inline constexpr int deepest_tree = 200;

/// Renames an entry; the new name must be free. wrong_state: it is taken. Between two file systems it is
/// copied and then removed; when it cannot be copied nothing is left at the new name.
engine::Status move_entry(const Directory& from, const std::string& name, const Directory& to,
                          const std::string& new_name);

/// Copies one regular file with its mode; the new name must be free.
engine::Status copy_file(const Directory& from, const std::string& name, const Directory& to,
                         const std::string& new_name);

/// Copies directories, files and links, with modes; the new name must be free. bad_request: there is
/// something else, such as a pipe, or more than deepest_tree directories inside each other. What was copied
/// by then stays.
engine::Status copy_tree(const Directory& from, const std::string& name, const Directory& to,
                         const std::string& new_name);

enum class Files : std::uint8_t {
  copied,
  shared  ///< Hard links, where the file system has them.
};

/// The same of everything in a directory, into one that is there.
engine::Status copy_content(const Directory& from, const Directory& to, Files files = Files::copied);

/// Gives everything under that name, links included, to another user and group. For root, and for trees that
/// nobody else changes meanwhile. What was not given by the first error stays as it was.
engine::Status give_tree(const Directory& parent, const std::string& name, std::uint32_t uid,
                         std::uint32_t gid);

/// Removes what stands under that name, as far as possible, and never through a link or into a mount. A
/// program may have taken its own rights from a directory: it gets them back. What is not there is fine.
///
/// The first thing that stays is the error. Cost: at most 64 open directories, whatever the depth.
engine::Status remove_tree(const Directory& parent, const std::string& name) noexcept;

/// The same of everything in a directory.
engine::Status remove_content(const Directory& directory) noexcept;

}  // namespace hpsearch::files
