// Parts of the shell that need files but neither a network nor programs.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/workers/core/program_message.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "hpsearch/workers/shell/attempt_preparation.hpp"
#include "hpsearch/workers/shell/files.hpp"
#include "hpsearch/workers/shell/own_address.hpp"
#include "hpsearch/workers/shell/processes/process_table.hpp"
#include "hpsearch/workers/shell/shim/metric_scanner.hpp"
#include "hpsearch/workers/shell/worker_state.hpp"
#include "scratch.hpp"
#include "workers/shell/fake_daemon.hpp"
#include "workers/shell/transfer/file_trees.hpp"

namespace hpsearch::workers::test {
namespace {

namespace fs = std::filesystem;
using engine::Errc;
using engine::Units;
using engine::Value;

// --- the address for other machines ---

TEST(OwnAddress, IsTheOneOfTheRouteToTheDaemon) {
  EXPECT_EQ(own_address("tcp://127.0.0.1:8078"), "127.0.0.1");
  EXPECT_EQ(own_address("tcp://127.0.0.9:8078"), "127.0.0.1")
      << "not the daemon's, but ours on the way there";
}

TEST(OwnAddress, IsLoopbackForALocalSocket) {
  EXPECT_EQ(own_address("ipc:///a/socket"), "127.0.0.1");
}

TEST(OwnAddress, IsNotGuessed) {
  for (const char* endpoint : {"", "tcp://", "tcp://:8078", "tcp://no.such.host.invalid:8078"}) {
    EXPECT_EQ(own_address(endpoint), "") << endpoint;
  }
}

// --- the port of an attempt on several workers ---

TEST(MeetingPort, IsFreeIfNoProcessListensThere) {
  const Descriptor taken(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  socklen_t size = sizeof any;
  ASSERT_EQ(::bind(taken.get(), reinterpret_cast<sockaddr*>(&any), size), 0);
  ASSERT_EQ(::listen(taken.get(), 1), 0);
  ASSERT_EQ(::getsockname(taken.get(), reinterpret_cast<sockaddr*>(&any), &size), 0);
  jobs::LaunchSpec spec;
  spec.launch.kind = jobs::LaunchKind::pytorch;
  spec.rendezvous.port = ntohs(any.sin_port);
  EXPECT_TRUE(meeting_port_is_free(spec)) << "on one worker another port is used";
  spec.rendezvous.addresses = {"10.0.0.1", "10.0.0.2"};
  const engine::Status in_use = meeting_port_is_free(spec);
  ASSERT_FALSE(in_use);
  EXPECT_EQ(in_use.error().code, Errc::unavailable);
  EXPECT_EQ(in_use.error().message, "port " + std::to_string(spec.rendezvous.port) +
                                        ", at which its processes were to meet, is in use on this machine");
  spec.rendezvous.rank = 1;
  EXPECT_TRUE(meeting_port_is_free(spec)) << "it meets the others elsewhere";
  spec.launch.kind = jobs::LaunchKind::tensorflow;
  EXPECT_FALSE(meeting_port_is_free(spec)) << "there every worker listens";
}

// --- files ---

TEST(Files, FullDiskIsReportedWithItsRemedy) {
  const std::string said = file_error("cannot write", "/x", ENOSPC).message;
  EXPECT_NE(said.find("No space left on device"), std::string::npos) << said;
  EXPECT_NE(said.find("--state-dir"), std::string::npos) << said;
  EXPECT_TRUE(reports_a_bad_disk(said));
}

TEST(Files, BadDiskIsRecognizedByItsMessage) {
  for (const int error : {ENOSPC, EDQUOT, EIO, EROFS}) {
    EXPECT_TRUE(reports_a_bad_disk(file_error("cannot write", "/state/spool", error).message)) << error;
  }
  for (const int error : {ENOENT, EACCES, ENOTDIR, ENAMETOOLONG}) {
    EXPECT_FALSE(reports_a_bad_disk(file_error("cannot write", "/state/spool", error).message)) << error;
  }
}

TEST(Files, ScarcityIsRecognizedByItsMessage) {
  for (const int error : {EAGAIN, EMFILE, ENFILE, ENOMEM}) {
    EXPECT_TRUE(reports_scarcity(file_error("cannot run", "/bin/hpsearch-shim", error).message)) << error;
  }
  for (const int error : {ENOENT, EACCES, ENOEXEC, ENOSPC}) {
    EXPECT_FALSE(reports_scarcity(file_error("cannot run", "/bin/hpsearch-shim", error).message)) << error;
  }
}

TEST(Files, WriteProbeLeavesNoFile) {
  const Scratch scratch;
  EXPECT_TRUE(try_to_write_in(scratch.path()));
  EXPECT_TRUE(fs::is_empty(scratch.path()));
  EXPECT_FALSE(try_to_write_in(scratch.path() / "nowhere"));
}

// --- attempt directories ---

TEST(AttemptDirectories, RememberWhichDirectoryWasMadeForCheckpoints) {
  const Scratch scratch;
  const fs::path root = scratch.path() / "attempt";
  ASSERT_TRUE(AttemptDirectory(root).make("").has_value());
  const AttemptDirectory of_the_next_agent(root);
  const auto made = of_the_next_agent.made_for_checkpoints();
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_TRUE(open_own_directory(*made).has_value());
  fs::rename(root / "ml/output/checkpoints", root / "ml/output/aside");
  write_text(root / "ml/output/checkpoints/weights", "1");
  EXPECT_FALSE(open_own_directory(*of_the_next_agent.made_for_checkpoints()).has_value());
  write_text(root / "checkpoint.json",
             R"({"root":{"device":1,"inode":2},"checkpoint":{"device":1,"inode":"2"}})");
  EXPECT_EQ(of_the_next_agent.made_for_checkpoints().error().code, Errc::corrupt);
  fs::remove(root / "checkpoint.json");
  EXPECT_EQ(of_the_next_agent.made_for_checkpoints().error().code, Errc::not_found);
}

TEST(AttemptDirectories, RememberTheirProcess) {
  const Scratch scratch;
  const AttemptDirectory directory(scratch.path());
  EXPECT_FALSE(directory.read_process().has_value());
  ASSERT_TRUE(directory.write_process({.pid = 12,
                                       .start_time = 345,
                                       .boot_id = "b",
                                       .socket = "/s",
                                       .group = "/sys/fs/cgroup/g",
                                       .mark = "A=b"}));
  const auto read = directory.read_process();
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->pid, 12);
  EXPECT_EQ(read->start_time, 345U);
  EXPECT_EQ(read->boot_id, "b");
  EXPECT_EQ(read->socket, "/s");
  EXPECT_EQ(read->group, "/sys/fs/cgroup/g");
  EXPECT_EQ(read->mark, "A=b");
  const std::string whole = text_of(directory.process());
  for (std::size_t cut = 0; cut + 1 < whole.size(); ++cut) {  // The last byte is the end of the line.
    write_text(directory.process(), whole.substr(0, cut));
    EXPECT_FALSE(directory.read_process().has_value()) << cut;
  }
}

TEST(AttemptDirectories, CleanUpDoesNotFollowALinkInPlaceOfADirectory) {
  for (const char* const replaced : {"ml/output/checkpoints", "ml/output", "ml"}) {
    const Scratch scratch;
    const AttemptDirectory directory(scratch.path() / "attempt");
    ASSERT_TRUE(directory.make("").has_value());
    const fs::path tree = scratch.path() / "own";
    lay_out_tree(tree);
    const auto before = content_of(tree);
    fs::rename(directory.root() / replaced, scratch.path() / "aside");
    fs::create_directory_symlink(tree, directory.root() / replaced);
    directory.remove_working_files();
    EXPECT_EQ(content_of(tree), before) << replaced;
    EXPECT_FALSE(fs::exists(fs::symlink_status(directory.root() / replaced)))
        << replaced << ": the link itself stays";
  }
}

TEST(AttemptDirectories, CleanUpKeepsADirectoryOfTheProgramInPlaceOfTheWorkers) {
  const Scratch scratch;
  const AttemptDirectory directory(scratch.path() / "attempt");
  ASSERT_TRUE(directory.make("").has_value());
  fs::rename(directory.checkpoint(), scratch.path() / "aside");
  lay_out_tree(directory.checkpoint());
  const auto before = content_of(directory.checkpoint());
  directory.remove_working_files();
  EXPECT_EQ(content_of(directory.checkpoint()), before);
}

TEST(AttemptDirectories, LinksKeepTheirMeaning) {
  const Scratch scratch;
  const fs::path context = scratch.path() / "home/context";
  write_text(context / "sub/inside", "in");
  write_text(scratch.path() / "home/data", "out");
  fs::create_symlink("sub/inside", context / "near");
  fs::create_symlink("../data", context / "far");
  const AttemptDirectory directory(scratch.path() / "attempts", key_of(3));
  ASSERT_TRUE(directory.make(context.string()).has_value());
  EXPECT_EQ(fs::read_symlink(directory.work() / "near"), "sub/inside");
  EXPECT_EQ(text_of(directory.work() / "far"), "out");
}

TEST(AttemptDirectories, StateOfARunningWorkerIsNotCopied) {
  const Scratch scratch;
  const fs::path context = scratch.path() / "context";
  write_text(context / "train.py", "");
  const auto state = WorkerState::open(context / "my-state");
  ASSERT_TRUE(state.has_value());
  const AttemptDirectory directory = state->attempt(key_of(0));
  ASSERT_TRUE(directory.make(context.string()).has_value());
  EXPECT_TRUE(fs::exists(directory.work() / "train.py"));
  EXPECT_FALSE(fs::exists(directory.work() / "my-state"));
}

TEST(AttemptDirectories, ProcessRecordsAreReadBack) {
  const Scratch scratch;
  const AttemptDirectory directory(scratch.path(), key_of(3));
  ASSERT_TRUE(directory.make("").has_value());
  EXPECT_FALSE(directory.read_process().has_value());
  ASSERT_TRUE(
      directory.write_process({.pid = 12, .start_time = 34, .boot_id = "b", .socket = "/s"}).has_value());
  const auto record = directory.read_process();
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->pid, 12);
  EXPECT_EQ(record->start_time, 34U);
  EXPECT_EQ(record->socket, "/s");
  write_text(directory.process(), "{}");
  EXPECT_FALSE(directory.read_process().has_value());
}

// --- the worker's state ---

TEST(States, KeepTheirIdentityAndCountTheirStarts) {
  const Scratch scratch;
  std::string uid;
  {
    const auto state = WorkerState::open(scratch.path() / "s");
    ASSERT_TRUE(state.has_value()) << state.error().message;
    uid = state->uid();
    EXPECT_EQ(uid.size(), 32U);
    EXPECT_EQ(state->incarnation(), 1U);
  }
  const auto again = WorkerState::open(scratch.path() / "s");
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->uid(), uid);
  EXPECT_EQ(again->incarnation(), 2U);
}

