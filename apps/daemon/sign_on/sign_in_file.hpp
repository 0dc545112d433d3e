#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/notifications/receivers.hpp"
#include "daemon/sign_on/role_table.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// An OpenID provider, and this daemon as one of its clients.
struct ProviderSettings {
  std::string name;    ///< For people, on the button: "Example".
  std::string issuer;  ///< As its tokens spell it.
  std::string client_id;
  std::string client_secret;  ///< "" = a public client.
  std::string pages;          ///< The address of the daemon's pages, without a "/" at its end.
  std::string authorities;    ///< Certificates that vouch for its server, in PEM; "" = those of this machine.
  std::vector<std::string> scopes{"openid", "email", "profile"};
  std::string name_claim = "email";                                   ///< Claim with the name of a person.
  std::string groups_claim = "groups";                                ///< Claim with a list of groups.
  engine::Duration session = engine::Duration::seconds(12LL * 3600);  ///< Sessions end after it.

  friend bool operator==(const ProviderSettings&, const ProviderSettings&) = default;
};

/// The file of `hpsearchd --sign-in-file`.
struct SignInFile {
  std::optional<ProviderSettings> provider{};  ///< None: people come through a proxy only.
  RoleTable roles{};
};

/// An address of a provider. Null: it is none, or it has no TLS and is not on this machine.
[[nodiscard]] std::optional<Url> read_provider_url(const std::string& text);

/// Reads the file, and those that it names. bad_request: all its problems, a line for each; unavailable: it
/// can't be read; corrupt: others may write it.
[[nodiscard]] engine::Result<SignInFile> read_sign_in_file(const std::string& path);

}  // namespace hpsearch::daemon
