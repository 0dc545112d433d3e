#include "daemon/alloc/kubernetes/api_client.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/alloc/kubernetes.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/http/http.hpp"
#include "scratch.hpp"

// Requests to the API of Kubernetes, against a server that answers as it is written here.

namespace hpsearch::daemon {
namespace {

using engine::AllocationEnd;
using net::HttpRequest;
using net::HttpResponse;
using Outcome = JobSubmission::Outcome;

/// An API with TLS in a thread of its own: answers in the order of the script, and keeps the requests.
class ScriptedApi : public testing::Test {
 protected:
  void SetUp() override {
    auto identity = net::TlsIdentity::self_signed(folder_.path().string(), {"127.0.0.1"});
    ASSERT_TRUE(identity) << identity.error().message;
    auto listening = net::HttpServer::listen(
        loop_, "127.0.0.1:0",
        [this](const HttpRequest& request, const net::HttpServer::Reply& reply) { reply(answer(request)); },
        {.tls = *identity});
    ASSERT_TRUE(listening) << listening.error().message;
    server_ = std::move(listening).value();
    const std::string address = server_->address();
    place_ = address.substr(0, address.find('#'));
    thread_ = std::thread([this] { loop_.run(); });
  }
  void TearDown() override {
    loop_.post([this] {
      server_.reset();
      loop_.stop();
    });
    thread_.join();
  }

  HttpResponse answer(const HttpRequest& request) {
    const std::lock_guard guard(mutex_);
    std::string line = request.method + " " + request.path;
    for (const auto& [name, value] : request.query) {
      line += (line.find('?') == std::string::npos ? "?" : "&") + name + "=" + value;
    }
    lines_.push_back(line);
    tokens_.emplace_back(request.header("authorization"));
    bodies_.push_back(request.body);
    if (script_.empty()) {
      return {.status = 500, .body = R"({"message": "the script is over"})"};
    }
    HttpResponse next = std::move(script_.front());
    script_.pop_front();
    return next;
  }

  void say(unsigned status, const std::string& body, net::HttpHeaders headers = {}) {
    const std::lock_guard guard(mutex_);
    script_.push_back({.status = status, .body = body, .headers = std::move(headers)});
  }

  /// Its token is another one each time it is read, as that of a service account.
  kubernetes::AccessPlaces places() {
    return {
        .variable = [](const std::string& name) -> std::optional<std::string> {
          return name == "KUBECONFIG" ? std::optional<std::string>("/k") : std::nullopt;
        },
        .file_content = [this](const std::string& path) -> engine::Result<std::string> {
          if (path == "/token") {
            return "t" + std::to_string(++reads_);
          }
          if (path == "/ca") {
            return text_of(folder_.path("tls.crt"));
          }
          return "current-context: h\ncontexts: [{name: h, context: {cluster: c, user: u, namespace: n}}]\n"
                 "clusters: [{name: c, cluster: {server: '" +
                 place_ + "', certificate-authority: /ca}}]\nusers: [{name: u, user: {tokenFile: /token}}]\n";
        }};
  }
  kubernetes::ApiClient client() { return kubernetes::ApiClient(places()); }
  Kubernetes backend() { return Kubernetes("", 0xff, places()); }

  JobOrder order() {
    JobOrder order;
    order.settings.arguments = {"--image", "train:3"};
    order.mark = {0xff, {"gpu", 3}, "cafe"};
    order.directory = folder_.path().string();
    order.needs_invite = true;
    write_text(folder_.path() / invite_file, "hpi_word");
    return order;
  }

