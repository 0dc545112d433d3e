#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "daemon/notifications/notification.hpp"
#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// Somebody who is notified.
struct Receiver {
  enum class Way : std::uint8_t { webhook, slack, mail };

  std::string name;
  Way way = Way::webhook;
  std::string url;              ///< The address of a webhook, or Slack's.
  std::string fingerprint;      ///< SHA-256 of the only certificate that is accepted there; "" = any that an authority vouches for.
  std::string secret;           ///< The key that signs webhooks; "" = they are not signed.
  std::vector<std::string> to;  ///< Addresses of mail.
  std::set<Occasion> on;
  std::vector<std::string> workspaces;  ///< Empty: all.
  std::vector<std::string> labels;      ///< An experiment has one of them; empty: all experiments.

  [[nodiscard]] bool wants(const Notification& notification) const;
};

/// The file of `hpsearchd --notify`.
struct Receivers {
  std::string pages;  ///< The address of the pages, for links, without a "/" at its end; "" = there are no links.
  std::string sendmail = "/usr/sbin/sendmail";
  engine::Duration new_best_every = engine::Duration::seconds(60);  ///< Best results are looked at so often.
  std::vector<Receiver> list;
};

/// Reads the file, and the secrets that it names. bad_request: all its problems, a line for each; unavailable: it cannot be
/// read; wrong_state: other users of the machine may read it.
[[nodiscard]] engine::Result<Receivers> read_receivers(const std::string& path);

}  // namespace hpsearch::daemon
