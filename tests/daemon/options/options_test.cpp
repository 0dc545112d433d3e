#include "daemon/options/options.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/io/configuration/command_line.hpp"
#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

std::string printed;   // By the last read().
std::string problems;  // On its stderr.

/// Without a configuration of this machine.
std::variant<Options, Exit> read(std::vector<const char*> words) {
  ::setenv("CONFIGURATION_DIRECTORY", "/nowhere", 1);
  words.insert(words.begin(), "hpsearchd");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  auto options = read_options(static_cast<int>(words.size()), words.data());
  printed = testing::internal::GetCapturedStdout();
  problems = testing::internal::GetCapturedStderr();
  return options;
}

TEST(Options, ByDefaultNoPortIsOpened) {
  const auto read_back = read({"--state-dir", "/x"});
  const auto* options = std::get_if<Options>(&read_back);
  ASSERT_NE(options, nullptr);
  EXPECT_EQ(options->state_dir, "/x");
  EXPECT_EQ(options->http, "");
  EXPECT_EQ(options->workers, "");
  EXPECT_FALSE(options->http_open);
  EXPECT_FALSE(options->workers_open);
  EXPECT_EQ(options->lost_after_seconds, 300);
  EXPECT_EQ(options->kept_quota, std::uint64_t{40} << 30U);
  EXPECT_EQ(options->log_level, "info");
}

TEST(Options, EachCanBeGiven) {
  const auto read_back = read({"--state-dir=/x", "--http=127.0.0.1:0", "--workers=tcp://127.0.0.1:0",
                               "--lost-after=2.5", "--kept-quota=1536MiB", "--log-level=debug"});
  const auto* options = std::get_if<Options>(&read_back);
  ASSERT_NE(options, nullptr);
  EXPECT_EQ(options->http, "127.0.0.1:0");
  EXPECT_EQ(options->workers, "tcp://127.0.0.1:0");
  EXPECT_EQ(options->lost_after_seconds, 2.5);
  EXPECT_EQ(options->kept_quota, std::uint64_t{3} << 29U);
  EXPECT_EQ(options->log_level, "debug");
}

/// Sets an environment variable for one test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TEST(Options, DefaultStateDirectoryIsInTheStateHome) {
  const Variable home("HPSEARCH_STATE_HOME", "/scratch/me");
  const auto read_back = read({});
  const auto* options = std::get_if<Options>(&read_back);
  ASSERT_NE(options, nullptr);
  EXPECT_EQ(options->state_dir, "/scratch/me/hpsearchd");
  const auto given = read({"--state-dir=/x"});
  ASSERT_NE(std::get_if<Options>(&given), nullptr);
  EXPECT_EQ(std::get_if<Options>(&given)->state_dir, "/x");
}

TEST(Options, RelativeStateHomeExitsWithTwo) {
  const Variable home("HPSEARCH_STATE_HOME", "runs");
  const auto read_back = read({});
  ASSERT_TRUE(std::holds_alternative<Exit>(read_back));
  EXPECT_EQ(std::get<Exit>(read_back), Exit::usage);
}

TEST(Options, WrongUseExitsWithTwo) {
  for (const std::vector<const char*>& words : {std::vector<const char*>{"--state-dir"},
                                                {"--state-dir=/x", "--bogus"},
                                                {"--state-dir=/x", "word"},
                                                {"--state-dir=/x", "--lost-after=0"},
                                                {"--state-dir=/x", "--lost-after=soon"},
                                                {"--state-dir=/x", "--kept-quota=much"},
                                                {"--state-dir=/x", "--log-level=loud"}}) {
    const auto read_back = read(words);
    ASSERT_TRUE(std::holds_alternative<Exit>(read_back));
    EXPECT_EQ(std::get<Exit>(read_back), Exit::usage);
  }
}

TEST(Options, HelpAndVersionExitWithZero) {
  for (const char* word : {"--help", "--version"}) {
    const auto read_back = read({word});
    ASSERT_TRUE(std::holds_alternative<Exit>(read_back)) << word;
    EXPECT_EQ(std::get<Exit>(read_back), Exit::ok) << word;
  }
}