TEST(States, HaveOneHolder) {
  const Scratch scratch;
  const auto state = WorkerState::open(scratch.path());
  const auto other = WorkerState::open(scratch.path());
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, Errc::wrong_state);
  EXPECT_NE(other.error().message.find(scratch.path().string()), std::string::npos);
  EXPECT_NE(other.error().message.find(std::to_string(::getpid())), std::string::npos);
}

TEST(States, DamagedIdentityIsNotReplacedSilently) {
  const Scratch scratch;
  write_text(scratch.path() / "worker.json", "garbage");
  const auto state = WorkerState::open(scratch.path());
  ASSERT_FALSE(state.has_value());
  EXPECT_EQ(state.error().code, Errc::corrupt);
  EXPECT_EQ(text_of(scratch.path() / "worker.json"), "garbage");
}

TEST(States, RememberTheKnownDaemon) {
  const Scratch scratch;
  const KnownDaemon daemon{0xFEDC'BA98'7654'3210, (std::uint64_t{1} << 20U) + 3};
  {
    const auto state = WorkerState::open(scratch.path());
    ASSERT_TRUE(state.has_value()) << state.error().message;
    EXPECT_EQ(state->known(), KnownDaemon{});
    ASSERT_TRUE(state->remember(daemon));
  }
  for (std::uint64_t start = 2; start < 4; ++start) {
    const auto state = WorkerState::open(scratch.path());
    ASSERT_TRUE(state.has_value()) << state.error().message;
    EXPECT_EQ(state->known(), daemon);
    EXPECT_EQ(state->incarnation(), start);
  }
}

TEST(States, StateOfOlderWorkersIsRead) {
  const Scratch scratch;
  write_text(scratch.path() / "worker.json", R"({"uid":"u","incarnation":4})");
  const auto state = WorkerState::open(scratch.path());
  ASSERT_TRUE(state.has_value()) << state.error().message;
  EXPECT_EQ(state->uid(), "u");
  EXPECT_EQ(state->incarnation(), 5U);
  EXPECT_EQ(state->known(), KnownDaemon{});
}

TEST(Spools, AreForTheWorkersOwnUserOnly) {
  const Scratch scratch;
  const auto state = WorkerState::open(scratch.path());
  const AttemptDirectory directory = state->attempt(key_of(0));
  ASSERT_TRUE(directory.make("").has_value());
  write_text(directory.spool().string() + ".new", "of an older worker, which let all read it");
  ASSERT_TRUE(directory.write_spool("a lease with a storage key", true).has_value());
  ASSERT_TRUE(directory.write_spool(" and a report", false).has_value());
  EXPECT_EQ(fs::status(directory.spool()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(text_of(directory.spool()), "a lease with a storage key and a report");
}

TEST(States, UnreadableSpoolPreventsTheTakeover) {
  const Scratch scratch;
  const auto state = WorkerState::open(scratch.path());
  const AttemptDirectory directory = state->attempt(key_of(0));
  ASSERT_TRUE(directory.make("").has_value());
  fs::create_directory(directory.spool());  // Reading it fails even for root.
  const auto found = state->take_over();
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, Errc::unavailable);
  EXPECT_NE(found.error().message.find(directory.spool().string()), std::string::npos)
      << found.error().message;
  EXPECT_TRUE(fs::exists(directory.spool()));
  EXPECT_TRUE(fs::exists(directory.work())) << "nothing of it is taken away";
}

TEST(States, UnknownProcessesPreventTheTakeover) {
  const Scratch scratch;
  const auto state = WorkerState::open(scratch.path());
  const AttemptDirectory directory = state->attempt(key_of(0));
  ASSERT_TRUE(directory.make("").has_value());
  write_text(directory.spool(), "damaged");
  fs::create_directory(directory.process());
  EXPECT_EQ(state->take_over().error().code, Errc::unavailable);
  EXPECT_TRUE(fs::exists(directory.spool()));
}

TEST(States, UnreadableListOfAttemptsPreventsTheTakeover) {
  const Scratch scratch;
  const auto state = WorkerState::open(scratch.path());
  fs::remove(state->attempts());
  write_text(state->attempts(), "");
  const auto found = state->take_over();
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, Errc::unavailable);
}

TEST(States, AttemptsBeforeAndAfterARestoreAreDistinct) {
  const Scratch scratch;
  const auto state = WorkerState::open(scratch.path());
  const AttemptDirectory before = state->attempt(key_of(0));
  const AttemptDirectory after = state->attempt(after_a_restore(key_of(0)));
  EXPECT_NE(before.root(), after.root());
  for (const AttemptDirectory& directory : {before, after}) {
    ASSERT_TRUE(directory.make("").has_value());
    fs::create_directory(directory.spool());  // It is an attempt, but can't be read.
    const auto found = state->take_over();
    ASSERT_FALSE(found.has_value()) << "it was taken for something else";
    EXPECT_NE(found.error().message.find(directory.spool().string()), std::string::npos)
        << found.error().message;
    fs::remove(directory.spool());
  }
}

TEST(States, KeepTheDevicesOfSlots) {
  const Scratch scratch;
  const auto state = WorkerState::open(scratch.path());
  EXPECT_EQ(*state->devices(), RememberedSlots());
  const RememberedSlots devices{"amd", {{"GPU-a", "Fake", 0, 5}, {"GPU-b", "Fake", 1, 5}}};
  ASSERT_TRUE(state->keep_devices(devices));
  EXPECT_EQ(*state->devices(), devices);
  write_text(scratch.path() / "slots.json", "garbage");
  EXPECT_EQ(state->devices().error().code, Errc::corrupt);
}

TEST(States, IgnoreDirectoriesThatAreNoAttempts) {
  const Scratch scratch;
  const auto state = WorkerState::open(scratch.path());
  fs::create_directories(state->attempts() / "lost+found" / "spool");
  write_text(state->attempts() / "probe", "");
  const auto found = state->take_over();
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_TRUE(found->empty());
  EXPECT_TRUE(fs::exists(state->attempts() / "lost+found"));
}

TEST(States, KillNoProcessAfterAReboot) {
  const Scratch scratch;
  const auto state = WorkerState::open(scratch.path());
  const AttemptDirectory directory = state->attempt(key_of(0));
  ASSERT_TRUE(directory.make("").has_value());
  // Our own pid, but of another boot: another process had it then.
  ASSERT_TRUE(
      directory.write_process({.pid = ::getpid(), .start_time = 1, .boot_id = "before", .socket = "/s"})
          .has_value());
  EXPECT_TRUE(state->take_over().has_value());
  EXPECT_FALSE(fs::exists(directory.work()));
  EXPECT_FALSE(fs::exists(directory.process()));
}

TEST(States, EndProcessesOfSparesOfAnEarlierRun) {
  const Scratch scratch;
  const auto state = WorkerState::open(scratch.path());
  const AttemptDirectory place(state->spares() / "1-1");
  std::string mark = "HPSEARCH_ATTEMPT_MARK=" + place.root().string();
  fs::create_directories(place.root());
  ASSERT_TRUE(place.write_process({.pid = ::getpid(),
                                   .start_time = 1,  // It has ended, and we have its pid.
                                   .boot_id = boot_id(),
                                   .socket = "",
                                   .mark = mark}));
  const std::array<char*, 2> environment{mark.data(), nullptr};
  const std::array<char*, 2> unmarked{nullptr, nullptr};
  const auto start = [](const std::array<char*, 2>& variables) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::execle("/bin/sleep", "sleep", "1000", nullptr, variables.data());
      ::_exit(127);
    }
    return pid;
  };
  const pid_t left = start(environment);
  const pid_t stranger = start(unmarked);
  while (!started_with(left, mark)) {
    ::usleep(1000);
  }
  bool reaped = false;
  std::thread reaper([&] { reaped = ::waitpid(left, nullptr, 0) == left; });
  EXPECT_TRUE(state->take_over().has_value());
  reaper.join();
  EXPECT_TRUE(reaped);
  EXPECT_EQ(::waitpid(stranger, nullptr, WNOHANG), 0) << "it was killed";
  EXPECT_FALSE(fs::exists(state->spares()));
  ::kill(stranger, SIGKILL);
  ::waitpid(stranger, nullptr, 0);
}

