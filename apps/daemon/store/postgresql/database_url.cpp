#include "daemon/store/postgresql/database_url.hpp"

#include "daemon/store/postgresql/libpq.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Error;
using engine::Result;

constexpr std::string_view schemes[] = {"postgresql://", "postgres://"};
constexpr const char* no_password =
    "has a password, which every user of this machine could read: leave it out, and write it into the "
    "password "
    "file of libpq (~/.pgpass or PGPASSFILE, mode 0600: HOST:PORT:DATABASE:USER:PASSWORD), or name a service "
    "of ~/.pg_service.conf (?service=NAME)";

std::string one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text;
}

}  // namespace

bool DatabaseUrl::is_meant(std::string_view text) noexcept {
  return text.starts_with(schemes[0]) || text.starts_with(schemes[1]);
}

std::string password_problem(std::string_view url) {
  const std::size_t start = url.find("://");
  const std::string_view rest = start == std::string_view::npos ? url : url.substr(start + 3);
  const std::string_view place = rest.substr(0, rest.find('?'));
  const std::size_t at = place.rfind('@');
  const bool has_user = at != std::string_view::npos;
  if ((has_user && place.substr(0, at).find(':') != std::string_view::npos) ||
      rest.find("password=") != std::string_view::npos) {
    return no_password;
  }
  return "";
}

Result<DatabaseUrl> DatabaseUrl::read(const std::string& text) {
  if (const std::string problem = password_problem(text); !problem.empty()) {
    return Error{Errc::bad_request, "the address of the store " + problem};
  }
  const auto pq = LibPq::usual();
  if (!pq) {
    return pq.error();
  }
  const auto options = (*pq)->parse(text);
  if (!options) {
    return Error{Errc::bad_request,
                 "the address of the store can't be read: " + one_line(options.error().message) +
                     "; it has the form postgresql://USER@HOST:PORT/DATABASE"};
  }
  if (options->contains("password") || options->contains("sslpassword")) {
    return Error{Errc::bad_request, std::string("the address of the store ") + no_password};
  }
  return DatabaseUrl(text);
}

}  // namespace hpsearch::daemon