/// A right value of each option, by key.
const std::map<std::string, std::string> samples{
    {"state.directory", "/x"},
    {"state.store", "postgresql://me@db/hpsearch"},
    {"state.store_key_file", "/proc/self/status"},
    {"state.standby", "true"},
    {"state.take_over_after", "20s"},
    {"state.blobs", "/x/blobs"},
    {"state.allow_network_filesystem", "true"},
    {"state.take_over", "true"},
    {"state.forget_secrets", "true"},
    {"http.socket", "/x/api.sock"},
    {"http.listen", "127.0.0.1:0"},
    {"http.open", "true"},
    {"http.behind_proxy", "10.0.0.0/8"},
    {"http.base_path", "/hpsearch"},
    {"tls.cert_file", "/x/a.pem"},
    {"tls.key_file", "/x/a.key"},
    {"tls.self_signed", "true"},
    {"tls.names", "gpu.example.org"},
    {"access.groups", "root=viewer"},
    {"access.sign_in_file", "/proc/self/status"},
    {"access.proxy_header", "X-Forwarded-User"},
    {"access.proxy_groups_header", "X-Groups"},
    {"access.proxies", "10.0.0.5"},
    {"access.audit_reads", "true"},
    {"workers.listen", "tcp://127.0.0.1:0"},
    {"workers.advertise", "gpu.example.org"},
    {"workers.open", "true"},
    {"workers.lost_after", "90s"},
    {"workers.forget_after", "30d"},
    {"backup.to", "/x/backups"},
    {"backup.endpoint_url", "http://minio.example.org:9000"},
    {"backup.every", "6h"},
    {"backup.keep", "3"},
    {"backup.key_file", "/x/backup.key"},
    {"backup.no_secrets", "true"},
    {"retention.ended_experiments", "365d"},
    {"retention.metrics_of_stopped_trials", "thin:200"},
    {"retention.logs", "20GiB"},
    {"checkpoints.root", "/x/checkpoints"},
    {"limits.context", "5"},
    {"limits.kept", "5GiB"},
    {"limits.no_kept_files", "true"},
    {"metrics.listen", "9177"},
    {"metrics.per_experiment", "7"},
    {"notifications.file", "/proc/self/status"},
    {"ui.web_root", "/tmp"},
    {"log.level", "debug"},
    {"log.format", "json"},
};

/// A file with one value.
std::string file_text(const configuration::Option& option, const std::string& value) {
  const auto [section, name] = configuration::parts_of(option.key);
  return section + ":\n  " + name + ": " +
         (option.take.kind == configuration::Take::Kind::list ? "[" + value + "]" : value) + "\n";
}

TEST(Options, EachFlagHasOneKeyOfTheSameMeaning) {
  const Scratch scratch;
  Options options;
  const configuration::Program program = program_of(options);
  std::set<std::string> flags;
  std::set<std::string> keys;
  for (const configuration::Option& option : program.options) {
    SCOPED_TRACE(option.key);
    EXPECT_TRUE(option.flag.starts_with("--") && flags.insert(option.flag).second);
    EXPECT_TRUE(keys.insert(option.key).second);
    EXPECT_NE(configuration::parts_of(option.key).first, option.key);
    EXPECT_EQ(option.value.empty(), option.take.kind == configuration::Take::Kind::on_off);
    EXPECT_FALSE(option.meaning.empty());
    for (const auto& others : {option.needs, option.excludes}) {
      for (const std::string& other : others) {
        EXPECT_NE(program.find(other), nullptr) << other;
      }
    }
    const auto sample = samples.find(option.key);
    ASSERT_NE(sample, samples.end()) << "add a sample of this option";
    EXPECT_EQ(option.take.store(sample->second), "");
    const auto by_flag =
        configuration::read(program, {.flags = {{option.key, {sample->second}}}, .alone = true});
    const auto by_file =
        configuration::read(program, {.file = scratch.write("c.yaml", file_text(option, sample->second))});
    ::setenv(program.variable_of(option).c_str(), sample->second.c_str(), 1);
    const auto by_variable = configuration::read(program, {.file = scratch.write("e.yaml", "")});
    ::unsetenv(program.variable_of(option).c_str());
    EXPECT_EQ(by_file.problems, std::vector<std::string>());
    EXPECT_EQ(configuration::differences(program, by_flag.values, by_file.values),
              std::vector<std::string>());
    EXPECT_EQ(configuration::differences(program, by_flag.values, by_variable.values),
              std::vector<std::string>());
    EXPECT_EQ(by_flag.values.size(), 1U);
  }
  EXPECT_EQ(samples.size(), program.options.size());
}

