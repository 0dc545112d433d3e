#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "daemon/downloads/http_download.hpp"
#include "daemon/http/http_request_context.hpp"
#include "hpsearch/engine/experiment/workspace.hpp"
#include "hpsearch/proto/api/files.hpp"
#include "hpsearch/proto/api/schema.hpp"

namespace hpsearch::daemon {
namespace {

Error not_here(const std::string& digest) {
  return Error{Errc::not_found, "the daemon does not have the context " + digest};
}

void fetch(RequestContext& request_context, Call call) {
  if (!may_use_context(request_context, call.caller, call.digest)) {
    call.reply(failure(not_here(call.digest)));
    return;
  }
  const std::filesystem::path path = request_context.about.contexts->path(call.digest);
  const auto directory = files::Directory::open(path.parent_path());
  auto file = directory ? files::OpenFile::of(*directory, path.filename())
                        : Result<files::OpenFile>(directory.error());
  call.reply(file ? answer_with(request_context, call,
                                download_of(*std::move(file), call.digest, "application/x-tar"))
                  : failure(file.error().code == Errc::not_found ? not_here(call.digest) : file.error()));
}

/// The number of contexts of the largest size that one client may leave unused.
constexpr std::uint64_t most_unused = 8;

/// Why the daemon can't keep this many more bytes for the caller until an experiment names them.
std::optional<Error> over_quota(const RequestContext& request_context, const Caller& caller,
                                std::uint64_t bytes) {
  const Contexts& contexts = *request_context.about.contexts;
  const std::uint64_t most = most_unused * contexts.most_bytes();
  const std::uint64_t its = contexts.uploaded_by(key_owner(caller));
  if (its + bytes > most) {
    return Error{Errc::quota, caller.name + " has uploaded " + std::to_string(its) +
                                  " bytes of contexts that no experiment names, this one has " +
                                  std::to_string(bytes) + ", and " + std::to_string(most) +
                                  " are kept; those that no experiment names are removed after an hour"};
  }
  std::optional<Error> over;
  for (const std::string& name : caller.scope.names()) {
    const auto& workspaces = request_context.runtime.engine().workspaces();
    const auto workspace = workspaces.find(name);
    if (workspace == workspaces.end() || !workspace->second.quota.max_context_bytes) {
      return std::nullopt;
    }
    const std::uint64_t used = workspace->second.context_bytes + contexts.uploaded_to(name);
    const std::uint64_t limit = *workspace->second.quota.max_context_bytes;
    if (used + bytes <= limit) {
      return std::nullopt;
    }
    over = Error{Errc::quota, "workspace \"" + name + "\" stores " + std::to_string(used) +
                                  " bytes of contexts, with uploads that no experiment names; this one has " +
                                  std::to_string(bytes) + ", and its quota is " + std::to_string(limit) +
                                  " (max_context_bytes)"};
  }
  return over;
}

void take(RequestContext& request_context, Call call) {
  if (request_context.about.contexts == nullptr) {
    call.reply(failure(not_here(call.digest)));
    return;
  }
  if (request_context.runtime.storage().intake != Intake::everything) {
    call.reply(no_room(request_context.runtime.storage()));
    return;
  }
  if (call.request.uploaded == nullptr) {
    call.reply(failure(Error{Errc::bad_request, "the body has to be a tar archive, application/x-tar"}));
    return;
  }
  if (const auto over = over_quota(request_context, call.caller, call.request.uploaded->bytes());
      over && !request_context.about.contexts->was_brought_by(call.digest, key_owner(call.caller))) {
    call.reply(failure(*over));
    return;
  }
  const api::StoredContext shown{call.digest, call.request.uploaded->bytes()};
  request_context.about.contexts->take(call.digest, std::move(call.request.uploaded),
                                       {key_owner(call.caller), call.caller.scope},
                                       [reply = call.reply, shown](const engine::Status& taken) {
                                         reply(taken ? with(201, shown) : failure(taken.error()));
                                       });
}

constexpr Route context_table[] = {
    {"GET",
     "/api/v1/contexts/{digest}",
     Role::worker,
     &fetch,
     {"fetch_context", "contexts", "Answers the archive of a context", nullptr, nullptr, 200,
      "application/x-tar"}},
    {"HEAD",
     "/api/v1/contexts/{digest}",
     Role::worker,
     &fetch,
     {"find_context", "contexts", "Whether the daemon has a context", nullptr}},
    {"PUT",
     "/api/v1/contexts/{digest}",
     Role::submit,
     &take,
     {"store_context", "contexts", "Stores a context", api::schema_of<api::StoredContext>, nullptr, 201, "",
      "application/x-tar"}},
};

}  // namespace

std::span<const Route> context_routes() noexcept {
  return context_table;
}

}  // namespace hpsearch::daemon
