#include "hpsearch/io/configuration/reading.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scratch.hpp"

namespace hpsearch::configuration {
namespace {

namespace fs = std::filesystem;

/// A program with an option of each kind.
struct Kettle {
  std::string name = "kettle";
  std::string color = "red";
  bool whistles = false;
  std::vector<std::string> labels;
  double boil = 90;
  std::uint64_t cups = 4;
  std::uint64_t water = 1'000;
  std::string cert;
  std::string key;

  Program program() {
    return {
        "hpsearch-kettle",
        {{.key = "pot.name", .flag = "--name", .value = "NAME", .take = text_in(name)},
         {.key = "pot.color",
          .flag = "--color",
          .value = "COLOR",
          .usual = "red",
          .take = choice_in(color, {"red", "blue"})},
         {.key = "pot.labels", .flag = "--label", .value = "LABEL", .take = list_in(labels)},
         {.key = "pot.whistles", .flag = "--whistles", .take = on_off_in(whistles)},
         {.key = "heat.boil_after", .flag = "--boil", .value = "SECONDS", .take = seconds_in(boil, 1, 1e7)},
         {.key = "heat.cups", .flag = "--cups", .value = "N", .take = integer_in(cups, 1, 12)},
         {.key = "heat.water", .flag = "--water", .value = "SIZE", .take = bytes_in(water)},
         {.key = "tls.cert_file",
          .flag = "--cert",
          .value = "FILE",
          .take = text_in(cert),
          .needs = {"tls.key_file"},
          .excludes = {"pot.whistles"}},
         {.key = "tls.key_file", .flag = "--key", .value = "FILE", .take = text_in(key)}}};
  }
};

/// Sets a variable until the end of a test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

class ConfigurationFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    const fs::path path = scratch_.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  /// The problems of this text, without the path of its file.
  std::vector<std::string> problems_of(const std::string& text) {
    const std::string path = write("hpsearch-kettle.yaml", text);
    std::vector<std::string> problems = read_and_store({.file = path});
    for (std::string& problem : problems) {
      EXPECT_TRUE(problem.starts_with(path)) << problem;
      problem = problem.substr(path.size());
    }
    return problems;
  }
  std::vector<std::string> read_and_store(const CommandLine& line) {
    const Program program = kettle_.program();
    reading_ = read(program, line);
    std::vector<std::string> problems = reading_.problems;
    for (std::string& problem : store(program, reading_.values)) {
      problems.push_back(std::move(problem));
    }
    return problems;
  }
  using Problems = std::vector<std::string>;