TEST(Options, HelpHasEachFlagWithItsKey) {
  static_cast<void>(read({"--help"}));
  Options options;
  for (const configuration::Option& option : program_of(options).options) {
    EXPECT_NE(printed.find("  " + option.flag), std::string::npos) << option.flag;
    EXPECT_NE(printed.find("[" + option.key + "]"), std::string::npos) << option.key;
  }
}

TEST(Options, NoValueIsASecret) {
  Options options;
  for (const configuration::Option& option : program_of(options).options) {
    const std::string name = configuration::parts_of(option.key).second;
    EXPECT_EQ(name.find("token"), std::string::npos) << option.key;
    EXPECT_EQ(name.find("password"), std::string::npos) << option.key;
    EXPECT_TRUE(name.find("key") == std::string::npos || name.ends_with("_file")) << option.key;
  }
}

TEST(Options, AreReadFromAFile) {
  const Scratch scratch;
  const std::string file = "--config=" + scratch.write("c.yaml",
                                                       "state: {directory: /y}\n"
                                                       "workers: {lost_after: 2m}\n"
                                                       "limits: {kept: 1GiB}\n"
                                                       "metrics: {listen: 9177}\n");
  const auto read_back = read({file.c_str(), "--lost-after=7"});
  const auto* options = std::get_if<Options>(&read_back);
  ASSERT_NE(options, nullptr) << problems;
  EXPECT_EQ(options->state_dir, "/y");
  EXPECT_EQ(options->lost_after_seconds, 7);
  EXPECT_EQ(options->kept_quota, std::uint64_t{1} << 30U);
  EXPECT_EQ(options->metrics_listen, "127.0.0.1:9177");
  EXPECT_EQ(options->given.at("workers.lost_after").place.name, "--lost-after");
}

TEST(Options, PrintedConfigurationHasTheDefaultDirectory) {
  const Variable home("HPSEARCH_STATE_HOME", "/scratch/me");
  const auto read_back = read({"--print-config"});
  ASSERT_TRUE(std::holds_alternative<Exit>(read_back));
  EXPECT_EQ(std::get<Exit>(read_back), Exit::ok);
  EXPECT_NE(printed.find("  # directory: default: \"/scratch/me/hpsearchd\"\n"), std::string::npos)
      << printed;
}

TEST(Options, ScheduledBackupsOfADatabaseAreRefused) {
  EXPECT_TRUE(std::holds_alternative<Exit>(read(
      {"--state-dir=/x", "--backup-to=/b", "--backup-no-secrets", "--store=postgresql://me@db/hpsearch"})));
  EXPECT_NE(problems.find("is for a store in a file"), std::string::npos) << problems;
}