  Scratch folder_;
  net::Loop loop_;
  std::unique_ptr<net::HttpServer> server_;
  std::string place_;
  std::thread thread_;
  std::mutex mutex_;
  std::deque<HttpResponse> script_;
  std::vector<std::string> lines_;
  std::vector<std::string> tokens_;
  std::vector<std::string> bodies_;
  int reads_ = 0;
};

const std::string created =
    R"({"metadata": {"name": "hpsearch-gpu-3-00000000", "uid": "u1", "annotations": {"hpsearch/key": "cafe"}}})";
const std::string none = R"({"items": [], "metadata": {}})";

TEST_F(ScriptedApi, IsTrustedByItsOwnAuthority) {
  say(200, none);
  const auto items = client().list("/api/v1/pods", "labelSelector=a");
  ASSERT_TRUE(items) << items.error().message;
  EXPECT_EQ(lines_, (std::vector<std::string>{"GET /api/v1/pods?limit=200&labelSelector=a"}));
}

TEST_F(ScriptedApi, IsNotTrustedWithoutIt) {
  auto others = places();
  others.file_content = [read = others.file_content](const std::string& path) -> engine::Result<std::string> {
    auto text = read(path);
    const std::string authority = "certificate-authority: /ca";
    if (text && path == "/k") {
      text->replace(text->find(authority), authority.size(), "namespace: n");
    }
    return text;
  };
  EXPECT_FALSE(kubernetes::ApiClient(others).list("/api/v1/pods", ""));
  EXPECT_TRUE(lines_.empty()) << "the token was sent to a stranger";
}

TEST_F(ScriptedApi, ListsPageByPage) {
  say(200, R"({"items": [1, 2], "metadata": {"continue": "a=b"}})");
  say(200, R"({"items": [3], "metadata": {"continue": ""}})");
  const auto items = client().list("/l", "");
  ASSERT_TRUE(items) << items.error().message;
  EXPECT_EQ(items->size(), 3U);
  EXPECT_EQ(lines_.at(1), "GET /l?limit=200&continue=a=b");
}

TEST_F(ScriptedApi, BeginsAnExpiredListAgain) {
  say(200, R"({"items": [1, 2], "metadata": {"continue": "c"}})");
  say(410, R"({"message": "The provided continue parameter is too old"})");
  say(200, R"({"items": [4, 5, 6], "metadata": {}})");
  const auto items = client().list("/l", "");
  ASSERT_TRUE(items) << items.error().message;
  EXPECT_EQ(items->size(), 3U) << "the first page counts once";
  for (int i = 0; i < 10; ++i) {
    say(410, R"({"message": "too old"})");
  }
  EXPECT_EQ(client().list("/l", "").error().message, "too old") << "and not for ever";
}

TEST_F(ScriptedApi, IsAskedAgainWhenItIsBusy) {
  say(429, R"({"message": "too many requests"})", {{"Retry-After", "0"}});
  say(200, none);
  EXPECT_TRUE(client().list("/l", ""));
  say(503, "", {{"Retry-After", "0"}});
  say(503, R"({"message": "starting"})", {{"Retry-After", "0"}});
  EXPECT_EQ(client().list("/l", "").error().message, "starting");
}

TEST_F(ScriptedApi, GetsANewTokenWhenOneHasExpired) {
  say(401, R"({"message": "Unauthorized"})");
  say(200, none);
  EXPECT_TRUE(client().list("/l", ""));
  EXPECT_EQ(tokens_, (std::vector<std::string>{"Bearer t1", "Bearer t2"}));
  say(401, R"({"message": "Unauthorized"})");
  say(401, R"({"message": "Unauthorized"})");
  EXPECT_EQ(client().list("/l", "").error().message, "Unauthorized") << "once";
}

TEST_F(ScriptedApi, ThatAnswersWithoutJsonIsAnError) {
  for (const char* body : {"", "<html>", "[]", "{}", R"({"items": 5})"}) {
    say(200, body);
    EXPECT_FALSE(client().list("/l", "")) << body;
  }
  say(500, "<html>");
  EXPECT_EQ(client().list("/l", "").error().message, "the API of Kubernetes answered with status 500");
}

TEST_F(ScriptedApi, TakesAJobAndItsSecret) {
  say(201, created);
  say(201, "{}");
  const JobSubmission taken = backend().submit(order());
  EXPECT_EQ(taken.outcome, Outcome::taken) << taken.problem;
  EXPECT_EQ(taken.job, "hpsearch-gpu-3-00000000");
  EXPECT_EQ(lines_, (std::vector<std::string>{"POST /apis/batch/v1/namespaces/n/jobs",
                                              "POST /api/v1/namespaces/n/secrets"}));
  EXPECT_EQ(bodies_[0].find("hpi_word"), std::string::npos);
  EXPECT_NE(bodies_[1].find("hpi_word"), std::string::npos);
  EXPECT_NE(bodies_[1].find("\"uid\":\"u1\""), std::string::npos);
}

TEST_F(ScriptedApi, KnowsARepeatedSubmission) {
  say(409, R"({"message": "already exists"})");
  say(200, created);
  say(409, R"({"message": "already exists"})");
  EXPECT_EQ(backend().submit(order()).outcome, Outcome::taken);
  EXPECT_EQ(lines_.at(1), "GET /apis/batch/v1/namespaces/n/jobs/hpsearch-gpu-3-00000000");
  say(409, "{}");
  say(200, R"({"metadata": {"uid": "u2", "annotations": {"hpsearch/key": "another"}}})");
  const JobSubmission refused = backend().submit(order());
  EXPECT_EQ(refused.outcome, Outcome::refused);
  EXPECT_NE(refused.problem.find("another Job has the name"), std::string::npos) << refused.problem;
}

TEST_F(ScriptedApi, RefusesJobsInItsOwnWords) {
  for (const unsigned status : {400U, 403U, 404U, 422U}) {
    say(status, R"({"message": "exceeded quota: team"})");
    const JobSubmission refused = backend().submit(order());
    EXPECT_EQ(refused.outcome, Outcome::refused) << status;
    EXPECT_EQ(refused.problem, "exceeded quota: team");
  }
}

TEST_F(ScriptedApi, ThatFailsMayHaveTakenTheJob) {
  for (const unsigned status : {500U, 502U, 504U}) {
    say(status, "");
    EXPECT_EQ(backend().submit(order()).outcome, Outcome::unknown) << status;
  }
  say(201, created);
  say(500, "");
  EXPECT_EQ(backend().submit(order()).outcome, Outcome::unknown)
      << "the Secret may be missing: it is submitted again";
}

TEST_F(ScriptedApi, ThatRefusesTheSecretKeepsNoJob) {
  say(201, created);
  say(403, R"({"message": "secrets is forbidden"})");
  say(200, "{}");
  const JobSubmission refused = backend().submit(order());
  EXPECT_EQ(refused.outcome, Outcome::refused);
  EXPECT_EQ(refused.problem, "secrets is forbidden");
  EXPECT_EQ(lines_.at(2), "DELETE /apis/batch/v1/namespaces/n/jobs/hpsearch-gpu-3-00000000");
  EXPECT_NE(bodies_.at(2).find("Foreground"), std::string::npos)
      << "the Job is listed until its pods have ended";
}

TEST_F(ScriptedApi, ListsJobsWithTheirPods) {
  say(200,
      R"({"items": [{"metadata": {"name": "j", "uid": "u", "annotations": {"hpsearch/key": "cafe"}}, "spec": {"completions": 1}}]})");
  say(200, none);
  say(200,
      R"({"items": [{"reason": "FailedCreate", "message": "exceeded quota: team", "involvedObject": {"uid": "u"}}]})");
  say(403, R"({"message": "events is forbidden"})");
  const auto jobs = backend().list();
  ASSERT_TRUE(jobs) << jobs.error().message;
  ASSERT_EQ(jobs->size(), 1U);
  EXPECT_EQ(jobs->front().reason, "FailedCreate: exceeded quota: team") << "events only explain";
  const std::string selector =
      "labelSelector=app.kubernetes.io/managed-by=hpsearch,hpsearch/cluster=00000000000000ff";
  EXPECT_EQ(lines_.at(0), "GET /apis/batch/v1/namespaces/n/jobs?limit=200&" + selector);
  EXPECT_EQ(lines_.at(1), "GET /api/v1/namespaces/n/pods?limit=200&" + selector);
  EXPECT_EQ(lines_.at(2), "GET /api/v1/namespaces/n/events?limit=200&fieldSelector=reason=FailedCreate");
}

TEST_F(ScriptedApi, FailsToListJobsIfItFailsToListPods) {
  say(200,
      R"({"items": [{"metadata": {"name": "j", "uid": "u", "annotations": {"hpsearch/key": "cafe"}}}]})");
  say(500, "");
  EXPECT_FALSE(backend().list());
}

TEST_F(ScriptedApi, WithoutJobsIsAskedOnce) {
  say(200, none);
  EXPECT_TRUE(backend().list());
  EXPECT_EQ(lines_.size(), 1U);
}

TEST_F(ScriptedApi, ForgetsAJobThatIsNotThere) {
  say(404, R"({"message": "not found"})");
  EXPECT_TRUE(backend().cancel("j"));
  say(403, R"({"message": "forbidden"})");
  EXPECT_EQ(backend().cancel("j").error().message, "forbidden");
}

TEST_F(ScriptedApi, ChecksAJobWithoutMakingOne) {
  say(201, created, {{"Warning", "299 - \"would violate PodSecurity\""}});
  say(200, none);
  const BackendCheck check = backend().check(order());
  EXPECT_TRUE(check.would_start);
  EXPECT_EQ(check.findings,
            (std::vector<std::string>{
                "Kubernetes at " + place_ +
                    " would take the Job in the namespace n; nodes, quotas and images are checked when "
                    "its pods start",
                "Kubernetes warns: would violate PodSecurity"}));
  EXPECT_EQ(lines_.at(0), "POST /apis/batch/v1/namespaces/n/jobs?dryRun=All&fieldValidation=Strict");
  say(422, R"({"message": "unknown field \"spec.colour\""})");
  const BackendCheck refused = backend().check(order());
  EXPECT_FALSE(refused.would_start);
  EXPECT_EQ(refused.findings.at(0), "Kubernetes would not take the Job: unknown field \"spec.colour\"");
}

TEST_F(ScriptedApi, GivesTheLogsOfPods) {
  say(200, R"({"items": [{"metadata": {"name": "j-0-abc", "ownerReferences": [{"kind": "Job", "name": "j"}]}},
                         {"metadata": {"name": "other", "ownerReferences": [{"kind": "Job", "name": "k"}]}}]})");
  say(200, std::string(100'000, 'a') + "the end\n", {});
  backend().fetch_output("j", folder_.path().string());
  EXPECT_EQ(lines_.at(1), "GET /api/v1/namespaces/n/pods/j-0-abc/log?tailLines=1000");
  const std::string text = text_of(folder_.path("j-0-abc.out"));
  EXPECT_EQ(text.size(), 65'536U);
  EXPECT_TRUE(text.ends_with("the end\n"));
  EXPECT_EQ(lines_.size(), 2U);
}

}  // namespace
}  // namespace hpsearch::daemon
