#pragma once

#include <string>
#include <vector>

namespace hpsearch::cli {

/// The systemd unit of a daemon.
struct DaemonUnit {
  std::vector<std::string> command;  ///< The program, by its whole path, and its arguments.
  std::string user;                  ///< For a system unit; "" = for a unit of the user's own manager.
  std::vector<std::string> written;  ///< Directories that the daemon writes to.

  /// deploy/systemd/hpsearchd.service with these values. A user's manager cannot give the protection of a
  /// system unit, so a unit without `user` leaves it out.
  [[nodiscard]] std::string text() const;
};

}  // namespace hpsearch::cli
