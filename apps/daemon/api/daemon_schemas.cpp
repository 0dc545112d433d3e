#include "daemon/api/schema.hpp"

namespace hpsearch::daemon {
namespace {

constexpr Field health_fields[] = {
    {"status", "ok|degraded", "`ok`, or `degraded` if the storage takes less than usual."},
    {"storage", "text", "`ample`, `low`, `scarce`, `exhausted` or `full`."},
    {"why?", "text", "What is wrong with the storage."},
};
constexpr Field check_fields[] = {
    {"check", "text", "Name of the check."},
    {"why", "text", "Why it fails."},
};
constexpr Field readiness_fields[] = {
    {"ready", "flag", "Whether the daemon takes all requests."},
    {"failing", "[FailingCheck]", "The checks that fail."},
};
constexpr Field searcher_fields[] = {
    {"name", "text", "Name of the searcher, as `searcher.name` has it."},
    {"fields", "[text]", "Fields of `searcher` that it reads beyond the common ones."},
    {"required", "[text]", "Fields of `searcher` that it needs."},
};
constexpr Field searcher_list_fields[] = {
    {"searchers", "[Searcher]", "All searchers of this daemon."},
};
constexpr Field version_fields[] = {
    {"version", "text", "Version of the daemon."},
    {"api", "[text]", "Versions of the API that are served."},
    {"oldest_client", "text", "Oldest release of clients that is served."},
    {"wire_version", "integer", "Version of the protocol of workers."},
    {"store_version", "integer", "Version of the store's format."},
};
constexpr Field storage_fields[] = {
    {"state", "text", "`ample`, `low`, `scarce`, `exhausted` or `full`."},
    {"free_bytes", "integer", "Free space on the store's disk."},
    {"total_bytes", "integer", "Size of the store's disk."},
    {"why", "text", "Why the daemon accepts less than usual; \"\" if it doesn't."},
};
constexpr Field status_fields[] = {
    {"version", "text", "Version of the daemon."},
    {"pid", "integer", "Process ID of the daemon."},
    {"state_dir", "text", "Absolute path of the daemon's state directory."},
    {"cluster", "text", "Identity of the store, as decimal digits."},
    {"daemon_epoch", "integer", "How often a daemon was started on this store."},
    {"lsn", "integer", "Sequence number of the last event."},
    {"durable_lsn", "integer", "Sequence number of the last event that is on disk."},
    {"uptime_seconds", "number", "Time since the daemon was started."},
    {"engine_seconds", "number", "Time spent on decisions since the start."},
    {"late_reports", "integer", "Reports of attempts that had already ended, rejected since the start."},
    {"store_seconds", "number", "Time spent on commits since the start."},
    {"commits", "integer", "Number of commits since the start."},
    {"events", "integer", "Number of events committed since the start."},
    {"experiments", "integer", "Number of experiments."},
    {"storage", "Storage", "Space on the store's disk."},
    {"searchers", "[text]", "Names of the searchers."},
};
constexpr Field event_fields[] = {
    {"lsn", "integer", "Sequence number of the event."},
    {"at", "number", "When it happened."},
    {"type", "text", "Type of the event; proto/SCHEMA.md lists the types and their further fields."},
};
constexpr Field event_page_fields[] = {
    {"events", "[Event]", "The events, in order."},
    {"last_lsn", "integer", "The next page's `after`."},
};
constexpr Field api_fields[] = {
    {"openapi", "text", "Version of OpenAPI."},
    {"paths", "map", "All routes, by path."},
    {"components", "map", "All schemas and shared parts."},
};
constexpr Field store_copy_fields[] = {
    {"path", "text", "Path of the copy on the daemon's machine."},
};
constexpr Field backup_result_fields[] = {
    {"path", "text", "Path of the copy."},
    {"good", "flag", "Whether a backup was made of the copy and checked; only such ones count."},
};
constexpr Field error_fields[] = {
    {"code", "text", "`bad_request`, `not_found`, `wrong_state`, `conflict` or `unavailable`."},
    {"message", "text", "What went wrong, as a sentence."},
    {"problems?", "[FieldProblem]", "The single problems, if there are several."},
};
constexpr Field field_problem_fields[] = {
    {"path", "text", "The field or parameter."},
    {"what", "text", "What is wrong with it."},
    {"allowed", "text", "What it may be."},
};
constexpr Field problem_item_fields[] = {
    {"path?", "text", "The field, as messages name it."},
    {"pointer?", "text", "JSON pointer to the place in the body, or in the experiment file in it."},
    {"parameter?", "text", "Name of a parameter of the query."},
    {"line?", "integer", "Line of the YAML text."},
    {"detail", "text", "What is wrong."},
    {"allowed?", "text", "What is allowed."},
};
constexpr Field problem_fields[] = {
    {"type", "text", "A name for the kind of problem; it does not change."},
    {"title", "text", "Title of the kind of problem."},
    {"status", "integer", "Status of the answer."},
    {"detail", "text", "What went wrong, as a sentence."},
    {"instance", "text", "ID of the request, as in X-Request-Id and in the log."},
    {"errors?", "[ProblemItem]", "The single problems, each with its place."},
    {"error", "Error", "Code, message and problems, as `--output json` prints a failure."},
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