TEST(Options, BackupsNeedAKeyFileOrTheWordThatTheyHaveNoSecrets) {
  EXPECT_TRUE(std::holds_alternative<Exit>(read({"--state-dir=/x", "--backup-to=/b"})));
  EXPECT_NE(problems.find("needs backup.key_file"), std::string::npos) << problems;
  EXPECT_TRUE(std::holds_alternative<Exit>(read({"--state-dir=/x", "--backup-to=b", "--backup-no-secrets"})));
  EXPECT_NE(problems.find("an absolute path"), std::string::npos) << problems;
  EXPECT_TRUE(std::holds_alternative<Exit>(read({"--state-dir=/x", "--backup-keep=3"})));
  EXPECT_TRUE(std::holds_alternative<Exit>(
      read({"--state-dir=/x", "--backup-to=/b", "--backup-key-file=/k", "--backup-no-secrets"})));
  const auto read_back =
      read({"--state-dir=/x", "--backup-to=/b", "--backup-key-file=/k", "--backup-every=6h"});
  const auto* options = std::get_if<Options>(&read_back);
  ASSERT_NE(options, nullptr) << problems;
  EXPECT_EQ(options->backup_every_seconds, 6 * 3'600);
  EXPECT_EQ(options->backup_keep, 7U);
}

TEST(Options, CurvesOfStoppedTrialsAreFullThinOrNone) {
  for (const auto& [text, reports] :
       {std::pair("--stopped-curves=full", std::optional<std::uint64_t>()),
        std::pair("--stopped-curves=none", std::optional<std::uint64_t>(0)),
        std::pair("--stopped-curves=thin:200", std::optional<std::uint64_t>(200))}) {
    const auto read_back = read({"--state-dir=/x", text});
    const auto* options = std::get_if<Options>(&read_back);
    ASSERT_NE(options, nullptr) << problems;
    EXPECT_EQ(options->stopped_curve_reports, reports) << text;
  }
  for (const char* text : {"--stopped-curves=thin", "--stopped-curves=thin:0", "--stopped-curves=thin:few",
                           "--stopped-curves=200"}) {
    EXPECT_TRUE(std::holds_alternative<Exit>(read({"--state-dir=/x", text}))) << text;
    EXPECT_NE(problems.find("full, thin:N with a number of reports, or none"), std::string::npos) << problems;
  }
}

TEST(Options, BackupsGoToADirectoryOrAnObjectStore) {
  const auto read_back = read({"--state-dir=/x", "--backup-to=s3://backups/hpsearch/", "--backup-no-secrets",
                               "--backup-endpoint-url=http://minio:9000"});
  const auto* options = std::get_if<Options>(&read_back);
  ASSERT_NE(options, nullptr) << problems;
  EXPECT_EQ(options->backup_to, "s3://backups/hpsearch/");
  EXPECT_EQ(options->backup_endpoint_url, "http://minio:9000");
  for (const char* place :
       {"--backup-to=ftp://host/backups", "--backup-to=s3://", "--backup-to=s3://b/../c"}) {
    EXPECT_TRUE(std::holds_alternative<Exit>(read({"--state-dir=/x", place, "--backup-no-secrets"})))
        << place;
    EXPECT_NE(problems.find("s3://BUCKET/PREFIX"), std::string::npos) << problems;
  }
  EXPECT_TRUE(std::holds_alternative<Exit>(
      read({"--state-dir=/x", "--backup-to=/b", "--backup-no-secrets", "--backup-endpoint-url=http://m"})));
  EXPECT_NE(problems.find("/b is a directory"), std::string::npos) << problems;
  EXPECT_TRUE(std::holds_alternative<Exit>(read(
      {"--state-dir=/x", "--backup-to=gs://b", "--backup-no-secrets", "--backup-endpoint-url=http://m"})));
  EXPECT_NE(problems.find("not for gs://b"), std::string::npos) << problems;
  EXPECT_TRUE(std::holds_alternative<Exit>(
      read({"--state-dir=/x", "--backup-to=s3://b", "--backup-no-secrets", "--backup-endpoint-url=minio"})));
  EXPECT_NE(problems.find("\"minio\" is no URL"), std::string::npos) << problems;
}

TEST(Options, ConflictsAreNamedWhereTheyAre) {
  const Scratch scratch;
  const std::string path = scratch.write("c.yaml", "http:\n  listen: 0.0.0.0:8077\n");
  const std::string file = "--config=" + path;
  EXPECT_TRUE(std::holds_alternative<Exit>(read({file.c_str(), "--check-config"})));
  EXPECT_EQ(problems, "hpsearchd: " + path +
                          ":2: http.listen: is \"0.0.0.0:8077\", which other machines reach: it needs TLS "
                          "(--tls-self-signed, or --tls-cert and --tls-key), or a proxy that speaks TLS "
                          "(--behind-proxy CIDR)\n");
  const auto with_tls = read({file.c_str(), "--tls-self-signed"});
  EXPECT_TRUE(std::holds_alternative<Options>(with_tls)) << problems;
  EXPECT_TRUE(std::holds_alternative<Exit>(read({"--state-dir=/x", "--http-open"})));
  EXPECT_EQ(problems, "hpsearchd: --http-open needs --http\n");
  EXPECT_TRUE(std::holds_alternative<Exit>(read({"--state-dir=/x", "--http=10.0.0.1:1", "--http-open"})));
  EXPECT_EQ(
      problems,
      "hpsearchd: --http-open needs a loopback address for HTTP (127.0.0.1:0), not \"10.0.0.1:1\": everyone "
      "who reaches it can do everything\n");
}

TEST(Options, PasswordInTheAddressOfTheStoreIsRefusedAndNotPrinted) {
  for (const char* store :
       {"--store=postgresql://me:hunter2@db/hpsearch", "--store=postgresql://db/hpsearch?password=hunter2",
        "--store=mysql://me:hunter2@db"}) {
    const auto read_back = read({"--state-dir=/x", store, "--print-config"});
    ASSERT_TRUE(std::holds_alternative<Exit>(read_back)) << store;
    EXPECT_EQ(std::get<Exit>(read_back), Exit::usage) << store;
    EXPECT_NE(problems.find("--store"), std::string::npos) << problems;
    EXPECT_EQ((printed + problems).find("hunter2"), std::string::npos) << printed << problems;
  }
  const auto right = read({"--state-dir=/x", "--store=postgresql://me@db/hpsearch"});
  ASSERT_TRUE(std::holds_alternative<Options>(right)) << problems;
  EXPECT_EQ(std::get<Options>(right).store, "postgresql://me@db/hpsearch");
}

TEST(Options, CheckReadsTheFilesThatAreNamed) {
  const Scratch scratch;
  const std::string receivers = scratch.write("notify.yaml", "receivers:\n  a: {webhook: nonsense}\n");
  std::filesystem::permissions(receivers, std::filesystem::perms::owner_read);
  const std::string notify = "--notify=" + receivers;
  const std::string certificate = "--tls-cert=" + scratch.path("no.crt");
  const std::string key = "--tls-key=" + scratch.path("no.key");
  const auto checked = read({"--no-config", "--check-config", "--http=127.0.0.1:0", notify.c_str(),
                             certificate.c_str(), key.c_str()});
  ASSERT_TRUE(std::holds_alternative<Exit>(checked));
  EXPECT_EQ(std::get<Exit>(checked), Exit::usage);
  EXPECT_NE(problems.find(receivers + ":2: receivers.a.webhook: "), std::string::npos) << problems;
  EXPECT_NE(problems.find("no.crt"), std::string::npos) << problems;
  EXPECT_EQ(printed, "");
}

TEST(ReloadedOptions, TakeTheValuesThatNeedNoRestart) {
  const Scratch scratch;
  const std::string path = scratch.write("c.yaml", "workers: {lost_after: 2m}\nmetrics: {listen: 9177}\n");
  const std::string file = "--config=" + path;
  const auto read_back = read({"--state-dir=/x", "--kept-quota=1GiB", file.c_str()});
  const auto* running = std::get_if<Options>(&read_back);
  ASSERT_NE(running, nullptr) << problems;
  scratch.write(
      "c.yaml",
      "workers: {lost_after: 3m}\nmetrics: {listen: 9178}\nlog: {level: debug}\nlimits: {kept: 2GiB}\n");
  const ReloadedOptions again = reload(*running);
  EXPECT_EQ(again.options.lost_after_seconds, 180);
  EXPECT_EQ(again.options.log_level, "debug");
  EXPECT_EQ(again.options.metrics_listen, "127.0.0.1:9177");
  EXPECT_EQ(again.options.kept_quota, std::uint64_t{1} << 30U) << "the flag goes first";
  EXPECT_EQ(again.options.state_dir, "/x");
  EXPECT_EQ(again.reread.need_restart, std::vector<std::string>{"metrics.listen"});
  scratch.write("c.yaml", "workers: {lost_after: 0}\n");
  const ReloadedOptions bad = reload(again.options);
  EXPECT_EQ(bad.options.lost_after_seconds, 180);
  EXPECT_NE(bad.sentences.problem.find("workers.lost_after: is 0"), std::string::npos)
      << bad.sentences.problem;
}

TEST(ReloadedOptions, KeepTheDefaultStateDirectory) {
  const Variable home("HPSEARCH_STATE_HOME", "/scratch/me");
  const auto read_back = read({});
  const auto* running = std::get_if<Options>(&read_back);
  ASSERT_NE(running, nullptr);
  const ReloadedOptions again = reload(*running);
  EXPECT_EQ(again.options.state_dir, "/scratch/me/hpsearchd");
  EXPECT_TRUE(again.reread.need_restart.empty());
}

}  // namespace
}  // namespace hpsearch::daemon
