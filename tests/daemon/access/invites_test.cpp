#include "daemon/keys/invites.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "daemon/daemon_fixture.hpp"
#include "hpsearch/io/zmq/invite_token.hpp"
#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Duration;
using engine::Errc;
using engine::Instant;

std::string key_of(char digit) {
  return std::string(64, digit);
}

class InvitesTest : public testing::Test {
 protected:
  Invites::Made made(std::uint64_t uses = 1, Duration life = Duration::seconds(3600)) {
    auto invite = invites_.create(
        {.endpoint = "tcp://10.0.0.1:8078", .life = life, .uses = uses, .creator = "uid 0"}, now_);
    EXPECT_TRUE(invite) << invite.error().message;
    return invite ? *std::move(invite) : Invites::Made{};
  }
  engine::Result<std::string> join(const Invites::Made& invite, const std::string& name, char key,
                                   bool replaces = false) {
    return invites_.join(invite.record.key, {name, key_of(key)}, replaces, keys_, now_);
  }
  /// The refusal, with ID instead of the invite's; "joined" without one.
  std::string why_not(const Invites::Made& invite, const std::string& name, char key) {
    const auto joined = join(invite, name, key);
    std::string why = joined ? "joined" : joined.error().message;
    const std::size_t id = why.find(invite.record.id());
    return id == std::string::npos ? why : why.replace(id, invite.record.id().size(), "ID");
  }
  InviteRecord listed(std::size_t number = 0) {
    const auto all = invites_.list();
    EXPECT_TRUE(all && all->size() > number);
    return all && all->size() > number ? all->at(number) : InviteRecord{};
  }