/// Another process has the pid of a program's process, in the same boot.
TEST(States, ProcessThatReusesAPidIsNotKilled) {
  const pid_t stranger = ::fork();
  if (stranger == 0) {
    ::setsid();
    ::pause();
    ::_exit(0);
  }
  while (::getsid(stranger) != stranger) {
    ::usleep(1000);
  }
  const Scratch scratch;
  const auto state = WorkerState::open(scratch.path());
  const AttemptDirectory directory = state->attempt(key_of(0));
  ASSERT_TRUE(directory.make("").has_value());
  const std::uint64_t began = process_info(stranger)->start_time;
  ASSERT_TRUE(directory.write_process(
      {.pid = stranger, .start_time = began - 1, .boot_id = boot_id(), .socket = "/s"}));
  EXPECT_TRUE(state->take_over().has_value());
  EXPECT_EQ(::waitpid(stranger, nullptr, WNOHANG), 0) << "it was killed";
  EXPECT_FALSE(fs::exists(directory.process()));
  ::kill(stranger, SIGKILL);
  ::waitpid(stranger, nullptr, 0);
}

// --- patterns ---

/// "acc 0.92 at 1", of the first message.
std::string first_of(const std::vector<ProgramMessage>& messages) {
  if (const auto* found = messages.empty() ? nullptr : std::get_if<MetricsMessage>(&messages.front())) {
    return found->metrics.at(0).first + " " + engine::python_float(found->metrics.at(0).second) + " at " +
           std::to_string(count(found->step));
  }
  const auto* unreadable = messages.empty() ? nullptr : std::get_if<UnreadableMessage>(&messages.front());
  return unreadable == nullptr ? "" : unreadable->metric + " in " + unreadable->text + ": " + unreadable->why;
}

