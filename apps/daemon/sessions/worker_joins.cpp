#include "daemon/sessions/worker_joins.hpp"

#include <string>
#include <utility>

#include "hpsearch/io/net/log.hpp"
#include "hpsearch/io/zmq/invite_token.hpp"

namespace hpsearch::daemon {

using engine::Errc;
using engine::Error;
using engine::Result;

void WorkerJoins::take(const WorkerSessions::Settings::Guest& guest, const proto::Join& join,
                       WorkerSessions::Settings::JoinAnswer answer) {
  const engine::Instant now = runtime_.now();
  const std::string id = net::invite_id(guest.invite_key);
  const AuditEntry entry = cut_to_size({.at = now.micros(),
                                        .request = "",
                                        .channel = "workers",
                                        .from = guest.address,
                                        .name = "invite " + id,
                                        .token = id,
                                        .role = "worker",
                                        .resource = "workers/" + join.name,
                                        .method = "JOIN",
                                        .path = join.public_key});
  if (const std::string why = audit_.why_not(now); !why.empty()) {
    answer(Error{Errc::unavailable, "the daemon can't write its audit log: " + why});
    return;
  }
  disk_.run([this, key = guest.invite_key, worker = WorkerKey{join.name, join.public_key},
             replaces = is_name_of_the_lost(join.name), now, entry, answer = std::move(answer)] {
    const Result<std::string> name = invites_.join(key, worker, replaces, keys_, now);
    return [this, name, entry, answer] { record(entry, name, answer); };
  });
}

bool WorkerJoins::is_name_of_the_lost(const std::string& name) const {
  bool is_known = false;
  for (const auto& [id, worker] : runtime_.engine().workers()) {
    if (worker.name == name && worker.present) {
      return false;
    }
    is_known = is_known || worker.name == name;
  }
  return is_known;
}

void WorkerJoins::record(AuditEntry entry, const Result<std::string>& name,
                         const WorkerSessions::Settings::JoinAnswer& answer) {
  if (!name) {
    entry.status = 403;
    audit_.note_refusal(std::move(entry));
    answer(name.error());
    return;
  }
  net::log(net::Level::info, "worker \"" + *name + "\" joins with " + entry.name +
                                 (entry.from.empty() ? "" : " from " + entry.from));
  entry.status = 200;
  audit_.record(std::move(entry), [joined = proto::Joined{*name}, answer](const engine::Status& written) {
    answer(written ? Result<proto::Joined>(joined)
                   : Error{Errc::unavailable,
                           "the daemon can't write its audit log: " + written.error().message});
  });
}

}  // namespace hpsearch::daemon
