#pragma once

#include <cstdint>
#include <string>

#include "hpsearch/proto/encoding/spell.hpp"

namespace hpsearch::proto {

// The addresses of a daemon, in its state directory. The file exists while the daemon listens.

inline constexpr const char* daemon_file_name = "daemon.json";

struct DaemonFile {
  std::string socket;   ///< "unix:///var/lib/hpsearch/api.sock"
  std::string http;     ///< "127.0.0.1:8077"; "" = no TCP port for clients.
  std::string workers;  ///< "tcp://127.0.0.1:8078"
  std::string version;
  std::uint64_t daemon_epoch = 0;
  std::int64_t pid = 0;
};

void spell(auto& fields, Is<DaemonFile> auto& file) {
  fields("socket", file.socket);
  fields.maybe("http", file.http);
  fields("workers", file.workers);
  fields.maybe("version", file.version);
  fields.maybe("daemon_epoch", file.daemon_epoch);
  fields("pid", file.pid);
}

}  // namespace hpsearch::proto
