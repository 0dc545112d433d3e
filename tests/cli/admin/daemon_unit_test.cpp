#include "cli/admin/daemon_unit.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hpsearch::cli {
namespace {

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(DaemonUnitTest, SystemUnitHasTheProtectionOfTheShippedOne) {
  const std::string unit =
      DaemonUnit{{"/opt/hp/hpsearchd", "--state-dir", "/var/lib/hp"}, "ann", {"/var/lib/hp", "/shared"}}
          .text();
  EXPECT_TRUE(has_line(unit, "ExecStart=/opt/hp/hpsearchd --state-dir /var/lib/hp")) << unit;
  EXPECT_TRUE(has_line(unit, "User=ann"));
  EXPECT_TRUE(has_line(unit, "ReadWritePaths=/var/lib/hp /shared"));
  EXPECT_TRUE(has_line(unit, "ProtectSystem=strict"));
  EXPECT_TRUE(has_line(unit, "ProtectHome=yes"));
  EXPECT_TRUE(has_line(unit, "WantedBy=multi-user.target"));
  EXPECT_EQ(unit.find("StateDirectory="), std::string::npos) << "the directory exists already";
}

TEST(DaemonUnitTest, StateInAHomeIsReachable) {
  const std::string unit = DaemonUnit{{"/hpsearchd"}, "ann", {"/home/ann/state"}}.text();
  EXPECT_TRUE(has_line(unit, "ProtectHome=no")) << unit;
}

TEST(DaemonUnitTest, UserUnitHasOnlyWhatAUsersManagerCanDo) {
  const std::string unit = DaemonUnit{{"/hpsearchd"}, "", {"/home/ann/state"}}.text();
  EXPECT_TRUE(has_line(unit, "[Service]")) << unit;
  EXPECT_TRUE(has_line(unit, "ExecStart=/hpsearchd"));
  EXPECT_TRUE(has_line(unit, "RestartPreventExitStatus=2 4 74"));
  EXPECT_TRUE(has_line(unit, "Type=notify"));
  EXPECT_TRUE(has_line(unit, "ExecReload=/bin/kill -HUP $MAINPID"));
  EXPECT_TRUE(has_line(unit, "WantedBy=default.target"));
  for (const char* system_only :
       {"User=", "ReadWritePaths=", "ProtectSystem=", "CapabilityBoundingSet=", "ConfigurationDirectory="}) {
    EXPECT_EQ(unit.find(system_only), std::string::npos) << system_only;
  }
}

TEST(DaemonUnitTest, WordsAreQuotedForSystemd) {
  const std::string unit = DaemonUnit{{"/hpsearchd", "--state-dir", "/a b/100%/$x"}, "", {}}.text();
  EXPECT_TRUE(has_line(unit, R"(ExecStart=/hpsearchd --state-dir "/a b/100%%/$$x")")) << unit;
}

}  // namespace
}  // namespace hpsearch::cli