  Scratch scratch_;
  Kettle kettle_;
  Reading reading_;
};

TEST_F(ConfigurationFiles, EachKindOfValueIsRead) {
  EXPECT_EQ(problems_of("pot:\n  name: \"7\"\n  color: blue\n  labels: [a=1, b=2]\n  whistles: yes\n"
                        "heat: {boil_after: 1h 30m, cups: 12, water: 20GiB}\n"),
            Problems());
  EXPECT_EQ(kettle_.name, "7");
  EXPECT_EQ(kettle_.color, "blue");
  EXPECT_EQ(kettle_.labels, (std::vector<std::string>{"a=1", "b=2"}));
  EXPECT_TRUE(kettle_.whistles);
  EXPECT_EQ(kettle_.boil, 5'400);
  EXPECT_EQ(kettle_.cups, 12U);
  EXPECT_EQ(kettle_.water, std::uint64_t{20} << 30U);
}

TEST_F(ConfigurationFiles, EmptyFileAndNullsChangeNothing) {
  EXPECT_EQ(problems_of(""), Problems());
  EXPECT_EQ(problems_of("# Nothing yet.\npot:\nheat:\n  cups: null\n"), Problems());
  EXPECT_EQ(kettle_.cups, 4U);
  EXPECT_TRUE(reading_.values.empty());
}

TEST_F(ConfigurationFiles, FragmentsAreReadInTheOrderOfTheirNames) {
  const std::string file =
      write("hpsearch-kettle.yaml", "heat: {cups: 1}\npot: {name: main, labels: [a, b]}\n");
  write("hpsearch-kettle.yaml.d/20-b.yaml", "heat: {cups: 3}\n");
  write("hpsearch-kettle.yaml.d/10-a.yaml", "heat: {cups: 2}\npot: {labels: [c]}\n");
  write("hpsearch-kettle.yaml.d/30.yaml.bak", "heat: {cups: 5}\n");
  write("hpsearch-kettle.yaml.d/.40.yaml", "heat: {cups: 6}\n");
  EXPECT_EQ(read_and_store({.file = file}), Problems());
  EXPECT_EQ(kettle_.cups, 3U);
  EXPECT_EQ(kettle_.name, "main");
  EXPECT_EQ(kettle_.labels, (std::vector<std::string>{"c"})) << "a list is replaced, not continued";
  EXPECT_EQ(text_of(reading_.values.at("heat.cups").place), file + ".d/20-b.yaml:1");
  EXPECT_EQ(reading_.files.size(), 3U);
}

TEST_F(ConfigurationFiles, FragmentsNeedNoMainFile) {
  write("hpsearch-kettle.yaml.d/a.yaml", "heat: {cups: 2}\n");
  EXPECT_EQ(read_and_store({.usual = scratch_.path("hpsearch-kettle.yaml")}), Problems());
  EXPECT_EQ(kettle_.cups, 2U);
}

TEST_F(ConfigurationFiles, FlagsOverrideVariablesAndVariablesOverrideFiles) {
  const std::string file =
      write("c.yaml", "heat: {cups: 1, boil_after: 10, water: 1kb}\npot: {labels: [a], whistles: true}\n");
  const Variable cups("HPSEARCH_KETTLE_HEAT__CUPS", "2");
  const Variable boil("HPSEARCH_KETTLE_HEAT__BOIL_AFTER", "20");
  const Variable labels("HPSEARCH_KETTLE_POT__LABELS", "b,c");
  const Variable whistles("HPSEARCH_KETTLE_POT__WHISTLES", "0");
  const Variable empty("HPSEARCH_KETTLE_HEAT__WATER", "");
  EXPECT_EQ(read_and_store({.flags = {{"heat.cups", {"3"}}}, .file = file}), Problems());
  EXPECT_EQ(kettle_.cups, 3U);
  EXPECT_EQ(kettle_.boil, 20);
  EXPECT_EQ(kettle_.labels, (std::vector<std::string>{"b", "c"}));
  EXPECT_FALSE(kettle_.whistles);
  EXPECT_EQ(kettle_.water, 1'000U) << "an empty variable counts as not set";
}

TEST_F(ConfigurationFiles, WithoutConfigurationOnlyFlagsCount) {
  const std::string usual = write("hpsearch-kettle.yaml", "heat: {cups: 1}\n");
  const Variable boil("HPSEARCH_KETTLE_HEAT__BOIL_AFTER", "20");
  EXPECT_EQ(read_and_store({.flags = {{"pot.name", {"x"}}}, .usual = usual, .alone = true}), Problems());
  EXPECT_EQ(kettle_.cups, 4U);
  EXPECT_EQ(kettle_.boil, 90);
  EXPECT_EQ(kettle_.name, "x");
}

TEST_F(ConfigurationFiles, UsualFileIsInTheDirectoryOfTheService) {
  const Variable directory("CONFIGURATION_DIRECTORY", "/etc/one:/etc/two");
  EXPECT_EQ(usual_file("hpsearchd"), "/etc/one/hpsearchd.yaml");
}

TEST_F(ConfigurationFiles, MissingFileIsAProblemOnlyIfItIsNamed) {
  EXPECT_EQ(read_and_store({.usual = "/nowhere/x.yaml"}), Problems());
  EXPECT_EQ(read_and_store({.file = "/nowhere/x.yaml"}),
            Problems{"/nowhere/x.yaml: cannot be read: No such file or directory"});
}

TEST_F(ConfigurationFiles, DirectoryAndFifoAreNoFiles) {
  const std::string directory = (scratch_.path() / "d").string();
  fs::create_directories(directory);
  EXPECT_EQ(read_and_store({.file = directory}), Problems{directory + ": is a directory (a YAML file)"});
  const std::string fifo = (scratch_.path() / "f").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(read_and_store({.file = fifo}), Problems{fifo + ": is not a regular file (a YAML file)"});
}

TEST_F(ConfigurationFiles, LargeFileIsRefused) {
  EXPECT_EQ(problems_of(std::string(10'000'000, '#')),
            Problems{": is larger than 262144 bytes (a smaller file)"});
}

TEST_F(ConfigurationFiles, AllProblemsHaveTheirLines) {
  EXPECT_EQ(
      problems_of("pot:\n"
                  "  nam: x\n"
                  "  color: green\n"
                  "  name: 7\n"
                  "  whistles: loudly\n"
                  "heat:\n"
                  "  cups: 13\n"
                  "  boil_after: soon\n"
                  "  water: much\n"
                  "pott: {}\n"
                  "boil-after: 3\n"
                  "zebra: 1\n"),
      (Problems{":2: pot.nam: is not a known key (did you mean `pot.name`?)",
                ":4: pot.name: is 7 (a string; put it in quotes)",
                ":5: pot.whistles: is \"loudly\" (true or false)",
                ":10: pott: is not a known key (did you mean `pot`?)",
                ":11: boil-after: is not a known key (did you mean `heat.boil_after`?)",
                ":12: zebra: is not a known key (one of pot, heat, tls)",
                ":3: pot.color: is \"green\" (red or blue)",
                ":8: heat.boil_after: is \"soon\" (a number of seconds from 1 to 10000000, or a time such as "
                "90s, 15m or 7d)",
                ":7: heat.cups: is 13 (an integer from 1 to 12)",
                ":9: heat.water: is \"much\" (a size, such as 500MiB or 20GiB)"}));
}

TEST_F(ConfigurationFiles, UnknownKeyInASectionListsThoseThatThereAre) {
  EXPECT_EQ(problems_of("tls:\n  secret: \"-----BEGIN PRIVATE KEY-----\"\n"),
            Problems{":2: tls.secret: is not a known key (one of cert_file, key_file)"});
}

TEST_F(ConfigurationFiles, DuplicateKeysAndTabsAreRefused) {
  EXPECT_EQ(problems_of("heat:\n  cups: 1\n  cups: 2\n"),
            Problems{":3: heat.cups: stands twice (once; it stands on line 2 already)"});
  const Problems tab = problems_of("heat:\n\tcups: 1\n");
  ASSERT_EQ(tab.size(), 1U);
  EXPECT_EQ(tab[0], ":2: is not YAML: a tab indents it (spaces to indent, no tabs)");
}

TEST_F(ConfigurationFiles, ListAndMapAreNoSections) {
  EXPECT_EQ(problems_of("- heat\n"), Problems{":1: is [\"heat\"] (a map)"});
  EXPECT_EQ(problems_of("heat: 3\n"), Problems{":1: heat: is 3 (a map)"});
  EXPECT_EQ(problems_of("pot: {labels: a, name: {a: 1}}\n"),
            (Problems{":1: pot.name: is {\"a\":1} (a string)", ":1: pot.labels: is \"a\" (a list)"}));
}

TEST_F(ConfigurationFiles, VariableThatIsNoOptionIsAProblem) {
  const Variable known("HPSEARCH_KETTLE_HEAT__CUP", "2");
  const Variable other("HPSEARCH_KETTLE_PORT_80_TCP", "tcp://10.0.0.1:80");
  const Variable wrong("HPSEARCH_KETTLE_HEAT__CUPS", "many");
  EXPECT_EQ(read_and_store({.file = write("c.yaml", "")}),
            (Problems{"the variable HPSEARCH_KETTLE_HEAT__CUP is no option of hpsearch-kettle; did you mean "
                      "HPSEARCH_KETTLE_HEAT__CUPS?",
                      "HPSEARCH_KETTLE_HEAT__CUPS is \"many\"; it must be an integer from 1 to 12"}));
}

TEST_F(ConfigurationFiles, RelationsAreChecked) {
  const std::string file = write("c.yaml", "tls: {cert_file: a.pem}\n");
  EXPECT_EQ(read_and_store({.file = file}), Problems{file + ":1: tls.cert_file: needs tls.key_file"});
  EXPECT_EQ(read_and_store({.flags = {{"tls.key_file", {"k"}}, {"pot.whistles", {"true"}}}, .file = file}),
            Problems{file + ":1: tls.cert_file: cannot be used with pot.whistles (--whistles)"});
  EXPECT_EQ(read_and_store({.flags = {{"tls.key_file", {"k"}}, {"pot.whistles", {"false"}}}, .file = file}),
            Problems());
  EXPECT_EQ(read_and_store({.flags = {{"tls.cert_file", {"c"}}}, .alone = true}),
            Problems{"--cert needs --key"});
}

TEST_F(ConfigurationFiles, PrintedConfigurationNamesPlacesAndCanBeRead) {
  const std::string file = write("c.yaml", "heat:\n  cups: 3\n");
  const CommandLine line{.flags = {{"pot.labels", {"a=\"1\"", "b"}}, {"pot.whistles", {"true"}}},
                         .file = file};
  ASSERT_EQ(read_and_store(line), Problems());
  const std::string text = printed(kettle_.program(), reading_.values);
  EXPECT_EQ(text,
            "# The configuration of hpsearch-kettle, and where each value is from.\n"
            "pot:\n"
            "  # name: default: none\n"
            "  # color: default: red\n"
            "  labels: [\"a=\\\"1\\\"\",\"b\"]  # --label\n"
            "  whistles: true  # --whistles\n"
            "heat:\n"
            "  # boil_after: default: none\n"
            "  cups: \"3\"  # " +
                file +
                ":2\n"
                "  # water: default: none\n"
                "tls:\n"
                "  # cert_file: default: none\n"
                "  # key_file: default: none\n");
  const Values before = reading_.values;
  kettle_ = {};
  ASSERT_EQ(read_and_store({.file = write("printed.yaml", text)}), Problems());
  EXPECT_EQ(differences(kettle_.program(), before, reading_.values), std::vector<std::string>());
  EXPECT_EQ(kettle_.labels, (std::vector<std::string>{"a=\"1\"", "b"}));
}

TEST_F(ConfigurationFiles, DifferencesAreThoseOfValues) {
  const Program program = kettle_.program();
  const Reading before = read(program, {.flags = {{"heat.cups", {"3"}}}, .alone = true});
  const Reading same = read(program, {.file = write("c.yaml", "heat: {cups: 3}\n")});
  const Reading other = read(program, {.file = write("d.yaml", "heat: {cups: 4}\npot: {name: x}\n")});
  EXPECT_EQ(differences(program, before.values, same.values), std::vector<std::string>());
  EXPECT_EQ(differences(program, before.values, other.values),
            (std::vector<std::string>{"pot.name", "heat.cups"}));
}

class Reloaded : public ConfigurationFiles {
 protected:
  /// The kettle reads other labels and another boiling time while it is on.
  Program program() {
    Program program = kettle_.program();
    for (Option& option : program.options) {
      const bool is_changed = option.key == "pot.labels" || option.key == "heat.boil_after";
      option.change = is_changed ? Change::by_hang_up : Change::at_start;
    }
    return program;
  }
  Reread again(const std::string& text, const engine::Problems& conflicts = {}) {
    const CommandLine line{.file = write("c.yaml", text)};
    return read_again(program(), line, running_, [&conflicts] { return conflicts; });
  }

  const CommandLine line_{.file = write("c.yaml", "heat: {boil_after: 10, cups: 2}\npot: {labels: [a]}\n")};
  Values running_ = read(program(), line_).values;
};

TEST_F(Reloaded, ValuesThatMayChangeDo) {
  const Reread reread = again("heat: {boil_after: 20, cups: 3}\npot: {name: x}\n");
  EXPECT_EQ(reread.changed, (std::vector<std::string>{"pot.labels", "heat.boil_after"}));
  EXPECT_EQ(reread.need_restart, (std::vector<std::string>{"pot.name", "heat.cups"}));
  EXPECT_EQ(reread.values.at("heat.boil_after").texts, std::vector<std::string>{"20"});
  EXPECT_EQ(reread.values.at("heat.cups").texts, std::vector<std::string>{"2"});
  EXPECT_FALSE(reread.values.contains("pot.labels"));
  EXPECT_FALSE(reread.values.contains("pot.name"));
  const RereadSentences said = sentences_of(program(), reread);
  EXPECT_EQ(said.changed,
            "the configuration was read again: pot.labels is not set, heat.boil_after is \"20\"");
  EXPECT_EQ(said.need_restart,
            "these options were changed and stay as they were until a restart: pot.name, heat.cups");
  EXPECT_EQ(said.problem, "");
}

TEST_F(Reloaded, RestartIsNamedAgainUntilItHappens) {
  running_ = again("heat: {boil_after: 20, cups: 3}\npot: {labels: [a]}\n").values;
  const Reread second = again("heat: {boil_after: 20, cups: 3}\npot: {labels: [a]}\n");
  EXPECT_TRUE(second.changed.empty());
  EXPECT_EQ(second.need_restart, std::vector<std::string>{"heat.cups"});
}

TEST_F(Reloaded, BadFileChangesNothing) {
  const Reread reread = again("heat: {boil_after: 20, cups: 99}\npot: {labels: [b], nmae: x}\n");
  EXPECT_EQ(differences(program(), running_, reread.values), std::vector<std::string>());
  EXPECT_TRUE(reread.changed.empty());
  const RereadSentences said = sentences_of(program(), reread);
  EXPECT_EQ(said.changed, "");
  EXPECT_EQ(said.problem, "the configuration stays as it was: " + line_.file +
                              ":2: pot.nmae: is not a known key (did you mean `pot.name`?) (and 1 more: "
                              "hpsearch-kettle --check-config)");
}

TEST_F(Reloaded, ConflictChangesNothing) {
  const Reread reread = again("heat: {boil_after: 20}\n", {{"heat.boil_after", "is too late", ""}});
  EXPECT_EQ(differences(program(), running_, reread.values), std::vector<std::string>());
  EXPECT_EQ(sentences_of(program(), reread).problem,
            "the configuration stays as it was: " + line_.file + ":1: heat.boil_after: is too late");
}

TEST_F(Reloaded, MissingFileThatIsNamedChangesNothing) {
  std::filesystem::remove(line_.file);
  const Reread reread = read_again(program(), line_, running_, [] { return engine::Problems(); });
  EXPECT_EQ(reread.problems.size(), 1U);
  EXPECT_EQ(differences(program(), running_, reread.values), std::vector<std::string>());
}

}  // namespace
}  // namespace hpsearch::configuration
