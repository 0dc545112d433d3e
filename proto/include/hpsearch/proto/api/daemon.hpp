#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/api/field_types.hpp"

namespace hpsearch::api {

struct Health {
  static constexpr Schema schema{"Health", "Whether the daemon works."};
  OneOf<"ok", "degraded"> status{};
  std::string storage{};
  std::optional<std::string> why{};

  static void list_fields(auto& fields, auto& self) {
    fields("status", self.status, "`ok`, or `degraded` if the storage takes less than usual.");
    fields("storage", self.storage,
           "`ample`, `low`, `scarce`, `exhausted`, `full`, or `away`: the store's database doesn't answer.");
    fields.maybe("why", self.why, "What is wrong with the storage.");
  }
};

struct FailingCheck {
  static constexpr Schema schema{"FailingCheck", "A check that failed."};
  std::string check{};
  std::string why{};

  static void list_fields(auto& fields, auto& self) {
    fields("check", self.check, "Name of the check.");
    fields("why", self.why, "Why it fails.");
  }
};

struct Readiness {
  static constexpr Schema schema{"Readiness", "Whether the daemon takes all requests."};
  bool ready = false;
  std::vector<FailingCheck> failing{};

  static void list_fields(auto& fields, auto& self) {
    fields("ready", self.ready, "Whether the daemon takes all requests.");
    fields("failing", self.failing, "The checks that fail.");
  }
};

struct Searcher {
  static constexpr Schema schema{"Searcher", "A search algorithm."};
  std::string name{};
  std::vector<std::string> fields{};
  std::vector<std::string> required{};

  static void list_fields(auto& fields, auto& self) {
    fields("name", self.name, "Name of the searcher, as `searcher.name` has it.");
    fields("fields", self.fields, "Fields of `searcher` that it reads beyond the common ones.");
    fields("required", self.required, "Fields of `searcher` that it needs.");
  }
};

struct SearcherList {
  static constexpr Schema schema{"SearcherList", "All search algorithms."};
  std::vector<Searcher> searchers{};

  static void list_fields(auto& fields, auto& self) {
    fields("searchers", self.searchers, "All searchers of this daemon.");
  }
};

struct Version {
  static constexpr Schema schema{"Version", "Versions of the daemon and of its formats."};
  std::string version{};
  std::vector<std::string> api{};
  std::string oldest_client{};
  std::uint64_t wire_version = 0;
  std::uint64_t store_version = 0;

  static void list_fields(auto& fields, auto& self) {
    fields("version", self.version, "Version of the daemon.");
    fields("api", self.api, "Versions of the API that are served.");
    fields("oldest_client", self.oldest_client, "Oldest release of clients that is served.");
    fields("wire_version", self.wire_version, "Version of the protocol of workers.");
    fields("store_version", self.store_version, "Version of the store's format.");
  }
};

struct Storage {
  static constexpr Schema schema{"Storage", "The file system of the store."};
  std::string state{};
  std::uint64_t free_bytes = 0;
  std::uint64_t total_bytes = 0;
  std::string why{};

  static void list_fields(auto& fields, auto& self) {
    fields("state", self.state,
           "`ample`, `low`, `scarce`, `exhausted`, `full`, or `away`: the store's database doesn't answer.");
    fields("free_bytes", self.free_bytes, "Free space on the store's disk.");
    fields("total_bytes", self.total_bytes, "Size of the store's disk.");
    fields("why", self.why, "Why the daemon accepts less than usual; \"\" if it doesn't.");
  }
};

struct Status {
  static constexpr Schema schema{"Status", "The daemon's state."};
  std::string version{};
  std::uint64_t pid = 0;
  std::string state_dir{};
  std::string cluster{};
  std::uint64_t daemon_epoch = 0;
  std::uint64_t lsn = 0;
  std::uint64_t durable_lsn = 0;
  double uptime_seconds = 0;
  double engine_seconds = 0;
  std::uint64_t late_reports = 0;
  double store_seconds = 0;
  std::uint64_t commits = 0;
  std::uint64_t events = 0;
  std::uint64_t experiments = 0;
  Storage storage{};
  std::vector<std::string> searchers{};

  static void list_fields(auto& fields, auto& self) {
    fields("version", self.version, "Version of the daemon.");
    fields("pid", self.pid, "Process ID of the daemon.");
    fields("state_dir", self.state_dir, "Absolute path of the daemon's state directory.");
    fields("cluster", self.cluster, "Identity of the store, as decimal digits.");
    fields("daemon_epoch", self.daemon_epoch, "How often a daemon was started on this store.");
    fields("lsn", self.lsn, "Sequence number of the last event.");
    fields("durable_lsn", self.durable_lsn, "Sequence number of the last event that is on disk.");
    fields("uptime_seconds", self.uptime_seconds, "Time since the daemon was started.");
    fields("engine_seconds", self.engine_seconds, "Time spent on decisions since the start.");
    fields("late_reports", self.late_reports,
           "Reports of attempts that had already ended, rejected since the start.");
    fields("store_seconds", self.store_seconds, "Time spent on commits since the start.");
    fields("commits", self.commits, "Number of commits since the start.");
    fields("events", self.events, "Number of events committed since the start.");
    fields("experiments", self.experiments, "Number of experiments.");
    fields("storage", self.storage, "Space on the store's disk.");
    fields("searchers", self.searchers, "Names of the searchers.");
  }
};

/// An option of the daemon that files, variables or flags set.
struct ConfiguredOption {
  static constexpr Schema schema{"ConfiguredOption", "An option of the daemon that was set."};
  std::string key{};
  std::vector<std::string> values{};
  std::string from{};