  const Scratch scratch_;
  Invites invites_{scratch_.path("")};
  WorkerKeys keys_{scratch_.path("")};
  Instant now_ = Instant::from_micros(1'700'000'000'000'000);
};

TEST_F(InvitesTest, TokenHasTheDaemonsAddressAndKeyAndTheFileNoSecret) {
  const Invites::Made invite = made();
  const auto token = net::InviteToken::read(invite.token);
  ASSERT_TRUE(token) << token.error().message;
  EXPECT_EQ(token->endpoint, "tcp://10.0.0.1:8078");
  EXPECT_EQ(token->curve.server_key, net::curve_keys_in(scratch_.path(""))->public_key);
  EXPECT_EQ(token->curve.keys.public_key, invite.record.key);
  const std::string file = text_of(scratch_.path("invites.json"));
  EXPECT_NE(file.find(invite.record.key), std::string::npos);
  EXPECT_EQ(file.find(token->curve.keys.secret_key), std::string::npos);
  struct stat info {};
  ASSERT_EQ(::stat(scratch_.path("invites.json").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(InvitesTest, LetsInAsManyWorkersAsItHasUses) {
  const Invites::Made invite = made(2);
  EXPECT_TRUE(join(invite, "one", '1'));
  EXPECT_TRUE(join(invite, "two", '2'));
  EXPECT_EQ(
      why_not(invite, "three", '3'),
      "invite ID is used up: 2 workers have joined with it. Ask for another one: hpsearch worker invite");
  EXPECT_EQ(keys_.name_of(key_of('2')), "two");
  EXPECT_EQ(keys_.name_of(key_of('3')), std::nullopt);
  EXPECT_EQ(listed().used, 2U);
  EXPECT_EQ(listed().workers, (std::vector<std::string>{"one", "two"}));
}

TEST_F(InvitesTest, WithdrawnInviteTakesTheKeysThatJoinedWithIt) {
  const Invites::Made of_allocation = made(2);
  const Invites::Made other = made(1);
  EXPECT_TRUE(join(of_allocation, "gpu-7-0", '1'));
  EXPECT_TRUE(join(other, "fixed", '2'));
  ASSERT_TRUE(invites_.withdraw(of_allocation.record.key, keys_));
  EXPECT_EQ(keys_.name_of(key_of('1')), std::nullopt);
  EXPECT_EQ(keys_.name_of(key_of('2')), "fixed") << "of another invite";
  EXPECT_EQ(listed().key, other.record.key) << "it is forgotten at once";
  EXPECT_FALSE(invites_.knows(of_allocation.record.key));
  EXPECT_TRUE(invites_.withdraw(of_allocation.record.key, keys_)) << "again, after a crash";
  EXPECT_EQ(why_not(of_allocation, "gpu-7-1", '3'), "the daemon does not have this invite any more");
}

TEST_F(InvitesTest, AllowedKeyCostsNoUse) {
  const Invites::Made invite = made(1);
  EXPECT_TRUE(join(invite, "one", '1'));
  const auto again = join(invite, "another name", '1');
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, "one");
  EXPECT_EQ(listed().used, 1U);
}

TEST_F(InvitesTest, EndedInviteNamesTheReason) {
  const Invites::Made expired = made(1, Duration::seconds(60));
  const Invites::Made revoked = made(5);
  ASSERT_TRUE(invites_.revoke(revoked.record.id(), now_));
  now_ = now_ + Duration::seconds(3 * 3600);
  EXPECT_EQ(why_not(expired, "one", '1'),
            "invite ID expired 2 hours ago. Ask for another one: hpsearch worker invite");
  EXPECT_EQ(why_not(revoked, "one", '1'),
            "invite ID was revoked 3 hours ago. Ask for another one: hpsearch worker invite");
  EXPECT_EQ(keys_.list()->size(), 0U);
  EXPECT_TRUE(invites_.knows(expired.record.key)) << "so that its owner reads the reason";
}

TEST_F(InvitesTest, EndedInvitesAreForgottenAfterSevenDays) {
  const Invites::Made old = made(1, Duration::seconds(60));
  now_ = now_ + Duration::seconds(8LL * 24 * 3600);
  const Invites::Made next = made();
  EXPECT_FALSE(invites_.knows(old.record.key));
  EXPECT_TRUE(invites_.knows(next.record.key));
}

TEST_F(InvitesTest, ClockSetBackRevivesNoRevokedInvite) {
  const Invites::Made invite = made(5);
  ASSERT_TRUE(invites_.revoke(invite.record.id(), now_));
  now_ = now_ + Duration::seconds(-7200);
  EXPECT_NE(why_not(invite, "one", '1'), "joined");
}

TEST_F(InvitesTest, NameOfAnotherKeyIsRefusedUnlessItsWorkerIsLost) {
  ASSERT_TRUE(keys_.allow({"node-1", key_of('0')}));
  const Invites::Made invite = made(1);
  EXPECT_EQ(
      why_not(invite, "node-1", '1'),
      "the name \"node-1\" belongs to another worker of this daemon. Give --name another one; if the other "
      "worker is gone, forget it first: hpsearch worker forget node-1");
  EXPECT_EQ(listed().used, 0U);
  EXPECT_TRUE(join(invite, "node-1", '1', true));
  EXPECT_EQ(keys_.name_of(key_of('1')), "node-1");
}

TEST_F(InvitesTest, BadNamesAndKeysCostNoUse) {
  const Invites::Made invite = made(1);
  EXPECT_EQ(
      why_not(invite, "a name", '1'),
      "the worker's name is \"a name\"; it must be 1 to 64 letters, digits, '.', '_' and '-': give --name");
  EXPECT_FALSE(invites_.join(invite.record.key, {"one", "short"}, false, keys_, now_));
  EXPECT_EQ(listed().used, 0U);
}

TEST_F(InvitesTest, OneUseAdmitsOneOfRacingWorkers) {
  const Invites::Made invite = made(1);
  std::atomic<int> joined = 0;
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([&, i] {
      Invites invites(scratch_.path(""));  // As another process would.
      WorkerKeys keys(scratch_.path(""));
      const auto done =
          invites.join(invite.record.key, {"w" + std::to_string(i), key_of(static_cast<char>('0' + i))},
                       false, keys, now_);
      joined += done ? 1 : 0;
    });
  }
  for (std::thread& worker : workers) {
    worker.join();
  }
  EXPECT_EQ(joined, 1);
  EXPECT_EQ(keys_.list()->size(), 1U);
  EXPECT_EQ(listed().used, 1U);
}

TEST_F(InvitesTest, UseCountedBeforeACrashBelongsToItsKey) {
  const Invites::Made invite = made(1);
  ASSERT_TRUE(std::filesystem::create_directory(scratch_.path("worker_keys.lock")));
  EXPECT_FALSE(join(invite, "one", '1')) << "the key cannot be allowed now";
  EXPECT_EQ(listed().used, 1U);
  std::filesystem::remove(scratch_.path("worker_keys.lock"));
  EXPECT_NE(why_not(invite, "two", '2'), "joined");
  EXPECT_TRUE(join(invite, "one", '1'));
  EXPECT_EQ(listed().used, 1U);
  EXPECT_TRUE(listed().joining.empty());
  ASSERT_TRUE(keys_.deny("one"));
  EXPECT_NE(why_not(invite, "one", '1'), "joined") << "a denied key does not come back";
}

TEST_F(InvitesTest, FileWritableByOthersLetsNoWorkerIn) {
  const Invites::Made invite = made(1);
  std::filesystem::permissions(scratch_.path("invites.json"), std::filesystem::perms(0666));
  EXPECT_FALSE(Invites(scratch_.path("")).knows(invite.record.key));
  EXPECT_EQ(join(invite, "one", '1').error().code, Errc::corrupt);
}

TEST_F(InvitesTest, AddressMustBeOneThatWorkersCanReach) {
  for (const char* wrong :
       {"", "10.0.0.1:8078", "tcp://:8078", "tcp://host", "tcp://host:port", "ipc:///socket"}) {
    EXPECT_FALSE(invites_.create({.endpoint = wrong, .creator = "uid 0"}, now_)) << wrong;
  }
  EXPECT_TRUE(invites_.create({.endpoint = "tcp://[fd00::1]:8078", .creator = "uid 0"}, now_));
}

/// A port that takes its peers for owners of an invite.
class GateForGuests : public testing::Test {
 protected:
  GateForGuests() {
    WorkerSessions::Settings settings;
    settings.worker_of_key = [](const std::string&) { return std::optional<std::string>(); };
    settings.is_invite = [](const std::string&) { return true; };
    settings.on_join = [this](const auto&, const proto::Join& join, auto answer) {
      joins.push_back(join.name);
      answer(join.name == "node-1" ? engine::Result<proto::Joined>(proto::Joined{join.name})
                                   : engine::Error{Errc::wrong_state, "invite 12345678 is used up"});
    };
    fixture.reopen_gate(std::move(settings));
  }

  DaemonFixture fixture;
  std::vector<std::string> joins;
};

TEST_F(GateForGuests, AnswersJoin) {
  ScriptedWorker worker(fixture);
  worker.send(proto::Join{"node-1", key_of('1')});
  EXPECT_EQ(worker.wait_for<proto::Joined>().name, "node-1");
  worker.send(proto::Join{"node-2", key_of('2')});
  EXPECT_EQ(worker.wait_for<proto::Refused>().why, "invite 12345678 is used up");
}

TEST_F(GateForGuests, IgnoresEverythingButJoin) {
  ScriptedWorker worker(fixture);
  worker.send_hello();
  worker.send(proto::Goodbye{"why"});
  ScriptedWorker other(fixture, "uid-2");
  other.send(proto::Join{"node-1", key_of('1')});
  other.wait_for<proto::Joined>();
  EXPECT_TRUE(fixture.runtime->engine().workers().empty());
  EXPECT_EQ(joins, std::vector<std::string>{"node-1"});
}

}  // namespace
}  // namespace hpsearch::daemon
