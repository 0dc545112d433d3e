#pragma once

#include <string>
#include <string_view>

#include "daemon/pages/page_files.hpp"
#include "hpsearch/io/http/http.hpp"

namespace hpsearch::daemon {

/// The dashboard as files: they contain no data, so they are served without a token.
///
/// The path of a file returns that file. A path whose last part has a dot is not found. Every other path is
/// an address inside the dashboard and returns index.html, in which {{base}} is replaced by the relative path
/// to the first page ("./", "../../"): so the pages work below any prefix that a proxy adds. Threads: any, if
/// those of `find` are. Cost: a copy of the file.
class Pages {
 public:
  explicit Pages(FindPageFile find) : find_(std::move(find)) {}

  /// The response to a GET or HEAD of a path for which is_page() is true.
  [[nodiscard]] net::HttpResponse answer(const net::HttpRequest& request) const;

  /// Whether the path belongs to the pages, and not to the API.
  [[nodiscard]] static bool is_page(std::string_view path) noexcept;

 private:
  FindPageFile find_;
};

}  // namespace hpsearch::daemon
