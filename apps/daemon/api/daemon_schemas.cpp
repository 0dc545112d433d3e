#include "daemon/api/schema.hpp"

namespace hpsearch::daemon {
namespace {

constexpr Field health_fields[] = {
    {"status", "ok|degraded"},
    {"storage", "text"},
    {"why?", "text", "What is wrong with the storage."},
};
constexpr Field version_fields[] = {
    {"version", "text"},
    {"api", "text"},
    {"wire_version", "integer"},
    {"store_version", "integer"},
};
constexpr Field storage_fields[] = {
    {"state", "text"},
    {"free_bytes", "integer"},
    {"total_bytes", "integer"},
    {"why", "text"},
};
constexpr Field status_fields[] = {
    {"version", "text"},
    {"pid", "integer"},
    {"state_dir", "text"},
    {"cluster", "text"},
    {"daemon_epoch", "integer"},
    {"lsn", "integer", "Sequence number of the last event."},
    {"durable_lsn", "integer", "Of the last one on disk."},
    {"uptime_seconds", "number"},
    {"engine_seconds", "number"},
    {"late_reports", "integer"},
    {"store_seconds", "number"},
    {"commits", "integer"},
    {"events", "integer"},
    {"experiments", "integer"},
    {"storage", "Storage"},
    {"searchers", "[text]"},
};
constexpr Field event_fields[] = {
    {"lsn", "integer", "Sequence number."},
    {"at", "number"},
    {"type", "text", "proto/SCHEMA.md lists the types and their further fields."},
};
constexpr Field event_page_fields[] = {
    {"events", "[Event]"},
    {"last_lsn", "integer", "The next page's `after`."},
};
constexpr Field api_fields[] = {
    {"openapi", "text", "Version of OpenAPI."}, {"paths", "map"}, {"components", "map"}};
constexpr Field backup_fields[] = {{"path", "text", "The file, on the daemon's machine."}};
constexpr Field error_fields[] = {
    {"code", "text"},
    {"message", "text"},
    {"problems?", "[FieldProblem]"},
};
constexpr Field field_problem_fields[] = {
    {"path", "text", "The field or parameter."},
    {"what", "text", "What is wrong with it."},
    {"allowed", "text", "What it may be."},
};
constexpr Field problem_fields[] = {{"error", "Error"}};

constexpr Schema table[] = {
    {"Health", "Whether the daemon works.", health_fields},
    {"Version", "Versions of the daemon and of its formats.", version_fields},
    {"Storage", "The file system of the store.", storage_fields},
    {"Status", "The daemon's state.", status_fields},
    {"Event", "A stored event.", event_fields},
    {"EventPage", "Stored events in their order.", event_page_fields},
    {"ApiDescription", "An OpenAPI document.", api_fields},
    {"Backup", "A copy of the store.", backup_fields},
    {"FieldProblem", "What is wrong with one field.", field_problem_fields},
    {"Error", "Why a request failed.", error_fields},
    {"Problem", "The answer to a request that failed.", problem_fields},
};

}  // namespace

std::span<const Schema> daemon_schemas() noexcept {
  return table;
}

}  // namespace hpsearch::daemon