TEST(Scanner, ReadsStepAndValueFromNamedGroups) {
  auto scanner =
      MetricScanner::compile({{"acc", R"(epoch (?P<step>\d+).*acc[=: ]+(?P<value>[-+0-9.eE]+))"}}, Units{});
  ASSERT_TRUE(scanner.has_value()) << scanner.error().message;
  EXPECT_EQ(first_of(scanner->scan("epoch 7 loss 1 acc: 0.5")), "acc 0.5 at 7");
  EXPECT_TRUE(scanner->scan("nothing of the kind").empty());
}

TEST(Scanner, ReadsNumbersAsPeopleDo) {
  auto scanner = MetricScanner::compile({{"acc", "acc: (.*)$"}, {"size", "size {number}"}}, Units{});
  ASSERT_TRUE(scanner.has_value()) << scanner.error().message;
  EXPECT_EQ(first_of(scanner->scan("\x1b[36mepoch 1\x1b[0m acc: \x1b[1;32m0.92\x1b[0m")), "acc 0.92 at 1");
  EXPECT_NE(first_of(scanner->scan("size 1,234,567")).find("thousands"), std::string::npos);
  EXPECT_EQ(first_of(scanner->scan("size 1234567")), "size 1234567.0 at 1");
}

TEST(Scanner, CountsFromTheStartOfTheAttempt) {
  auto scanner = MetricScanner::compile({{"acc", "acc (.*)"}}, Units{3});
  ASSERT_TRUE(scanner.has_value());
  EXPECT_EQ(first_of(scanner->scan("acc +1e-3")), "acc 0.001 at 4");
  EXPECT_EQ(first_of(scanner->scan("acc tensor(0.0754, device='cuda:0')")), "acc 0.0754 at 5");
}