  static void list_fields(auto& fields, auto& self) {
    fields("key", self.key, "Key in configuration files, such as `http.listen`.");
    fields("values", self.values, "Its value; lists have several or none. A switch has `true` or `false`.");
    fields("from", self.from, "The file and line, the variable or the flag that has set it.");
  }
};

struct Configuration {
  static constexpr Schema schema{"Configuration",
                                 "The options of the daemon that were set; all others have their defaults."};
  std::vector<ConfiguredOption> options{};

  static void list_fields(auto& fields, auto& self) {
    fields("options", self.options, "In the order of their keys.");
  }
};

/// A stored event as proto::to_value() writes it.
struct Event {
  static constexpr Schema schema{"Event", "A stored event."};
  engine::Value value{};

  static void list_fields(auto& fields, auto& /*self*/) {
    fields("lsn", std::uint64_t{}, "Sequence number of the event.");
    fields("at", double{}, "When it happened.");
    fields("type", std::string(),
           "Type of the event; proto/SCHEMA.md lists the types and their further fields.");
  }
};

void put(proto::ValueWriter& out, const Event& event);
[[nodiscard]] bool read(proto::MsgpackItem item, Event& event, proto::Trouble& trouble);

struct EventPage {
  static constexpr Schema schema{"EventPage", "Stored events in their order."};
  std::vector<Event> events{};
  std::uint64_t last_lsn = 0;

  static void list_fields(auto& fields, auto& self) {
    fields("events", self.events, "The events, in order.");
    fields("last_lsn", self.last_lsn, "The next page's `after`.");
  }
};

struct ApiDescription {
  static constexpr Schema schema{"ApiDescription", "An OpenAPI document."};
  std::string openapi{};
  engine::Value::Map paths{};
  engine::Value::Map components{};

  static void list_fields(auto& fields, auto& self) {
    fields("openapi", self.openapi, "Version of OpenAPI.");
    fields("paths", self.paths, "All routes, by path.");
    fields("components", self.components, "All schemas and shared parts.");
  }
};

struct BackupResult {
  static constexpr Schema schema{"BackupResult", "What became of a copy of the store."};
  std::string path{};
  bool good = false;

  static void list_fields(auto& fields, auto& self) {
    fields("path", self.path, "Path of the copy.");
    fields("good", self.good, "Whether a backup was made of the copy and checked; only such ones count.");
  }
};

struct StoreCopy {
  static constexpr Schema schema{"StoreCopy", "A copy of the store."};
  std::string path{};

  static void list_fields(auto& fields, auto& self) {
    fields("path", self.path, "Path of the copy on the daemon's machine.");
  }
};

struct FieldProblem {
  static constexpr Schema schema{"FieldProblem", "What is wrong with one field."};
  std::string path{};
  std::string what{};
  std::string allowed{};

  static void list_fields(auto& fields, auto& self) {
    fields("path", self.path, "The field or parameter.");
    fields("what", self.what, "What is wrong with it.");
    fields("allowed", self.allowed, "What it may be.");
  }
};

struct Error {
  static constexpr Schema schema{"Error", "Why a request failed."};
  std::string code{};
  std::string message{};
  std::vector<FieldProblem> problems{};

  static void list_fields(auto& fields, auto& self) {
    fields("code", self.code, "`bad_request`, `not_found`, `wrong_state`, `conflict` or `unavailable`.");
    fields("message", self.message, "What went wrong, as a sentence.");
    fields.maybe("problems", self.problems, "The single problems, if there are several.");
  }
};

struct ProblemItem {
  static constexpr Schema schema{"ProblemItem", "One thing that is wrong with the request."};
  std::optional<std::string> path{};
  std::optional<std::string> pointer{};
  std::optional<std::string> parameter{};
  std::optional<std::uint64_t> line{};
  std::string detail{};
  std::optional<std::string> allowed{};

  static void list_fields(auto& fields, auto& self) {
    fields.maybe("path", self.path, "The field, as messages name it.");
    fields.maybe("pointer", self.pointer,
                 "JSON pointer to the place in the body, or in the experiment file in it.");
    fields.maybe("parameter", self.parameter, "Name of a parameter of the query.");
    fields.maybe("line", self.line, "Line of the YAML text.");
    fields("detail", self.detail, "What is wrong.");
    fields.maybe("allowed", self.allowed, "What is allowed.");
  }
};

struct Problem {
  static constexpr Schema schema{"Problem", "The answer to a request that failed."};
  std::string type{};
  std::string title{};
  std::uint64_t status = 0;
  std::string detail{};
  std::string instance{};
  std::optional<std::vector<ProblemItem>> errors{};
  Error error{};

  static void list_fields(auto& fields, auto& self) {
    fields("type", self.type, "A name for the kind of problem; it does not change.");
    fields("title", self.title, "Title of the kind of problem.");
    fields("status", self.status, "Status of the answer.");
    fields("detail", self.detail, "What went wrong, as a sentence.");
    fields("instance", self.instance, "ID of the request, as in X-Request-Id and in the log.");
    fields.maybe("errors", self.errors, "The single problems, each with its place.");
    fields("error", self.error, "Code, message and problems, as `--output json` prints a failure.");
  }
};

[[nodiscard]] Error error_of(const engine::Error& error, const engine::Problems& problems = {});

}  // namespace hpsearch::api
