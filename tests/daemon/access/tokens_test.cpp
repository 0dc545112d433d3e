#include "daemon/access/tokens.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "messages.hpp"
#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Duration;
using engine::Errc;
using engine::Instant;

constexpr Duration day = Duration::seconds(24LL * 3600);
const Instant start = Instant::from_micros(1'700'000'000'000'000);

TEST(Token, ReadsWhatItWrites) {
  const Token token = new_token();
  const std::string text = token.text();
  EXPECT_EQ(text.size(), 4U + 8U + 1U + 43U + 6U) << text;
  const auto read = read_token(text);
  ASSERT_TRUE(read) << text;
  EXPECT_EQ(read->id, token.id);
  EXPECT_EQ(read->secret, token.secret);
}

TEST(Token, AnyChangedCharacterIsDetected) {
  const std::string text = new_token().text();
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string wrong = text;
    wrong[at] = wrong[at] == 'a' ? 'b' : 'a';
    EXPECT_FALSE(read_token(wrong)) << wrong;
  }
  EXPECT_FALSE(read_token(""));
  EXPECT_FALSE(read_token(text + "a"));
  EXPECT_FALSE(read_token(text.substr(1)));
  EXPECT_FALSE(read_token(text.substr(0, text.size() - 1)));
}

TEST(Token, ChecksumMatchesAKnownValue) {
  // By Python: hashlib.sha256(b"hps_aaaaaaaa_" + b"A" * 43).digest()[:4], in base64url
  EXPECT_EQ((Token{"aaaaaaaa", std::string(43, 'A')}.text()).substr(56), "Nin7Uw");
}

TEST(Token, TwoAreDifferent) {
  std::set<std::string> secrets;
  for (int i = 0; i < 1'000; ++i) {
    secrets.insert(new_secret());
  }
  EXPECT_EQ(secrets.size(), 1'000U);
  for (const std::string& secret : secrets) {
    EXPECT_EQ(secret.size(), 43U) << secret;
  }
}

class TokensInAFile : public testing::Test {
 protected:
  [[nodiscard]] std::string folder() const { return scratch_.path().string(); }
  [[nodiscard]] std::string file() const { return text_of(scratch_.path() / "tokens.json"); }
  static Token token_of(const engine::Result<Tokens::Made>& made) {
    EXPECT_TRUE(made) << made.error().message;
    return made ? *read_token(made->text) : Token{};
  }

  Scratch scratch_;
};

// Files that others may write were trusted.
TEST_F(TokensInAFile, FileWritableByOthersIsNotTrusted) {
  Tokens before(folder());
  const Token token = token_of(before.create("laptop", Role::operate, day, "uid 0", start));
  std::filesystem::permissions(scratch_.path() / "tokens.json", std::filesystem::perms(0622));
  Tokens tokens(folder());
  EXPECT_FALSE(tokens.find(token, start));
  EXPECT_MESSAGE(tokens.problem());
  EXPECT_FALSE(tokens.create("another", Role::operate, day, "uid 0", start));
}

TEST_F(TokensInAFile, AreFoundByTheirSecretAfterARestart) {
  Token token;
  {
    Tokens tokens(folder());
    token = token_of(tokens.create("laptop", Role::operate, day, "uid 0", start));
    ASSERT_TRUE(tokens.find(token, start));
  }
  const Tokens tokens(folder());
  const auto found = tokens.find(token, start);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "laptop");
  EXPECT_EQ(found->role, Role::operate);
  EXPECT_EQ(found->creator, "uid 0");
  EXPECT_FALSE(tokens.find({token.id, new_secret()}, start));
  EXPECT_FALSE(tokens.find({"aaaaaaaa", token.secret}, start)) << "a secret counts under its own id only";
}

