// The channels of an attempt's members, which may share one directory.

#include "hpsearch/workers/shell/channels.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "scratch.hpp"
#include "workers/shell/fake_daemon.hpp"

namespace hpsearch::workers::test {
namespace {

namespace fs = std::filesystem;
using jobs::LaunchSpec;

class ChannelsOfAGang : public testing::Test {
 protected:
  LaunchSpec member(std::uint64_t rank) const {
    LaunchSpec spec;
    spec.key = key_of(3);
    spec.experiment_name = "digits";
    spec.contract.outputs = {{.name = "train_url", .path = results().string(), .pre_download = true}};
    spec.rendezvous = {.rank = rank, .addresses = {"10.0.0.1", "10.0.0.2"}, .port = 7000};
    return spec;
  }

  /// The attempt's results, from the view of that member.
  fs::path lay(const LaunchSpec& spec) {
    const AttemptDirectory directory(scratch_.path() / std::to_string(spec.rendezvous.rank), spec.key);
    EXPECT_TRUE(directory.make("").has_value());
    const auto places = make_channels(spec, directory, directory.ml().string());
    EXPECT_TRUE(places.has_value()) << places.error().message;
    return directory.output() / "train_url";
  }

  fs::path results() const { return scratch_.path() / "results"; }

 private:
  Scratch scratch_;
};

TEST_F(ChannelsOfAGang, KeepFilesOfAnotherMember) {
  write_text(lay(member(0)) / "metrics.json", "of rank 0");
  write_text(lay(member(1)) / "shard-1", "of rank 1");
  const fs::path seen = lay(member(1));
  EXPECT_EQ(text_of(seen / "metrics.json"), "of rank 0");
  EXPECT_EQ(text_of(seen / "shard-1"), "of rank 1");
}

TEST_F(ChannelsOfAGang, AttemptFromBeforeARestoreKeepsItsOutput) {
  write_text(lay(member(0)) / "metrics.json", "of the lost part of the log, and running still");
  LaunchSpec again = member(0);
  again.key = after_a_restore(again.key);
  lay(again);
  EXPECT_TRUE(
      fs::exists(results() / std::to_string(again.key.experiment.number()) / "3" / "1" / "metrics.json"));
}

TEST_F(ChannelsOfAGang, BeginWithTheOutputOfTheLastAttempt) {
  LaunchSpec first = member(0);
  write_text(lay(first) / "log", "of attempt 1");
  first.key = after_a_restore(first.key);
  write_text(lay(first) / "log", "of attempt 1, leased after a restore");
  LaunchSpec second = member(0);
  second.key = after_a_restore(key_of(3, 2));
  EXPECT_EQ(text_of(lay(second) / "log"), "of attempt 1, leased after a restore");
}

TEST_F(ChannelsOfAGang, AreMadeByTheFirstMember) {
  EXPECT_TRUE(fs::is_directory(lay(member(1))));
  EXPECT_TRUE(fs::is_directory(lay(member(0))));
}

TEST_F(ChannelsOfAGang, AreMadeAgainByRank0) {
  write_text(lay(member(0)) / "half", "of a worker that died before the attempt began");
  EXPECT_FALSE(fs::exists(lay(member(0)) / "half"));
}

TEST_F(ChannelsOfAGang, AreNotSharedByMembersThatOnlyLendSlots) {
  LaunchSpec lender = member(1);
  lender.launch.kind = jobs::LaunchKind::mpi;
  lender.contract.outputs.push_back({.name = "checkpoints", .path = "", .pre_download = true});
  lender.latest_checkpoint =
      (results() / "not" / "here").string();  // It need not exist, because nothing starts from it there.
  EXPECT_TRUE(fs::is_directory(fs::symlink_status(lay(lender))));
  EXPECT_FALSE(fs::exists(results()));
}

}  // namespace
}  // namespace hpsearch::workers::test
