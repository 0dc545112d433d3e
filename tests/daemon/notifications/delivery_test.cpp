#include "daemon/notifications/delivery.hpp"

#include <gtest/gtest.h>

namespace hpsearch::daemon {
namespace {

Notification some() {
  Notification one;
  one.occasion = Occasion::paused;
  one.id = "7-41";
  one.text = "search \"größe\r\nBcc: x@y\" paused itself";
  one.workspace = "vision";
  one.link = "https://h/experiments/3";
  return one;
}

TEST(WebhookHeaders, AreSignedAsStandardWebhooksHasIt) {
  // The example of the specification's libraries: their secret, id, time, body and signature.
  const auto headers = webhook_headers(*key_of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
                                       "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, R"({"test": 2432232314})");
  ASSERT_EQ(headers.size(), 3U);
  EXPECT_EQ(headers[0].second, "msg_p5jXN8AQM9LWM0D4loKWxJek");
  EXPECT_EQ(headers[1].second, "1614265330");
  EXPECT_EQ(headers[2].first, "webhook-signature");
  EXPECT_EQ(headers[2].second, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

TEST(WebhookHeaders, HaveNoSignatureWithoutASecret) {
  EXPECT_EQ(webhook_headers("", "7-41", 5, "{}"),
            (net::HttpHeaders{{"webhook-id", "7-41"}, {"webhook-timestamp", "5"}}));
}

TEST(Mail, HasOneLineForEachHeaderWhateverTheNameIs) {
  const std::string mail = mail_of(some(), {"ann@example.org", "bob@example.org"});
  const std::string head = mail.substr(0, mail.find("\r\n\r\n"));
  EXPECT_EQ(head.find("Bcc"), std::string::npos) << head;
  EXPECT_TRUE(head.starts_with("To: ann@example.org,\r\n bob@example.org\r\nSubject: =?UTF-8?B?")) << head;
  EXPECT_NE(head.find("\r\nMessage-ID: <7-41@hpsearch>\r\n"), std::string::npos) << head;
  EXPECT_NE(mail.find("\r\nworkspace: vision\r\npage: https://h/experiments/3\r\n"), std::string::npos)
      << mail;
}

TEST(Mail, LineEndsOfAPlainNameBeginNoHeader) {
  Notification one = some();
  one.text = "search \"a\r\nBcc: x@y\" paused itself";
  const std::string mail = mail_of(one, {"a@b"});
  EXPECT_NE(mail.find("\r\nSubject: [hpsearch] search \"a  Bcc: x@y\" paused itself\r\n"), std::string::npos)
      << mail;
}

TEST(Mail, PlainSubjectsStayPlain) {
  Notification one = some();
  one.text = "search \"a\" paused itself";
  EXPECT_NE(mail_of(one, {"a@b"}).find("\r\nSubject: [hpsearch] search \"a\" paused itself\r\n"),
            std::string::npos);
}

}  // namespace
}  // namespace hpsearch::daemon
