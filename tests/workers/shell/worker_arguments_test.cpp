#include "shell/worker_arguments.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "scratch.hpp"

namespace hpsearch::workers {
namespace {

/// A right value of each option, by key.
const std::map<std::string, std::string> samples{
    {"daemon.address", "tcp://127.0.0.1:1"},
    {"daemon.server_key", std::string(64, 'a')},
    {"daemon.server_key_file", "/x/key"},
    {"state.directory", "/x"},
    {"worker.name", "w"},
    {"worker.address", "10.0.0.1"},
    {"worker.pool", "gpu"},
    {"worker.labels", "zone=a"},
    {"slots.offer", "2"},
    {"slots.share", "me"},
    {"slots.gpu_free", "50"},
    {"slots.max_unslotted", "3"},
    {"devices.names", "\"a,b\""},
    {"devices.variable", "DEVICES"},
    {"devices.check_every", "0.5"},
    {"devices.deadline", "3"},
    {"programs.grace", "0"},
    {"programs.orphan_policy", "stop_after=60"},
    {"programs.run_as", "submitter"},
    {"programs.min_uid", "2000"},
    {"programs.keep_environment", "HTTPS_PROXY"},
    {"metrics.listen", "9178"},
    {"log.level", "debug"},
    {"log.format", "json"},
    {"allocation.name", "gpu/17"},
    {"allocation.idle_timeout", "5m"},
    {"allocation.give_up_after", "60"},
    {"allocation.time_limit", "1h"},
    {"allocation.ends_from", "slurm"},
    {"allocation.give_back", "30"},
    {"allocation.stop_within", "20"},
};

TEST(WorkerArguments, EachFlagHasOneKeyOfTheSameMeaning) {
  const Scratch scratch;
  Arguments arguments;
  const configuration::Program program = program_of(arguments);
  std::set<std::string> names;
  for (const configuration::Option& option : program.options) {
    SCOPED_TRACE(option.key);
    EXPECT_TRUE(option.flag.starts_with("--") && names.insert(option.flag).second);
    EXPECT_TRUE(names.insert(option.key).second);
    EXPECT_EQ(option.value.empty(), option.take.kind == configuration::Take::Kind::on_off);
    const auto found = samples.find(option.key);
    ASSERT_NE(found, samples.end()) << "add a sample of this option";
    const std::string& in_file = found->second;
    const std::string text = in_file.front() == '"' ? in_file.substr(1, in_file.size() - 2) : in_file;
    EXPECT_EQ(option.take.store(text), "");
    const auto [section, name] = configuration::parts_of(option.key);
    const bool is_list = option.take.kind == configuration::Take::Kind::list;
    const auto by_flag = configuration::read(program, {.flags = {{option.key, {text}}}, .alone = true});
    const auto by_file = configuration::read(
        program, {.file = scratch.write("c.yaml", section + ": {" + name + ": " +
                                                      (is_list ? "[" + in_file + "]" : in_file) + "}\n")});
    ::setenv(program.variable_of(option).c_str(), text.c_str(), 1);
    const auto by_variable = configuration::read(program, {.file = scratch.write("e.yaml", "")});
    ::unsetenv(program.variable_of(option).c_str());
    EXPECT_EQ(by_file.problems, std::vector<std::string>());
    EXPECT_EQ(configuration::differences(program, by_flag.values, by_file.values),
              std::vector<std::string>());
    EXPECT_EQ(configuration::differences(program, by_flag.values, by_variable.values),
              std::vector<std::string>());
  }
  EXPECT_EQ(samples.size(), program.options.size());
}

TEST(WorkerArguments, ValuesAreChecked) {
  Arguments arguments;
  const configuration::Program program = program_of(arguments);
  const auto problems_of = [&program](const std::string& key, const std::string& text) {
    return configuration::store(
        program, configuration::read(program, {.flags = {{key, {text}}}, .alone = true}).values);
  };
  using Problems = std::vector<std::string>;
  EXPECT_EQ(problems_of("programs.orphan_policy", "stop_after=0"),
            Problems{"--orphan-policy is \"stop_after=0\"; it must be continue, pause_at_rung, "
                     "pause_at_rung=SECONDS or stop_after=SECONDS, at least 1"});
  EXPECT_EQ(problems_of("worker.labels", "zone"), Problems{"--label is \"zone\"; it must be KEY=VALUE"});
  EXPECT_EQ(
      problems_of("daemon.server_key", "short"),
      Problems{
          "--server-key is \"short\"; it must be the 64 digits of the daemon's public key (hpsearch keys "
          "list)"});
  EXPECT_EQ(
      problems_of("programs.grace", "-1"),
      Problems{"--grace is -1; it must be a number of seconds from 0 to 86400, or a time such as 90s, 15m or "
               "7d"});
}

TEST(WorkerArguments, ConflictsNameTheirKeys) {
  Arguments arguments;
  arguments.labels = {"a=1", "a=2"};
  arguments.min_uid = 1'000;
  arguments.keep_environment = {"X"};
  const engine::Problems problems = conflicts_of(arguments);
  ASSERT_EQ(problems.size(), 3U);
  EXPECT_EQ(problems[0].path, "worker.labels");
  EXPECT_EQ(problems[0].what, "names \"a\" twice");
  EXPECT_EQ(problems[1].path, "programs.min_uid");
  EXPECT_EQ(problems[2].path, "programs.keep_environment");
  arguments.labels = {"a=1"};
  arguments.run_as = "submitter";
  EXPECT_TRUE(conflicts_of(arguments).empty());
}

}  // namespace
}  // namespace hpsearch::workers