TEST_F(TokensInAFile, OnlyHashesAreOnTheDisk) {
  Tokens tokens(folder());
  const Token token = token_of(tokens.create("laptop", Role::viewer, day, "uid 0", start));
  EXPECT_EQ(file().find(token.secret), std::string::npos) << file();
  EXPECT_NE(file().find(hash_of(token.secret)), std::string::npos) << file();
  struct stat found {};
  ASSERT_EQ(::stat((folder() + "/tokens.json").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
}

TEST_F(TokensInAFile, ClockSetBackRevivesNoExpiredToken) {
  Tokens tokens(folder());
  const Token old = token_of(tokens.create("old", Role::viewer, day, "uid 0", start));
  const Token other = token_of(tokens.create("other", Role::viewer, day + day, "uid 0", start));
  EXPECT_TRUE(tokens.find(old, start + Duration::seconds(24LL * 3600 - 1)));
  EXPECT_FALSE(tokens.find(old, start + day));
  EXPECT_EQ(tokens.list(start + day).size(), 1U);
  tokens.note_use(other.id, start + day);  // The next change removes it.
  EXPECT_FALSE(tokens.find(old, start));
  EXPECT_FALSE(Tokens(folder()).find(old, start));
  EXPECT_TRUE(tokens.find(other, start));
}

TEST_F(TokensInAFile, NextExpiryIsThatOfAValidTokenThatExpires) {
  Tokens tokens(folder());
  EXPECT_FALSE(tokens.next_expiry(start));
  static_cast<void>(token_of(tokens.create("forever", Role::viewer, std::nullopt, "uid 0", start)));
  EXPECT_FALSE(tokens.next_expiry(start));
  static_cast<void>(token_of(tokens.create("later", Role::viewer, day + day, "uid 0", start)));
  static_cast<void>(token_of(tokens.create("soon", Role::viewer, day, "uid 0", start)));
  EXPECT_EQ(tokens.next_expiry(start), start + day);
  EXPECT_EQ(tokens.next_expiry(start + day), start + day + day);
}

TEST_F(TokensInAFile, RevokedTokenIsRefusedAtOnce) {
  Tokens tokens(folder());
  const Token token = token_of(tokens.create("laptop", Role::viewer, day, "uid 0", start));
  ASSERT_TRUE(tokens.revoke(token.id));
  EXPECT_FALSE(tokens.find(token, start));
  EXPECT_FALSE(Tokens(folder()).find(token, start));
  const auto again = tokens.revoke(token.id);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Errc::not_found);
}

TEST_F(TokensInAFile, RotationReplacesOnlyTheSecret) {
  Tokens tokens(folder());
  const Token before = token_of(tokens.create("laptop", Role::admin, day, "uid 0", start));
  const Instant later = start + Duration::seconds(3600);
  const auto rotated = tokens.rotate(before.id, later);
  const Token after = token_of(rotated);
  EXPECT_EQ(after.id, before.id);
  EXPECT_FALSE(tokens.find(before, later));
  ASSERT_TRUE(tokens.find(after, later));
  EXPECT_EQ(rotated->record.role, Role::admin);
  EXPECT_EQ(rotated->record.expires, (later + day).micros()) << "as much life as the old one had";
  EXPECT_FALSE(tokens.rotate("aaaaaaaa", later));
}

TEST_F(TokensInAFile, InvalidFieldsAreRefused) {
  Tokens tokens(folder());
  const auto code_of = [&](const std::string& name, std::optional<Duration> life) {
    const auto made = tokens.create(name, Role::viewer, life, "uid 0", start);
    return made ? std::optional<Errc>() : made.error().code;
  };
  EXPECT_EQ(code_of("", day), Errc::bad_request);
  EXPECT_EQ(code_of(std::string(65, 'x'), day), Errc::bad_request);
  EXPECT_EQ(code_of("two\nlines", day), Errc::bad_request);
  EXPECT_EQ(code_of("laptop", Duration()), Errc::bad_request);
  EXPECT_EQ(code_of("laptop", Tokens::longest_life + Duration::seconds(1)), Errc::bad_request);
  EXPECT_EQ(code_of("laptop", Tokens::longest_life), std::nullopt);
  EXPECT_EQ(code_of("laptop", day), Errc::wrong_state) << "the name is taken";
}

TEST_F(TokensInAFile, DamagedFileRefusesAllAndIsNotOverwritten) {
  write_text(scratch_.path() / "tokens.json", "{\"tokens\": [nonsense");
  Tokens tokens(folder());
  EXPECT_NE(tokens.problem().find("tokens.json"), std::string::npos) << tokens.problem();
  EXPECT_TRUE(tokens.list(start).empty());
  const auto made = tokens.create("laptop", Role::viewer, day, "uid 0", start);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Errc::unavailable);
  EXPECT_EQ(file(), "{\"tokens\": [nonsense");
}

TEST_F(TokensInAFile, RepairedFileIsReadAgain) {
  std::string text;
  {
    Tokens tokens(folder());
    ASSERT_TRUE(tokens.create("laptop", Role::viewer, day, "uid 0", start));
    text = file();
  }
  write_text(scratch_.path() / "tokens.json", "{");
  Tokens tokens(folder());
  EXPECT_FALSE(tokens.reload());
  EXPECT_FALSE(tokens.create("desk", Role::viewer, day, "uid 0", start));
  write_text(scratch_.path() / "tokens.json", text);
  EXPECT_TRUE(tokens.reload());
  EXPECT_EQ(tokens.list(start).size(), 1U);
  EXPECT_TRUE(tokens.create("desk", Role::viewer, day, "uid 0", start));
  write_text(scratch_.path() / "tokens.json", "{");
  EXPECT_FALSE(tokens.reload());
  EXPECT_EQ(tokens.list(start).size(), 2U) << "a damaged file changes nothing";
}

TEST_F(TokensInAFile, UnknownRoleIsDamage) {
  Tokens tokens(folder());
  static_cast<void>(tokens.create("laptop", Role::viewer, day, "uid 0", start));
  std::string text = file();
  text.replace(text.find("viewer"), 6, "worker");
  write_text(scratch_.path() / "tokens.json", text);
  EXPECT_NE(Tokens(folder()).problem(), "") << "worker is no role of a token";
}

}  // namespace
}  // namespace hpsearch::daemon
