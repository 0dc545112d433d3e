#pragma once

#include <string>
#include <string_view>

#include "daemon/pages/page_files.hpp"
#include "hpsearch/io/http/http.hpp"

namespace hpsearch::daemon {

/// The dashboard as files: they hold no data, so they are served without a token.
///
/// A path that names a file is answered with it. A path whose last part has a dot is not found. Every other
/// path is an address inside the dashboard and gets index.html, in which {{base}} stands for the way back to
/// the first page ("./", "../../"): so the pages work below any prefix that a proxy adds.
/// Threads: any, if those of `find` are. Cost: a copy of the file.
class Pages {
 public:
  explicit Pages(FindPageFile find) : find_(std::move(find)) {}

  /// To a GET or HEAD of a path for which is_page() is true.
  [[nodiscard]] net::HttpResponse answer(const net::HttpRequest& request) const;

  /// Whether the path belongs to the pages, and not to the interface for programs.
  [[nodiscard]] static bool is_page(std::string_view path) noexcept;

 private:
  FindPageFile find_;
};

}  // namespace hpsearch::daemon
