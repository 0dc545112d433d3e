#include "hpsearch/workers/core/launch/run_as.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "messages.hpp"

namespace hpsearch::workers {
namespace {

using engine::Errc;
using engine::Error;
using engine::Result;
using jobs::LaunchSpec;

UnixAccount account(const std::string& name, std::uint64_t uid) {
  return {.name = name, .uid = uid, .gid = uid, .groups = {uid, 44}, .home = "/home/" + name};
}

Result<std::optional<UnixAccount>> machine(const proto::UnixUser& user) {
  if (user.name() == "ann") {
    return std::optional(account("ann", 1000));
  }
  if (user.name() == "daemon") {
    return std::optional(account("daemon", 1));
  }
  if (user.name() == "root" || user.name() == "toor") {
    return std::optional(account(user.name(), 0));
  }
  if (user.name() == "wheel") {
    UnixAccount wheel = account("wheel", 1001);
    wheel.groups.push_back(0);
    return std::optional(wheel);
  }
  if (user.name() == "slow") {
    return Error{Errc::unavailable, "cannot look up the user slow: Connection refused"};
  }
  return std::optional<UnixAccount>();
}

LaunchSpec spec_of(const std::string& user) {
  LaunchSpec spec;
  spec.unix_user = user;
  return spec;
}

std::string refusal(const LaunchSpec& spec, const RunAs& run_as = {.submitter = true}) {
  const auto found = account_for(spec, run_as, machine);
  if (found) {
    return "";
  }
  EXPECT_EQ(found.error().code, Errc::bad_request);
  return found.error().message;
}

TEST(RunAs, WorkersUserNeedsNoLookup) {
  const auto never = [](const proto::UnixUser&) -> Result<std::optional<UnixAccount>> {
    ADD_FAILURE() << "no user is looked up";
    return std::optional<UnixAccount>();
  };
  for (const char* user : {"", "ann", "root", "nonsense:"}) {
    const auto found = account_for(spec_of(user), RunAs{}, never);
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->has_value());
  }
}

TEST(RunAs, SubmitterIsTheUserOfTheToken) {
  const auto found = account_for(spec_of("ann"), {.submitter = true}, machine);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ((*found)->uid, 1000U);
  EXPECT_EQ((*found)->home, "/home/ann");
}

TEST(RunAs, RefusalNamesTheUserAndWhatIsAllowed) {
  EXPECT_MESSAGE(refusal(spec_of("")));
  EXPECT_MESSAGE(refusal(spec_of("bob")));
  EXPECT_MESSAGE(refusal(spec_of("a b")));
  EXPECT_MESSAGE(refusal(spec_of("daemon")));
  EXPECT_MESSAGE(refusal(spec_of("wheel")));
  EXPECT_EQ(refusal(spec_of("daemon"), {.submitter = true, .min_uid = 1}), "");
  EXPECT_MESSAGE(refusal(spec_of("ann"), {.submitter = true, .min_uid = 1001}));
}

TEST(RunAs, RootIsRefusedUnderAnyNameAndLimit) {
  for (const std::uint64_t least : {0U, 1U, 1000U}) {
    for (const char* name : {"root", "toor"}) {
      EXPECT_MESSAGE(refusal(spec_of(name), {.submitter = true, .min_uid = least}));
    }
  }
}

TEST(RunAs, MissingDirectoryServiceIsNoFailure) {
  const auto found = account_for(spec_of("slow"), {.submitter = true}, machine);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Errc::unavailable);
}

TEST(RunAs, LaunchesThatNeedRootAreRejectedByName) {
  const auto with = [](const std::function<void(LaunchSpec&)>& change) {
    LaunchSpec spec = spec_of("ann");
    change(spec);
    return refusal(spec);
  };
  EXPECT_MESSAGE(with([](LaunchSpec& spec) { spec.contract.image = "debian:12"; }));
  EXPECT_NE(with([](LaunchSpec& spec) { spec.contract.bind_mounts.emplace_back(); }).find("bind_mounts"),
            std::string::npos);
  EXPECT_NE(with([](LaunchSpec& spec) { spec.checkpoint_root = "s3://bucket/a"; }).find("s3://bucket/a"),
            std::string::npos);
  EXPECT_MESSAGE(with([](LaunchSpec& spec) { spec.latest_checkpoint = "s3://bucket/a"; }));
  EXPECT_NE(with([](LaunchSpec& spec) { spec.launch.rank = jobs::RankLevel::process; }).find("launch.rank"),
            std::string::npos);
}

TEST(RunAs, EnvironmentIsTheUsersOwn) {  // The worker's variables aren't passed without a request.
  const std::map<std::string, std::string> workers{{"HOME", "/root"},
                                                   {"USER", "root"},
                                                   {"PATH", "/usr/bin"},
                                                   {"LC_CTYPE", "C.UTF-8"},
                                                   {"TZ", "UTC"},
                                                   {"XDG_RUNTIME_DIR", "/run/user/0"},
                                                   {"AWS_SECRET_ACCESS_KEY", "secret"},
                                                   {"LD_PRELOAD", "/root/spy.so"},
                                                   {"http_proxy", "http://proxy:3128"}};
  std::map<std::string, std::string> expected{{"HOME", "/home/ann"},   {"LOGNAME", "ann"},
                                              {"PATH", "/usr/bin"},    {"USER", "ann"},
                                              {"LC_CTYPE", "C.UTF-8"}, {"TZ", "UTC"}};
  EXPECT_EQ(environment_of(account("ann", 1000), workers, {}), expected);
  expected["http_proxy"] = "http://proxy:3128";
  EXPECT_EQ(environment_of(account("ann", 1000), workers, {"http_proxy", "HOME", "absent"}), expected);
}

}  // namespace
}  // namespace hpsearch::workers
