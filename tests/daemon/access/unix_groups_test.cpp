#include "daemon/access/unix_groups.hpp"

#include <grp.h>
#include <gtest/gtest.h>
#include <pwd.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "daemon/access/authentication.hpp"
#include "daemon/daemon_fixture.hpp"
#include "messages.hpp"

// Roles of users of this machine over the Unix socket, by their groups.

namespace hpsearch::daemon {
namespace {

using engine::Instant;

constexpr Instant noon = Instant::from_micros(1'800'000'000'000'000);
constexpr std::uint32_t ann = 100'001;
constexpr std::uint32_t bob = 100'002;
constexpr std::uint32_t readers = 70'001;
constexpr std::uint32_t searchers = 70'002;

/// Groups of users that exist in this test only.
class UnixGroupsOfUsers : public testing::Test {
 protected:
  UnixGroups groups() {
    return UnixGroups({{"readers", readers, Role::viewer}, {"searchers", searchers, Role::submit}},
                      [this](std::uint32_t uid) {
                        ++looks_;
                        return members_[uid];
                      });
  }

  std::map<std::uint32_t, std::vector<std::uint32_t>> members_{{ann, {5, searchers, readers}}, {bob, {5}}};
  int looks_ = 0;
};

TEST_F(UnixGroupsOfUsers, HighestRoleOfAUsersGroupsCounts) {
  UnixGroups all = groups();
  EXPECT_EQ(all.role_of(ann, noon), Role::submit);
  EXPECT_EQ(all.role_of(bob, noon), std::nullopt);
  EXPECT_EQ(UnixGroups().role_of(ann, noon), std::nullopt);
}

TEST_F(UnixGroupsOfUsers, ChangedMembershipCountsAfterAMinute) {
  UnixGroups all = groups();
  EXPECT_EQ(all.role_of(ann, noon), Role::submit);
  members_[ann] = {readers};
  EXPECT_EQ(all.role_of(ann, noon + engine::Duration::seconds(59)), Role::submit);
  EXPECT_EQ(looks_, 1);
  EXPECT_EQ(all.role_of(ann, noon + engine::Duration::seconds(60)), Role::viewer);
}

TEST(UnixGroups, AreParsedWithTheirRole) {
  const ::group* own = ::getgrgid(0);
  ASSERT_NE(own, nullptr);
  const auto read = read_group_role(std::string(own->gr_name) + "=operator");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->group, 0U);
  EXPECT_EQ(read->role, Role::operate);
  for (const char* wrong : {"", "root", "=viewer", "root=", "root=boss", "root=anyone", "root=worker"}) {
    EXPECT_FALSE(read_group_role(wrong)) << wrong;
  }
  EXPECT_EQ(read_group_role("no-such-group-here=viewer").error().message,
            "there is no group \"no-such-group-here\" on this machine");
}

TEST(UnixGroups, IncludeThePrimaryOne) {
  const auto groups = groups_of_user(0);
  EXPECT_NE(std::find(groups.begin(), groups.end(), 0U), groups.end());
  EXPECT_TRUE(groups_of_user(3'999'999'999).empty());
}

TEST(UnixGroups, MemberHasItsRoleAndIsNotTheDaemonsUser) {
  Scratch folder;
  const Tokens tokens(folder.path().string());
  const passwd* user = ::getpwnam("nobody");
  ASSERT_NE(user, nullptr);
  const std::uint32_t member = user->pw_uid;
  const std::vector<GroupRole> all{{"searchers", user->pw_gid, Role::submit}};
  Authentication authentication(tokens, {.owner = 4'000'000'001, .groups = all});
  const auto of = [&authentication](std::uint32_t uid) {
    net::HttpRequest request;
    request.peer = {uid, "uid " + std::to_string(uid)};
    return authentication.caller_of(request, noon);
  };
  const auto refused = of(3'999'999'999);
  ASSERT_TRUE(std::holds_alternative<net::HttpResponse>(refused));
  EXPECT_EQ(std::get<net::HttpResponse>(refused).status, 403U);
  EXPECT_MESSAGE(std::get<net::HttpResponse>(refused).body);
  const Caller owner = std::get<Caller>(of(4'000'000'001));
  EXPECT_EQ(owner.role, Role::admin);
  EXPECT_TRUE(owner.is_local);
  const auto admitted = of(member);
  ASSERT_TRUE(std::holds_alternative<Caller>(admitted));
  EXPECT_EQ(std::get<Caller>(admitted).role, Role::submit);
  EXPECT_FALSE(std::get<Caller>(admitted).is_local);
  EXPECT_EQ(owner_name(std::get<Caller>(admitted)), "nobody");
}

}  // namespace
}  // namespace hpsearch::daemon
