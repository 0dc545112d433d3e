#include "hpsearch/io/zmq/invite_token.hpp"

#include <cstddef>
#include <utility>

#include "hpsearch/engine/base/base64url.hpp"
#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/io/files/sha256.hpp"

namespace hpsearch::net {
namespace {

using engine::Errc;
using engine::Error;

constexpr std::string_view prefix_of_clients = "hps_";
constexpr char format = 1;
constexpr std::size_t key_bytes = 32;
constexpr std::size_t check_bytes = 4;
constexpr std::size_t id_digits = 8;

std::string check_of(std::string_view bytes) {
  return engine::bytes_of_hex(files::sha256_of(bytes)).value_or("").substr(0, check_bytes);
}

}  // namespace

std::string InviteToken::text() const {
  std::string bytes(1, format);
  bytes += engine::bytes_of_hex(curve.server_key).value_or("");
  bytes += engine::bytes_of_hex(curve.keys.secret_key).value_or("");
  bytes += endpoint;
  return std::string(prefix) + engine::base64url_of(bytes + check_of(bytes));
}

engine::Result<InviteToken> InviteToken::read(std::string_view text) {
  const auto wrong = [](const char* why) { return Error{Errc::bad_request, why}; };
  if (text.starts_with(prefix_of_clients)) {
    return wrong(
        "this is a token of a client (hpsearch token); a worker joins with an invite, which hpsearch "
        "worker invite prints");
  }
  if (!text.starts_with(prefix)) {
    return wrong("this is not an invite; hpsearch worker invite prints one, and it begins with hpi_");
  }
  const auto bytes = engine::bytes_of_base64url(text.substr(prefix.size()));
  constexpr std::size_t least = 1 + 2 * key_bytes + check_bytes;
  const std::size_t checked = bytes && bytes->size() > least ? bytes->size() - check_bytes : 0;
  if (checked == 0 || check_of(bytes->substr(0, checked)) != bytes->substr(checked)) {
    return wrong(
        "the invite is damaged: characters are missing or wrong. Copy all of the line that hpsearch "
        "worker invite printed");
  }
  if (bytes->front() != format) {
    return wrong("the invite is of another release of hpsearch; install the same release on both machines");
  }
  InviteToken token;
  token.curve.server_key = engine::hex_of(std::string_view(*bytes).substr(1, key_bytes));
  auto keys = curve_keys_of_secret(engine::hex_of(std::string_view(*bytes).substr(1 + key_bytes, key_bytes)));
  if (!keys) {
    return keys.error();
  }
  token.curve.keys = *std::move(keys);
  token.endpoint = bytes->substr(1 + 2 * key_bytes, checked - 1 - 2 * key_bytes);
  return token;
}

std::string invite_id(std::string_view public_key) {
  return std::string(public_key.substr(0, id_digits));
}

}  // namespace hpsearch::net
