#include "daemon/http/http_request_context.hpp"
#include "daemon/pages/pages.hpp"

namespace hpsearch::daemon {
namespace {

void show_page(RequestContext& context, Call call) {
  static const Pages embedded(embedded_page_files());
  const Pages& pages = context.about.pages != nullptr ? *context.about.pages : embedded;
  call.reply(pages.answer(call.request));
}

constexpr Route page_table[] = {
    {"GET", page_paths, Role::anyone, &show_page, only_for_browsers, any_query},
    {"HEAD", page_paths, Role::anyone, &show_page, only_for_browsers, any_query},
};

}  // namespace

std::span<const Route> page_routes() noexcept {
  return page_table;
}

}  // namespace hpsearch::daemon