TEST(Scanner, DoubtsANumberOfAnotherMetric) {
  auto scanner = MetricScanner::compile(
      {{"loss", "loss: {number}"}, {"acc", R"(\bacc: {number})"}, {"validation_f1", "f1: {number}"}},
      Units{});
  ASSERT_TRUE(scanner.has_value()) << scanner.error().message;
  EXPECT_EQ(scanner->scan("loss: 0.5 acc: 0.5 val_f1: 0.5").size(), 3U);
  const std::vector<ProgramMessage> doubted = scanner->scan("val_loss: 0.25 loss: 0.5 val_acc: 1");
  ASSERT_EQ(doubted.size(), 2U);
  const auto& found = std::get<DoubtfulMessage>(doubted[0]);
  EXPECT_EQ(found.metric, "loss");
  EXPECT_EQ(found.line, "val_loss: 0.25 loss: 0.5 val_acc: 1");
  EXPECT_EQ(found.other, "val_loss");
  EXPECT_EQ(scanner->scan("val_loss: 0.25").size(), 1U) << "once";
}

TEST(Scanner, DoubtsSeveralLinesPerEpoch) {
  auto scanner = MetricScanner::compile({{"loss", "loss {number}"}}, Units{});
  ASSERT_TRUE(scanner.has_value()) << scanner.error().message;
  EXPECT_EQ(scanner->scan("Epoch 1/3, batch 1: loss 0.5").size(), 1U);
  const std::vector<ProgramMessage> doubted = scanner->scan("Epoch 1/3, batch 2: loss 0.5");
  ASSERT_EQ(doubted.size(), 2U);
  EXPECT_EQ(std::get<DoubtfulMessage>(doubted[0]).other, "");
  auto of_epochs =
      MetricScanner::compile({{"loss", "loss {number}"}, {"f1", "poch {step}.*f1 {number}"}}, Units{});
  for (const char* line : {"Epoch 1: loss 0.5 f1 1", "Epoch 2: loss 0.5 f1 1", "Epoch 2: f1 1"}) {
    EXPECT_EQ(of_epochs->scan(line).size(),
              std::string_view(line).find("loss") == std::string::npos ? 1U : 2U);
  }
}

