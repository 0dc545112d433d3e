#include "daemon/access/token.hpp"

#include <string>

#include "daemon/api/parameter.hpp"
#include "daemon/http/answered_requests.hpp"
#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/io/zmq/invite_token.hpp"

// What clients put into headers and queries: a text is no token, or it is spelled as it was read; a key names
// a request or is refused; a number of a query is in its range.

namespace hpsearch::fuzz {
namespace {

void run_token(std::string_view bytes) {
  if (const auto token = daemon::read_token(bytes)) {
    HPSEARCH_CHECK(token->text() == bytes && daemon::is_token_id(token->id),
                   "a token is read as it is spelled");
  }
  if (const auto invite = net::InviteToken::read(bytes)) {
    HPSEARCH_CHECK(invite->text() == bytes, "an invite is read as it is spelled");
  }
  net::HttpRequest request;
  request.headers.emplace_back("Idempotency-Key", std::string(bytes));
  request.query.emplace_back("n", std::string(bytes));
  const auto name = daemon::AnsweredRequests::name_of("uid 0", request);
  HPSEARCH_CHECK(!name || bytes.empty() == !name->has_value(), "a key that is not refused names the request");
  static constexpr daemon::QueryParameter numbers[] = {
      {"n", daemon::QueryParameter::Kind::whole_number, "", 3, 9'000}};
  if (daemon::check_parameters(numbers, request) && !bytes.empty()) {
    const std::uint64_t number = std::stoull(std::string(bytes));
    HPSEARCH_CHECK(number >= 3 && number <= 9'000, "a number that is taken is in its range");
  }
}

Seeds token_seeds() {
  const std::string key = "54fcba24e93249969316fb617c872bb0c1d1ff14800427c594cbfacf1bc2d652";
  const net::InviteToken invite{"tcp://10.0.0.1:8078", {key, {key, key}}};
  return {daemon::Token{"aaaaaaaa", std::string(43, 'b')}.text(), invite.text(), "17", "8999", "a key"};
}

const Registered token_target({"token", run_token, token_seeds});

}  // namespace
}  // namespace hpsearch::fuzz
