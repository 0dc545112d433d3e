#include "daemon/api/schema.hpp"

namespace hpsearch::daemon {
namespace {

constexpr Field health_fields[] = {
    {"status", "ok|degraded"},
    {"storage", "text"},
    {"why?", "text", "What is wrong with the storage."},
};
constexpr Field check_fields[] = {{"check", "text"}, {"why", "text"}};
constexpr Field readiness_fields[] = {{"ready", "flag"}, {"failing", "[FailingCheck]"}};
constexpr Field searcher_fields[] = {
    {"name", "text"},
    {"fields", "[text]", "Fields of `searcher` that it reads beyond the common ones."},
    {"required", "[text]", "Those that it needs."},
};
constexpr Field searcher_list_fields[] = {{"searchers", "[Searcher]"}};
constexpr Field version_fields[] = {
    {"version", "text"},
    {"api", "[text]", "Versions of the API that are served."},
    {"oldest_client", "text", "The oldest release of the command line that is served."},
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
constexpr Field store_copy_fields[] = {{"path", "text", "The file, on the daemon's machine."}};
constexpr Field backup_result_fields[] = {
    {"path", "text", "The copy."},
    {"good", "flag", "Whether a backup was made of the copy and checked; only such ones count."},
};
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
constexpr Field problem_item_fields[] = {
    {"path?", "text", "The field, as messages name it."},
    {"pointer?", "text", "JSON pointer: where in the body, or in the experiment file in it."},
    {"parameter?", "text", "Of the query."},
    {"line?", "integer", "Of the YAML."},
    {"detail", "text"},
    {"allowed?", "text"},
};
constexpr Field problem_fields[] = {
    {"type", "text", "A name for the kind of problem; it does not change."},
    {"title", "text"},
    {"status", "integer"},
    {"detail", "text"},
    {"instance", "text", "Id of the request, as in X-Request-Id and in the log."},
    {"errors?", "[ProblemItem]"},
    {"error", "Error", "The same for clients of earlier releases."},
};

constexpr Schema daemon_table[] = {
    {"Health", "Whether the daemon works.", health_fields},
    {"FailingCheck", "A check that failed.", check_fields},
    {"Readiness", "Whether the daemon takes all requests.", readiness_fields},
    {"Searcher", "A search algorithm.", searcher_fields},
    {"SearcherList", "All search algorithms.", searcher_list_fields},
    {"Version", "Versions of the daemon and of its formats.", version_fields},
    {"Storage", "The file system of the store.", storage_fields},
    {"Status", "The daemon's state.", status_fields},
    {"Event", "A stored event.", event_fields},
    {"EventPage", "Stored events in their order.", event_page_fields},
    {"ApiDescription", "An OpenAPI document.", api_fields},
    {"BackupResult", "What became of a copy of the store.", backup_result_fields},
    {"StoreCopy", "A copy of the store.", store_copy_fields},
    {"FieldProblem", "What is wrong with one field.", field_problem_fields},
    {"Error", "Why a request failed.", error_fields},
    {"ProblemItem", "One thing that is wrong with the request.", problem_item_fields},
    {"Problem", "The answer to a request that failed.", problem_fields},
};

}  // namespace

std::span<const Schema> daemon_schemas() noexcept {
  return daemon_table;
}

}  // namespace hpsearch::daemon