TEST(Scanner, FlagsTheFirstMatchWithoutANumber) {
  auto scanner = MetricScanner::compile({{"acc", "acc (.*)"}}, Units{});
  ASSERT_TRUE(scanner.has_value());
  EXPECT_EQ(first_of(scanner->scan("acc unknown")), "acc in unknown: there is no number in it");
  EXPECT_TRUE(scanner->scan("acc unknown").empty());
  EXPECT_EQ(first_of(scanner->scan("acc 0.5")), "acc 0.5 at 1");
}

// Found by the fuzz target metric_line: the agent took such a line for a broken message of the program.
TEST(Scanner, FlagsALineWhoseStepIsTooLarge) {
  auto scanner = MetricScanner::compile({{"acc", R"((?P<step>\d+) (?P<value>\S+))"}}, Units{});
  ASSERT_TRUE(scanner.has_value()) << scanner.error().message;
  EXPECT_EQ(first_of(scanner->scan("9223372036854775808 0.5")).substr(0, 7), "acc in ");
  EXPECT_EQ(first_of(scanner->scan("9223372036854775807 0.5")), "acc 0.5 at 9223372036854775807");
}

TEST(Scanner, RefusesPatternsThatCannotFindANumber) {
  EXPECT_FALSE(MetricScanner::compile({{"acc", "("}}, Units{}).has_value());
  EXPECT_FALSE(MetricScanner::compile({{"acc", "acc"}}, Units{}).has_value());
  EXPECT_FALSE(MetricScanner::compile({{"acc", R"(step (?P<step>\d+))"}}, Units{}).has_value());
}

}  // namespace
}  // namespace hpsearch::workers::test
