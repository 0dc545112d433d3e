#pragma once

#include <cstdint>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/files/directory.hpp"

namespace hpsearch::files {

/// The maximum depth of a tree that is copied or published. Removal has no limit.
inline constexpr int deepest_tree = 200;

/// Renames an entry; the new name must be free. wrong_state: it is taken. Between two file systems, the entry
/// is copied and then removed; if copying fails, nothing is left at the new name.
engine::Status move_entry(const Directory& from, const std::string& name, const Directory& to,
                          const std::string& new_name);

/// Copies one regular file with its mode; the new name must be free.
engine::Status copy_file(const Directory& from, const std::string& name, const Directory& to,
                         const std::string& new_name);

/// Copies directories, files and links, with modes; the new name must be free. bad_request: the tree has
/// other files, such as a pipe, or is deeper than deepest_tree. The part that was copied
/// before stays.
engine::Status copy_tree(const Directory& from, const std::string& name, const Directory& to,
                         const std::string& new_name);

enum class Files : std::uint8_t {
  copied,
  shared  ///< Hard links, if the file system has them.
};

/// Copies the content of a directory into an existing one.
engine::Status copy_content(const Directory& from, const Directory& to, Files files = Files::copied);

/// Changes the owner of everything under that name, links included. For root, and for trees that
/// no other process changes meanwhile. After an error, the rest keeps its owner.
engine::Status give_tree(const Directory& parent, const std::string& name, std::uint32_t uid,
                         std::uint32_t gid);

/// Removes everything under that name, as far as possible, and never through a link or into a mount. A
/// program may have removed its own rights to a directory: they are restored. A missing name is no error.
///
/// The error is about the first thing that stays. Cost: at most 64 open directories at any depth.
engine::Status remove_tree(const Directory& parent, const std::string& name) noexcept;

/// Removes the content of a directory.
engine::Status remove_content(const Directory& directory) noexcept;

}  // namespace hpsearch::files
