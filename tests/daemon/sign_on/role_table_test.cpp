#include "daemon/sign_on/role_table.hpp"

#include <gtest/gtest.h>

namespace hpsearch::daemon {
namespace {

const RoleTable table({{.group = "nlp", .role = Role::submit, .workspaces = {"nlp"}},
                       {.group = "vision", .role = Role::submit, .workspaces = {"vision", "video"}},
                       {.group = "leads", .role = Role::operate},
                       {.group = "guests", .role = Role::viewer}});

std::string text_of(const std::vector<std::string>& groups) {
  const auto rights = table.rights_of(groups);
  return rights ? std::string(name_of(rights->role)) + " in " + rights->scope.text() : "none";
}

TEST(RoleTableOfGroups, HighestRoleCountsInAllItsWorkspaces) {
  EXPECT_EQ(text_of({"nlp"}), "submitter in nlp");
  EXPECT_EQ(text_of({"vision", "nlp"}), "submitter in nlp, video, vision");
  EXPECT_EQ(text_of({"guests", "nlp"}), "submitter in nlp");
  EXPECT_EQ(text_of({"nlp", "leads"}), "operator in *");
  EXPECT_EQ(text_of({"guests"}), "viewer in *");
}

TEST(RoleTableOfGroups, PersonWithoutARowHasNoRole) {
  EXPECT_EQ(text_of({}), "none");
  EXPECT_EQ(text_of({"NLP", "other"}), "none");
  EXPECT_EQ(text_of({"*"}), "none") << "a group of that name gives nothing";
}

TEST(RoleTableOfGroups, RowForEveryoneNeedsNoGroup) {
  const RoleTable open({{.group = "*", .role = Role::viewer}, {.group = "nlp", .role = Role::admin}});
  EXPECT_EQ(open.rights_of({})->role, Role::viewer);
  EXPECT_EQ(open.rights_of({"nlp"})->role, Role::admin);
}

TEST(RoleTableOfGroups, KnownGroupsAreThoseWithARow) {
  EXPECT_EQ(table.known_of({"x", "vision", "nlp", "nlp"}), (std::vector<std::string>{"nlp", "vision"}));
}

}  // namespace
}  // namespace hpsearch::daemon
