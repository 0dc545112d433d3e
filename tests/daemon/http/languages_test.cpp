#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "daemon/daemon_fixture.hpp"

namespace hpsearch::daemon {
namespace {

class Languages : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(
        daemon_
            .ask("POST", "/api/v1/experiments", R"({"config":)" + engine::compact_json(small_search(2)) + "}")
            .status,
        201U);
  }
  DaemonFixture::Answer get(const std::string& target, const std::string& language = "") {
    return daemon_.ask("GET", target, "", accept(language));
  }
  static net::HttpHeaders accept(const std::string& language) {
    return language.empty() ? net::HttpHeaders() : net::HttpHeaders{{"Accept-Language", language}};
  }

  DaemonFixture daemon_;
};

TEST_F(Languages, SentencesAreInThePreferredOne) {
  const char* const experiment = "/api/v1/experiments/1";
  const auto chinese = get(experiment, "zh-CN,zh;q=0.9,en;q=0.8");
  EXPECT_EQ(chinese.at("waits_for"), "\"没有工作节点连接\"");
  EXPECT_EQ(chinese.header("Content-Language"), "zh-CN");
  EXPECT_EQ(chinese.header("Vary"), "Accept-Language");
  for (const char* language : {"", "en-GB", "de,en;q=0.9,zh;q=0.1"}) {
    const auto english = get(experiment, language);
    EXPECT_EQ(english.at("waits_for"), "\"no worker is connected\"") << language;
    EXPECT_EQ(english.header("Content-Language"), "en") << language;
    EXPECT_EQ(english.header("Vary"), "Accept-Language") << language;
  }
  for (const char* list : {"/api/v1/experiments", "/api/v1/experiments?sort=name"}) {
    EXPECT_NE(get(list, "zh").text.find("没有工作节点连接"), std::string::npos) << list;
    EXPECT_NE(get(list).text.find("no worker is connected"), std::string::npos) << list;
  }
}

TEST_F(Languages, TrialsHaveTheirReasonsAndExplanationsInIt) {
  ScriptedWorker worker(daemon_);
  worker.join();
  const engine::AttemptKey key = worker.wait_for<proto::Lease>().spec.key;
  worker.send(proto::Started{key});
  for (const char* target : {"/api/v1/experiments/1/trials", "/api/v1/experiments/1/trials?sort=trial",
                             "/api/v1/experiments/1/trials/0", "/api/v1/experiments/1/trials/0/explain"}) {
    const auto chinese = get(target, "zh");
    EXPECT_NE(chinese.text.find(R"("text":"新试验)"), std::string::npos) << chinese.text;
    EXPECT_EQ(chinese.header("Content-Language"), "zh-CN") << target;
    const auto english = get(target);
    EXPECT_NE(english.text.find(R"("text":"new trial)"), std::string::npos) << english.text;
    EXPECT_EQ(english.header("Content-Language"), "en") << target;
  }
  const std::string now = get("/api/v1/experiments/1/trials/0/explain", "zh").at("now");
  EXPECT_NE(now.find("第 1 次尝试在工作节点“worker of uid-1”上训练"), std::string::npos) << now;
}

TEST_F(Languages, SentencesOfTheStoreAreTranslatedWhenTheyAreShown) {
  ASSERT_EQ(daemon_.ask("POST", "/api/v1/experiments/1/cancel").status, 200U);
  EXPECT_EQ(get("/api/v1/experiments/1", "zh").at("reason"), "\"被用户取消\"");
  EXPECT_EQ(get("/api/v1/experiments/1").at("reason"), "\"canceled by a user\"");
  const auto chinese = get("/api/v1/events?type=experiment_ended", "zh");
  EXPECT_NE(chinese.text.find(R"("reason":"canceled by a user")"), std::string::npos) << chinese.text;
  EXPECT_NE(chinese.text.find(R"("translated":{"reason":"被用户取消"})"), std::string::npos) << chinese.text;
  const auto english = get("/api/v1/events?type=experiment_ended");
  EXPECT_NE(english.text.find(R"("reason":"canceled by a user")"), std::string::npos) << english.text;
  EXPECT_EQ(english.text.find("translated"), std::string::npos) << english.text;
}

TEST_F(Languages, RefusalsAreInEnglish) {
  const auto refused = get("/api/v1/experiments/7", "zh");
  EXPECT_EQ(refused.status, 404U);
  EXPECT_EQ(refused.at("detail"), "\"there is no experiment 7\"");
  EXPECT_EQ(refused.header("Content-Language"), "en");
}

TEST_F(Languages, AnswersWithoutSentencesHaveNone) {
  for (const char* target : {"/version", "/api/v1/experiments/1/config", "/api/v1/searchers"}) {
    const auto answer = get(target, "zh");
    EXPECT_EQ(answer.header("Content-Language"), "") << target;
    EXPECT_EQ(answer.header("Vary").find("Accept-Language"), std::string::npos) << target;
  }
}

TEST_F(Languages, RepeatedRequestHasTheLanguageOfTheFirst) {
  const auto cancel = [this](const std::string& language) {
    return daemon_.ask("POST", "/api/v1/experiments/1/cancel", "",
                       {{"Idempotency-Key", "once"}, {"Accept-Language", language}});
  };
  const auto first = cancel("zh");
  EXPECT_EQ(first.at("reason"), "\"被用户取消\"") << first.text;
  const auto again = cancel("en");
  EXPECT_EQ(again.header("Idempotent-Replay"), "true");
  EXPECT_EQ(again.text, first.text);
  EXPECT_EQ(again.header("Content-Language"), "zh-CN");
}

}  // namespace
}  // namespace hpsearch::daemon
