#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/audit/audit_files.hpp"
#include "daemon/core/audit_queue.hpp"
#include "daemon/daemon_fixture.hpp"
#include "daemon/http/http_request_context.hpp"

// Every change in the route table is repeated under its Idempotency-Key, afterwards and at the same time, and
// its line in the audit log is checked. A new route fails here until it has a row.

namespace hpsearch::daemon {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)

/// A daemon with objects that can be changed.
struct Scene {
  DaemonFixture daemon;
  std::optional<ScriptedWorker> worker;
  std::optional<ScriptedWorker> other;
  std::string value;  ///< Replaces the $ of Change::target and Change::body.

  DaemonFixture::Answer done(const std::string& method, const std::string& target,
                             const std::string& body = "") {
    auto answer = daemon.ask(method, target, body);
    EXPECT_EQ(answer.status / 100, 2U) << method << " " << target << answer.text;
    return answer;
  }
};

void nothing(Scene&) {
}
void search(Scene& scene) {
  scene.daemon.submit(small_search(3));
}
void paused(Scene& scene) {
  search(scene);
  scene.done("POST", "/api/v1/experiments/1/pause");
}
void ended(Scene& scene) {
  search(scene);
  scene.done("POST", "/api/v1/experiments/1/kill");
}
void archived(Scene& scene) {
  ended(scene);
  scene.done("POST", "/api/v1/experiments/1/archive");
}
void running(Scene& scene) {
  search(scene);
  scene.worker.emplace(scene.daemon).join();
  scene.worker->wait_for<proto::Lease>();
}
void quarantined(Scene& scene) {
  running(scene);
  scene.done("POST", "/api/v1/workers/1/quarantine");
}
void lost(Scene& scene) {
  running(scene);
  scene.worker->send(proto::Goodbye{"asked to stop"});
  scene.daemon.pump_until([&] { return !scene.daemon.runtime->engine().workers().begin()->second.present; });
}
void with_a_checkpoint(Scene& scene) {
  running(scene);
  const engine::AttemptKey key = scene.worker->wait_for<proto::Lease>().spec.key;
  const auto checkpoint = [](std::uint64_t step) {
    return engine::CheckpointReport{engine::Units{step}, "/checkpoints/default/1/0/1-" + std::to_string(step),
                                    1, 10};
  };
  scene.worker->send(proto::Started{key});
  scene.worker->send(proto::Reports{key, 1, {checkpoint(1)}});
  scene.worker->wait_for<proto::Ack>();
  scene.done("POST", "/api/v1/experiments/1/kill");
  scene.worker->send(proto::Reports{key, 2, {exit_report(engine::ExitReport::Cause::ended_by_agent, 0)}});
  scene.worker->wait_for<proto::Ack>(2);
}
void with_a_token(Scene& scene) {
  const std::string id = scene.done("POST", "/api/v1/tokens", R"({"name":"ci","role":"viewer"})").at("id");
  scene.value = id.substr(1, id.size() - 2);
}
void with_an_invite(Scene& scene) {
  const std::string id = scene.done("POST", "/api/v1/invites", "{}").at("id");
  scene.value = id.substr(1, id.size() - 2);
}
void with_a_queue(Scene& scene) {
  ASSERT_TRUE(scene.daemon.runtime->perform(engine::AddQueue{"gpu", {}}));
}
void with_a_paused_queue(Scene& scene) {
  with_a_queue(scene);
  scene.done("POST", "/api/v1/queues/gpu/pause");
}
void external(Scene& scene) {
  engine::Value config = small_search(4);
  config.as_map()->erase("entrypoint");
  (*config.as_map())["workers"] = "external";
  (*config.as_map())["max_restarts"] = 0;
  scene.daemon.submit(config);
}
void leased(Scene& scene) {
  external(scene);
  const auto asked = scene.done("POST", "/api/v1/experiments/1/ask");
  const std::string lease =
      engine::compact_json(*asked.body.at_path("trials")->as_list()->front().at_path("lease"));
  scene.value = lease;
}
void failed(Scene& scene) {
  leased(scene);
  scene.done("POST", "/api/v1/experiments/1/trials/0/tell",
             R"({"lease":)" + scene.value + R"(,"state":"failed"})");
}
/// Worker 2 holds an attempt of a trial that exists here, and one of an experiment that doesn't.
void on_hold(Scene& scene) {
  scene.daemon.submit(small_search(1));
  scene.other.emplace(scene.daemon, "first").join();
  scene.other->wait_for<proto::Lease>();
  const auto held = [](std::uint64_t experiment, std::uint64_t lease) {
    return engine::AttemptKey{engine::ExperimentId(experiment), engine::TrialNumber(0),
                              engine::AttemptNumber(5), engine::LeaseId(lease)};
  };
  scene.worker.emplace(scene.daemon).held = {
      {held(1, 90'000), false, 3, engine::Lsn(0), 4, {engine::SlotIndex(0)}, engine::Units{9}},
      {held(77, 90'001), false, 0, engine::Lsn(0), 1, {}, engine::Units{9}}};
  scene.worker->join();
}

/// A change that can be made in the scene that `prepare` sets up.
struct Change {
  const char* target;
  const char* body;
  void (*prepare)(Scene& scene);
};
/// Why the key has no effect there.
struct Exempt {
  const char* because;
};
struct Row {
  std::optional<Change> change;
  Row(Change one) : change(one) {}  // NOLINT(google-explicit-constructor): rows are written as what they are.
  Row(Exempt) {}                    // NOLINT(google-explicit-constructor): the same.
};

const Exempt changes_nothing{"it changes nothing"};
const Exempt of_a_worker{"workers number what they send themselves"};
const Exempt of_a_browser{"a cookie is given to one browser once"};
const Exempt of_real_files{"the daemon of these tests has no files of that kind: tests/e2e has"};

using Rows = std::map<std::pair<std::string, std::string>, Row>;
const Rows rows{
    {{"POST", "/api/v1/experiments"},
     Change{"/api/v1/experiments",
            R"({"config":{"name":"a","entrypoint":["true"],"hyperparameters":{},"searcher":{"name":"random",)"
            R"("metric":"loss","smaller_is_better":true,"max_trials":1,"max_length":{"epochs":1}}}})",
            &nothing}},
    {{"POST", "/api/v1/experiments/validate"}, changes_nothing},
    {{"POST", "/api/v1/experiments/preview"}, changes_nothing},
    {{"POST", "/api/v1/preview"}, changes_nothing},
    {{"POST", "/api/v1/experiments/{experiment}/fork"}, changes_nothing},
    {{"PATCH", "/api/v1/experiments/{experiment}"},
     Change{"/api/v1/experiments/1", R"({"searcher":{"max_trials":5}})", &search}},
    {{"PATCH", "/api/v1/experiments/{experiment}/annotation"},
     Change{"/api/v1/experiments/1/annotation", R"({"starred":true})", &search}},
    {{"PATCH", "/api/v1/experiments/{experiment}/trials/{trial}/annotation"},
     Change{"/api/v1/experiments/1/trials/0/annotation", R"({"note":"odd"})", &leased}},
    {{"POST", "/api/v1/experiments/{experiment}/pause"}, Change{"/api/v1/experiments/1/pause", "", &search}},
    {{"POST", "/api/v1/experiments/{experiment}/resume"},
     Change{"/api/v1/experiments/1/resume", "", &paused}},
    {{"POST", "/api/v1/experiments/{experiment}/cancel"},
     Change{"/api/v1/experiments/1/cancel", "", &search}},
    {{"POST", "/api/v1/experiments/{experiment}/kill"}, Change{"/api/v1/experiments/1/kill", "", &search}},
    {{"POST", "/api/v1/experiments/{experiment}/program"},
     Change{"/api/v1/experiments/1/program", R"({"context_digest":"","changed":["train.py"]})", &search}},
    {{"POST", "/api/v1/experiments/{experiment}/archive"},
     Change{"/api/v1/experiments/1/archive", "", &ended}},
    {{"POST", "/api/v1/experiments/{experiment}/unarchive"},
     Change{"/api/v1/experiments/1/unarchive", "", &archived}},
    {{"DELETE", "/api/v1/experiments/{experiment}"}, Change{"/api/v1/experiments/1", "", &ended}},
    {{"POST", "/api/v1/experiments/{experiment}/trials/{trial}/checkpoints/delete"},
     Change{"/api/v1/experiments/1/trials/0/checkpoints/delete",
            R"({"paths":["/checkpoints/default/1/0/1-1"]})", &with_a_checkpoint}},
    {{"POST", "/api/v1/experiments/{experiment}/trials/{trial}/cancel"},
     Change{"/api/v1/experiments/1/trials/0/cancel", "", &running}},
    {{"POST", "/api/v1/experiments/{experiment}/trials/{trial}/stop"},
     Change{"/api/v1/experiments/1/trials/0/stop", "", &running}},
    {{"POST", "/api/v1/experiments/{experiment}/trials/{trial}/retry"},
     Change{"/api/v1/experiments/1/trials/0/retry", "", &failed}},
    {{"POST", "/api/v1/experiments/{experiment}/ask"},
     Change{"/api/v1/experiments/1/ask", R"({"count":2})", &external}},
    {{"POST", "/api/v1/experiments/{experiment}/trials/{trial}/report"},
     Change{"/api/v1/experiments/1/trials/0/report", R"({"lease":$,"step":1,"metrics":{"loss":0.5}})",
            &leased}},
    {{"POST", "/api/v1/experiments/{experiment}/trials/{trial}/tell"},
     Change{"/api/v1/experiments/1/trials/0/tell", R"({"lease":$,"state":"completed"})", &leased}},
    {{"POST", "/api/v1/workers/{worker}/quarantine"},
     Change{"/api/v1/workers/1/quarantine", R"({"why":"it is hot"})", &running}},
    {{"POST", "/api/v1/workers/{worker}/drain"}, Change{"/api/v1/workers/1/drain", "", &running}},
    {{"POST", "/api/v1/workers/{worker}/release"}, Change{"/api/v1/workers/1/release", "", &quarantined}},
    {{"POST", "/api/v1/workers/{worker}/forget"}, Change{"/api/v1/workers/1/forget", "", &lost}},
    {{"POST", "/api/v1/workers/{worker}/attempts/{experiment}/{trial}/{attempt}/adopt"},
     Change{"/api/v1/workers/2/attempts/1/0/5/adopt", "", &on_hold}},
    {{"POST", "/api/v1/workers/{worker}/attempts/{experiment}/{trial}/{attempt}/disown"},
     Change{"/api/v1/workers/2/attempts/77/0/5/disown", "", &on_hold}},
    {{"POST", "/api/v1/tokens"}, Change{"/api/v1/tokens", R"({"name":"ci","role":"viewer"})", &nothing}},
    {{"POST", "/api/v1/tokens/{token}/rotate"}, Change{"/api/v1/tokens/$/rotate", "", &with_a_token}},
    {{"DELETE", "/api/v1/tokens/{token}"}, Change{"/api/v1/tokens/$", "", &with_a_token}},
    {{"POST", "/api/v1/invites"}, Change{"/api/v1/invites", R"({"uses":2})", &nothing}},
    {{"DELETE", "/api/v1/invites/{invite}"}, Change{"/api/v1/invites/$", "", &with_an_invite}},
    {{"POST", "/api/v1/queues"}, of_real_files},
    {{"POST", "/api/v1/queues/check"}, of_real_files},
    {{"PUT", "/api/v1/queues/{queue}/settings"}, of_real_files},
    {{"POST", "/api/v1/queues/{queue}/pause"}, Change{"/api/v1/queues/gpu/pause", "", &with_a_queue}},
    {{"POST", "/api/v1/queues/{queue}/resume"},
     Change{"/api/v1/queues/gpu/resume", "", &with_a_paused_queue}},
    {{"POST", "/api/v1/queues/{queue}/remove"},
     Change{"/api/v1/queues/gpu/remove", R"({"at_once":false})", &with_a_queue}},
    {{"POST", "/api/v1/workspaces"}, Change{"/api/v1/workspaces", R"({"name":"nlp"})", &nothing}},
    {{"PUT", "/api/v1/workspaces/{workspace}/quota"},
     Change{"/api/v1/workspaces/default/quota", R"({"max_slots":8})", &nothing}},
    {{"POST", "/api/v1/session/code"}, Change{"/api/v1/session/code", "", &nothing}},
    {{"POST", "/api/v1/session"}, of_a_browser},
    {{"DELETE", "/api/v1/session"}, of_a_browser},
    {{"POST", "/api/v1/session/provider"}, of_a_browser},
    {{"POST", "/api/v1/session/provider/answer"}, of_a_browser},
    {{"POST", "/api/v1/http-port"}, of_real_files},
    {{"POST", "/api/v1/store/backup"}, of_real_files},
    {{"POST", "/api/v1/store/backup/result"}, of_real_files},
    {{"PUT", "/api/v1/contexts/{digest}"}, of_real_files},
    {{"PUT", "/api/v1/logs/{experiment}/{trial}/{attempt}"}, of_a_worker},
    {{"POST", "/api/v1/checkpoints/removed"}, of_a_worker},
    {{"PUT", "/api/v1/files/{experiment}/{trial}/{attempt}"}, of_a_worker},
    {{"PUT", "/api/v1/files/{experiment}/{trial}/{digest}"}, of_a_worker},
};

const net::HttpHeaders with_a_key{{"Idempotency-Key", "key-1"}};

std::string filled(std::string_view text, const std::string& value) {
  std::string whole;
  for (const char c : text) {
    whole += c == '$' ? value : std::string(1, c);
  }
  return whole;
}

bool is_fresh(const net::HttpResponse& answer) {
  return answer.status / 100 == 2 &&
         std::none_of(answer.headers.begin(), answer.headers.end(),
                      [](const auto& header) { return header.first == "Idempotent-Replay"; });
}

/// Everything that a second change would have changed.
std::string state_of(DaemonFixture& daemon) {
  return daemon.picture() + daemon.ask("GET", "/api/v1/tokens").text +
         daemon.ask("GET", "/api/v1/invites").text;
}

/// Sends it this many times at once, and returns all answers.
std::vector<net::HttpResponse> at_once(DaemonFixture& daemon, std::size_t times, const std::string& method,
                                       const std::string& target, const std::string& body) {
  std::vector<net::HttpResponse> answers;
  std::vector<std::thread> clients;
  for (std::size_t i = 0; i < times; ++i) {
    clients.emplace_back([&, address = daemon.http->address()] {
      auto got = net::http_request(address, method, target, body, 30s, with_a_key);
      daemon.loop.post([&answers, got = std::move(got)] {
        EXPECT_TRUE(got) << (got ? "" : got.error().message);
        answers.push_back(got ? *got : net::HttpResponse{});
      });
    });
  }
  daemon.pump_until([&] { return answers.size() == times; });
  for (std::thread& client : clients) {
    client.join();
  }
  return answers;
}

/// Calls `visit` with each route that changes something, and how to call it.
template <class Visit>
void for_each_change(const Visit& visit) {
  std::size_t seen = 0;
  for (const auto& table : all_routes()) {
    for (const Route& route : table) {
      if (route.method == "GET" || route.method == "HEAD") {
        continue;
      }
      const std::string name = std::string(route.method) + " " + std::string(route.path);
      const auto row = rows.find({std::string(route.method), std::string(route.path)});
      ASSERT_NE(row, rows.end()) << name << " has no row in this table";
      ++seen;
      if (row->second.change) {
        SCOPED_TRACE(name);
        visit(std::string(route.method), *row->second.change);
      }
    }
  }
  EXPECT_EQ(seen, rows.size()) << "a row of the table has no route";
}

TEST(RepeatedChanges, AreMadeOnce) {
  for_each_change([](const std::string& method, const Change& change) {
    Scene scene;
    change.prepare(scene);
    const std::string target = filled(change.target, scene.value);
    const std::string body = filled(change.body, scene.value);
    const auto first = scene.daemon.ask(method, target, body, with_a_key);
    ASSERT_EQ(first.status / 100, 2U) << first.text;
    EXPECT_EQ(first.header("Idempotent-Replay"), "");
    const std::string before = state_of(scene.daemon);
    const auto again = scene.daemon.ask(method, target, body, with_a_key);
    EXPECT_EQ(again.status, first.status);
    EXPECT_EQ(again.text, first.text);
    EXPECT_EQ(again.header("Idempotent-Replay"), "true");
    EXPECT_EQ(state_of(scene.daemon), before);
    const auto other = scene.daemon.ask(method, target, R"({"another":"body"})", with_a_key);
    EXPECT_TRUE(other.status == 422 || (method == "POST" && target == "/api/v1/experiments"))
        << other.status << other.text;
  });
}

TEST(RepeatedChanges, AtTheSameTimeAreMadeOnce) {
  for_each_change([](const std::string& method, const Change& change) {
    Scene scene;
    change.prepare(scene);
    const std::string target = filled(change.target, scene.value);
    const std::string body = filled(change.body, scene.value);
    const auto answers = at_once(scene.daemon, 3, method, target, body);
    EXPECT_EQ(std::count_if(answers.begin(), answers.end(), is_fresh), 1);
    for (const net::HttpResponse& answer : answers) {
      EXPECT_TRUE(answer.status / 100 == 2 || answer.status == 409) << answer.status << answer.body;
    }
    const std::string before = state_of(scene.daemon);
    const auto again = scene.daemon.ask(method, target, body, with_a_key);
    EXPECT_EQ(again.header("Idempotent-Replay"), "true") << again.text;
    EXPECT_EQ(state_of(scene.daemon), before);
  });
}

/// The event log records these instead, a thousand times a second.
bool is_work_of_clients(const std::string& target) {
  return target.ends_with("/ask") || target.ends_with("/report") || target.ends_with("/tell");
}

TEST(EachChange, HasOneLineInTheAuditLog) {
  for_each_change([](const std::string& method, const Change& change) {
    Scene scene;
    change.prepare(scene);
    const std::string folder = scene.daemon.folder.path().string();
    auto changes = AuditFiles::open(folder, audited_changes);
    auto refusals = AuditFiles::open(folder, audited_refusals);
    ASSERT_TRUE(changes && refusals) << (changes ? refusals : changes).error().message;
    AuditQueue log(scene.daemon.loop, *std::move(changes), *std::move(refusals));
    scene.daemon.audit = &log;
    scene.daemon.serve_http(true);
    const std::string target = filled(change.target, scene.value);
    const auto answer = scene.daemon.ask(method, target, filled(change.body, scene.value));
    ASSERT_EQ(answer.status / 100, 2U) << answer.text;
    const auto lines = AuditFiles::read(folder, audited_changes, 0, 100);
    ASSERT_TRUE(lines) << lines.error().message;
    ASSERT_EQ(lines->size(), is_work_of_clients(target) ? 0U : 1U);
    for (const engine::Value& line : *lines) {
      EXPECT_EQ(*line.at_path("method")->as_text(), method);
      EXPECT_EQ(*line.at_path("path")->as_text(), target);
      EXPECT_EQ(*line.at_path("status")->as_integer(), answer.status);
    }
    const auto verdict = AuditFiles::verify(folder, audited_changes);
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_EQ(verdict->problem, "");
    scene.daemon.http.reset();  // Its routes write to the log.
  });
}

}  // namespace
}  // namespace hpsearch::daemon
