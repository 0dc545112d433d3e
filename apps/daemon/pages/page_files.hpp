#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hpsearch::daemon {

/// One file of the dashboard, as it is stored.
struct PageFile {
  std::string bytes;
  bool is_gzipped = false;
  std::string hash;  ///< Hash of the content, for ETag: hexadecimal digits.
};

/// The file of that name ("index.html", "assets/main.ABCD1234.js"), or null. Threads: any.
using FindPageFile = std::function<std::optional<PageFile>(std::string_view name)>;

/// The files embedded in this program (cmake/HpsearchWeb.cmake). Cost: a copy of the file.
[[nodiscard]] FindPageFile embedded_page_files();

/// The files in a directory, which are read again for each request; for development.
[[nodiscard]] FindPageFile page_files_in(std::string directory);

/// Whether a page file may have this name: its parts are letters, digits, '.', '_' and '-', and none of them
/// starts with a dot.
[[nodiscard]] bool is_page_file_name(std::string_view name) noexcept;

}  // namespace hpsearch::daemon
