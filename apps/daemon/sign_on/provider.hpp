#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "daemon/sign_on/id_token.hpp"
#include "daemon/sign_on/person.hpp"
#include "daemon/sign_on/sign_in_file.hpp"
#include "daemon/sign_on/sign_in_states.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/io/http/http.hpp"

namespace hpsearch::daemon {

/// A request of the daemon to a provider.
struct ProviderRequest {
  Url url;
  std::string form{};  ///< "" = GET; otherwise POST of application/x-www-form-urlencoded.
  net::HttpHeaders headers{};
  std::string authorities{};  ///< As ProviderSettings has them.
};

/// Sends it, over TLS with a check of the certificate and its name. May take seconds.
[[nodiscard]] engine::Result<net::HttpResponse> ask_provider(const ProviderRequest& request);

/// Signs people in at one OpenID provider: authorization code flow with PKCE (S256), state and nonce. Where
/// it has its services and its keys is asked of it when that is needed, and kept for an hour.
///
/// Threads: any. begin() and finish() wait for the provider, each request for seconds.
class Provider {
 public:
  using Ask = std::function<engine::Result<net::HttpResponse>(const ProviderRequest&)>;
  static constexpr engine::Duration kept_for = engine::Duration::seconds(3600);
  /// After a failure, and after keys were read, the provider is left alone for so long.
  static constexpr engine::Duration least_pause = engine::Duration::seconds(5);

  explicit Provider(ProviderSettings settings, Ask ask = ask_provider)
      : settings_(std::move(settings)), ask_(std::move(ask)) {}

  [[nodiscard]] const ProviderSettings& settings() const noexcept { return settings_; }

  /// A sign-in for one browser.
  struct Begun {
    std::string address;  ///< The browser goes there.
    std::string key;      ///< The browser keeps it, and shows it with the answer.
  };
  /// unavailable: the provider can't be reached, or answers what is not allowed.
  [[nodiscard]] engine::Result<Begun> begin(engine::Instant now);

  /// The values that the browser brings back.
  struct Answer {
    std::string state;
    std::string code;
    std::string key;
  };
  /// unavailable: as begin(); bad_request: the sign-in can't be accepted.
  [[nodiscard]] engine::Result<Person> finish(const Answer& answer, engine::Instant now);

 private:
  struct Services {
    Url authorization;
    std::string authorization_text;
    Url token;
    Url keys;
    std::optional<Url> userinfo;
    bool takes_secret_in_form = false;
  };
  [[nodiscard]] engine::Result<engine::Value> ask(ProviderRequest request, const std::string& what) const;
  [[nodiscard]] engine::Result<Services> services(engine::Instant now);
  [[nodiscard]] engine::Result<Services> read_services() const;
  [[nodiscard]] engine::Result<engine::Value> claims_of(const std::string& token, const Services& services,
                                                        engine::Instant now);
  [[nodiscard]] engine::Result<engine::Value> tokens_for(const std::string& code, const std::string& verifier,
                                                         const Services& services) const;
  [[nodiscard]] engine::Status add_userinfo(engine::Value& claims, const engine::Value& tokens,
                                            const Services& services) const;
  [[nodiscard]] engine::Result<Person> person_of(const engine::Value& claims, engine::Instant now) const;
  [[nodiscard]] std::string redirect() const { return settings_.pages + "/login"; }

  const ProviderSettings settings_;
  Ask ask_;
  SignInStates states_;
  std::mutex mutex_;  ///< Guards the members below; held while the provider is asked for them.
  std::optional<Services> services_;
  engine::Instant services_at_;
  std::optional<engine::Error> failure_;  ///< Why services_ could not be read at failed_at_.
  engine::Instant failed_at_;
  std::optional<engine::Value> keys_;
  engine::Instant keys_at_;
};

}  // namespace hpsearch::daemon
