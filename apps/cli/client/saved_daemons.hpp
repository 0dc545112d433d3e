#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/verbs/failure.hpp"
#include "hpsearch/proto/encoding/spell.hpp"

namespace hpsearch::cli {

/// A daemon with a name that the user chose: `hpsearch context` calls it a context.
struct SavedDaemon {
  std::string name;
  std::string server;  ///< "unix:///path" or "host:port".
  std::string token;   ///< "" = none.
};

/// The file contexts.json in $XDG_CONFIG_HOME/hpsearch or ~/.config/hpsearch, mode 0600.
struct SavedDaemons {
  std::string current;  ///< Name of the default daemon; "" = none.
  std::vector<SavedDaemon> daemons;

  [[nodiscard]] const SavedDaemon* find(const std::string& name) const noexcept;
};

void spell(auto& fields, proto::Is<SavedDaemon> auto& daemon) {
  fields("name", daemon.name);
  fields("server", daemon.server);
  fields.maybe("token", daemon.token);
}

void spell(auto& fields, proto::Is<SavedDaemons> auto& saved) {
  fields.maybe("current", saved.current);
  fields("contexts", saved.daemons);
}

[[nodiscard]] std::filesystem::path saved_daemons_file();

/// Reads the file; empty if there is none.
[[nodiscard]] Outcome<SavedDaemons> load_saved_daemons();
/// Replaces the file atomically.
[[nodiscard]] Outcome<engine::Done> save(const SavedDaemons& saved);

/// Reads a token from a file, or for "-" from standard input. Refuses a file that others may read.
[[nodiscard]] Outcome<std::string> read_token_file(const std::string& path);

}  // namespace hpsearch::cli
