#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/notifications/notification.hpp"
#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// The parts of "https://host:8443/path?query", whose path may be a secret.
struct Url {
  std::string address;  ///< For net::http_request(): "https://host:8443".
  std::string target;   ///< "/path?query"
};
/// Nothing: it is none, or has a user, a fragment or a port that there is not.
[[nodiscard]] std::optional<Url> read_url(const std::string& text);

/// The key that a secret stands for: "whsec_" and the base64 of the key, or the key itself. Nothing: it is
/// not base64.
[[nodiscard]] std::optional<std::string> key_of(const std::string& secret);

/// Somebody who is notified.
struct Receiver {
  enum class Way : std::uint8_t { webhook, slack, mail };

  std::string name;
  Way way = Way::webhook;
  Url url;                      ///< A webhook's, or Slack's.
  std::string key;              ///< Signs webhooks; "" = they are not signed.
  std::vector<std::string> to;  ///< Addresses of mail.
  std::set<Occasion> on;
  std::vector<std::string> workspaces;  ///< Empty: all.
  std::vector<std::string> labels;      ///< An experiment has one of them; empty: all experiments.

  [[nodiscard]] bool wants(const Notification& notification) const;
};

/// The file of `hpsearchd --notify`.
struct Receivers {
  std::string
      pages;  ///< The address of the pages, for links, without a "/" at its end; "" = there are no links.
  std::string sendmail = "/usr/sbin/sendmail";
  engine::Duration new_best_every = engine::Duration::seconds(60);  ///< Best results are looked at so often.
  std::vector<Receiver> list;
};

/// Reads the file, and the secrets that it names. bad_request: all its problems, a line for each;
/// unavailable: it cannot be read; wrong_state: other users of the machine may read it.
[[nodiscard]] engine::Result<Receivers> read_receivers(const std::string& path);

}  // namespace hpsearch::daemon
