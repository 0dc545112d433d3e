#include "cli/experiment/experiment_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hpsearch/engine/base/text.hpp"
#include "messages.hpp"
#include "scratch.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;
using testing::HasSubstr;

/// The tree as compact JSON; problems, one per line, if there is no tree.
std::string read(const std::string& text) {
  const ReadText read = read_experiment_text(text);
  if (read.tree && read.problems.empty()) {
    return engine::compact_json(*read.tree);
  }
  std::string out;
  for (const FileProblem& problem : read.problems) {
    out += to_text("f", problem) + "\n";
  }
  return out;
}

TEST(YamlScalars, ResolveAsTheSpecSays) {
  const std::pair<const char*, const char*> table[] = {
      {"null", "null"},
      {"~", "null"},
      {"", "null"},
      {"Null", "null"},
      {"true", "true"},
      {"False", "false"},
      {"TRUE", "true"},
      {"0", "0"},
      {"-7", "-7"},
      {"+7", "7"},
      {"010", "10"},
      {"50_000", "50000"},
      {"1_000_000", "1000000"},
      {"0x1F", "31"},
      {"0xff_ff", "65535"},
      {"0o17", "15"},
      {"1e-4", "0.0001"},
      {"1E3", "1000.0"},
      {"1.", "1.0"},
      {".5", "0.5"},
      {"-.5", "-0.5"},
      {"-2.50", "-2.5"},
      {"1_0.2_5", "10.25"},
      {"3e+2", "300.0"},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      // Text, although other readers read something else.
      {"yes", "\"yes\""},
      {"no", "\"no\""},
      {"on", "\"on\""},
      {"off", "\"off\""},
      {"1__0", "\"1__0\""},
      {"_1", "\"_1\""},
      {"1_", "\"1_\""},
      {"0x", "\"0x\""},
      {"0xg", "\"0xg\""},
      {"0o8", "\"0o8\""},
      {"1e", "\"1e\""},
      {"e5", "\"e5\""},
      {".", "\".\""},
      {"1.5G", "\"1.5G\""},
      {"12:30", "\"12:30\""},
      {"2026-11-21", "\"2026-11-21\""},
      {"nan", "\"nan\""},
      {"inf", "\"inf\""},
      {"1 2", "\"1 2\""},
      {"+", "\"+\""},
      // A quoted scalar is text.
      {"'1'", "\"1\""},
      {"\"true\"", "\"true\""},
      {"'null'", "\"null\""},
      {"'~'", "\"~\""},
  };
  for (const auto& [written, expected] : table) {
    EXPECT_EQ(read("v: " + std::string(written)), "{\"v\":" + std::string(expected) + "}") << written;
  }
}

TEST(YamlScalars, NumbersOutOfRangeAreRefused) {
  for (const std::string written : {"9223372036854775808", "-9223372036854775809", "0x8000000000000000",
                                    "1e999", ".inf", "-.INF", ".nan", "+.inf"}) {
    EXPECT_MESSAGE(read("a: 1\nv: " + written));
  }
}

TEST(YamlScalars, BlockScalarsAreText) {
  EXPECT_EQ(read("a: |\n  12\n  b\nc: >\n  x\n  y\n"), R"({"a":"12\nb\n","c":"x y\n"})");
}

TEST(YamlText, ReadsBlocksAndFlows) {
  EXPECT_EQ(read("b: {x: [1, 2.5, a], y: {}}\na:\n  - k: 1\n    l: []\n  -\n    - 3\n"),
            R"({"a":[{"k":1,"l":[]},[3]],"b":{"x":[1,2.5,"a"],"y":{}}})");
  EXPECT_EQ(read("%YAML 1.2\n---\na: 1 # c\n...\n"), R"({"a":1})");
  EXPECT_EQ(read("\xef\xbb\xbf"
                 "a: 1\r\nb: 2\r\n"),
            R"({"a":1,"b":2})");
}

TEST(YamlText, QuotesEndAtTheClosingMark) {
  EXPECT_EQ(read("\xc3\xa9: 'x''y'\r\n\"b\": \"z\\\"\"\r\nc: 'two\n  lines'\nd: ''\n"),
            "{\"b\":\"z\\\"\",\"c\":\"two lines\",\"d\":\"\",\"\xc3\xa9\":\"x'y\"}");
}

TEST(YamlText, EmptyOnesAreNull) {
  for (const char* text : {"", "\n", "# nothing\n", "---\n"}) {
    EXPECT_EQ(read(text), "null") << text;
  }
}

TEST(YamlText, JsonIsYaml) {
  EXPECT_EQ(read("{\"a\":1,\"b\":[true,null,\"1\",-1.5e3],\"c\":{\"d\\/\":\"\\u00e9\\n\"}}"),
            "{\"a\":1,\"b\":[true,null,\"1\",-1500.0],\"c\":{\"d/\":\"\xc3\xa9\\n\"}}");
  EXPECT_EQ(read("{\n\t\"a\": [\n\t\t1,\n\t\t2\n\t]\n}\n"), R"({"a":[1,2]})");
  EXPECT_EQ(read(R"({"face":"\ud83d\ude00","not":"\\ud83d"})"),
            "{\"face\":\"\xf0\x9f\x98\x80\",\"not\":\"\\\\ud83d\"}");
}

TEST(YamlText, RefusesAliasBombs) {
  for (const char* text :
       {"a: 1\nb: *x\n", "a: 1\nb: &x [1, *x]\n", "a: &x b\nc: 1\n*x : 2\n", "a: 1\nb: !!str 2\n",
        "a: 1\nb: !secret {c: 1}\n", "a:\n  <<: 1\n", "a:\n  <<: [{b: 1}, 2]\n",
        "a:\n  <<: {b: 1}\n  <<: {c: 1}\n", "a: 1\n---\nb: 2\n", "a: 1\nb: 2\na: 3\n",
        "h:\n  x: {a: 1,\n   a: 2}\n", "a:\n  - 1\n  - {k: 1, k: 2}\n", "? [a]\n: 1\n", "? {a: 1}\n: 1\n",
        "a: 1\n~: 2\n"}) {
    EXPECT_MESSAGE(read(text)) << text;
  }
}

TEST(YamlText, AliasesAreCopies) {
  EXPECT_EQ(read("a: &x 1e3\nb: *x\nc: &y {d: [*x, &z '5']}\ne: [*y, *z]\n"),
            R"({"a":1000.0,"b":1000.0,"c":{"d":[1000.0,"5"]},"e":[{"d":[1000.0,"5"]},"5"]})");
  EXPECT_EQ(read("a: &x 1\nb: &x 2\nc: *x\n"), R"({"a":1,"b":2,"c":2})") << "the last one counts";
  EXPECT_EQ(read("&k a: 1\nb: *k\n"), R"({"a":1,"b":"a"})");
}

TEST(YamlText, MergeKeysAddMissingKeys) {
  EXPECT_EQ(read("x: &x {b: 1, c: 1}\ny: &y {c: 2, d: 2}\nz:\n  d: 3\n  <<: [*x, *y]\n"),
            R"({"x":{"b":1,"c":1},"y":{"c":2,"d":2},"z":{"b":1,"c":1,"d":3}})");
  EXPECT_EQ(read("x: &x {b: 1}\ny: &y {<<: *x, c: 2}\nz: {<<: *y}\n"),
            R"({"x":{"b":1},"y":{"b":1,"c":2},"z":{"b":1,"c":2}})");
  EXPECT_EQ(read("a: {'<<': 1}\n"), R"({"a":{"<<":1}})") << "quoted, it is a key like others";
}

TEST(YamlText, ProblemsOfCopiesAreOnTheLineOfTheirAnchor) {
  const ReadText got = read_experiment_text("a: &x\n  b: 1\n  c: 2\nd:\n  <<: *x\n  e: *x\n");
  ASSERT_TRUE(got.tree && got.problems.empty());
  EXPECT_EQ(got.lines.line_of("d.c"), 3U);
  EXPECT_EQ(got.lines.line_of("d.e"), 6U);
  EXPECT_EQ(got.lines.line_of("d.e.c"), 3U);
}

/// "Billion laughs": a short text that becomes long when its aliases are expanded.
TEST(YamlLimits, CountTheCopiesOfAliases) {
  std::string laughs = "l0: &l0 ha\n";
  std::string merges = "l0: &l0 {k: v}\n";
  std::string marks;
  for (int level = 1; level < 30; ++level) {
    const std::string before = "l" + std::to_string(level - 1);
    const std::string name = "l" + std::to_string(level);
    laughs += name + ": &" + name + " [*" + before + ", *" + before + ", *" + before + "]\n";
    merges += name + ": &" + name + " {a: *" + before + ", b: *" + before + ", <<: *" + before + "}\n";
    marks += "&m" + std::to_string(level) + " [";
  }
  EXPECT_MESSAGE(read(laughs));
  EXPECT_MESSAGE(read(merges));
  std::string long_texts = "a: &x " + std::string(60 * 1024, 'x') + "\nb: [";
  for (int i = 0; i < 100; ++i) {
    long_texts += "*x, ";
  }
  EXPECT_MESSAGE(read(long_texts + "]\n"));
  std::string marked = "a: " + marks;
  for (int i = 0; i < 20'000; ++i) {
    marked += "1, ";
  }
  EXPECT_MESSAGE(read(marked + std::string(29, ']')));
  std::string deep = "a: &x " + std::string(20, '[') + std::string(20, ']') + "\nb: ";
  EXPECT_MESSAGE(read(deep + std::string(20, '[') + "*x" + std::string(20, ']') + "\n"));
}

TEST(YamlText, RefusesInvalidYaml) {
  for (const char* text :
       {"a: [1, 2\n", "a: {b: 1\n", "a: \"b\n", "a: 'b\n", "a: 'b''\n", "a: \"b\\\"\n", "a: 1\n b: 2\n",
        "a: b: c\n", "}\n", "a: 1\n]\n", "- a\nb: 1\n", "a: @x\n", "a: `x\n", "a: %x\nb: [\n"}) {
    const ReadText got = read_experiment_text(text);
    EXPECT_FALSE(got.tree && got.problems.empty()) << text;
    EXPECT_FALSE(got.problems.empty()) << text;
  }
}

TEST(YamlText, NamesTheLineOfInvalidYaml) {
  EXPECT_MESSAGE(read("a: 1\nb: c: d\n"));
  EXPECT_MESSAGE(read("a:\n\tb: 1\n"));
}

TEST(YamlText, RefusesBinaryBytes) {
  EXPECT_MESSAGE(read("a: 1\nb: \xff\n"));
  EXPECT_MESSAGE(read("a: \xed\xa0\x80\n"));
  EXPECT_MESSAGE(read("a: \xc0\xaf\n"));
  EXPECT_MESSAGE(
      read("a: 1\n\x04"
           "b: 2\n"));
  EXPECT_MESSAGE(read(std::string("a: \0b", 5)));
  EXPECT_MESSAGE(
      read("\xff\xfe"
           "a\0"));
}

TEST(YamlLimits, AreKept) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(read("a: " + nested(31)), "{\"a\":" + nested(31) + "}");
  EXPECT_MESSAGE(read("a: " + nested(32)));
  EXPECT_THAT(read(std::string(200'000, '[')), HasSubstr("f:1: "));
  EXPECT_THAT(read(std::string(200'000, '{')), HasSubstr("f:"));
  EXPECT_MESSAGE(read("a: " + std::string(65 * 1024, 'x')));
  EXPECT_MESSAGE(read("a: " + std::string(257 * 1024, 'x')));
  std::string many = "a: [";
  for (int i = 0; i < 100'001; ++i) {
    many += "1,";
  }
  EXPECT_MESSAGE(read(many + "]"));
}

TEST(YamlLimits, ManyProblemsStopTheReading) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) {
    text += "a: 1\n";
  }
  EXPECT_LE(read_experiment_text(text).problems.size(), 100U);
}

TEST(YamlLimits, LongKeysAboveManyValuesStayCheap) {
  std::string text = "? " + std::string(60'000, 'k') + "\n: [";
  for (int i = 0; i < 50'000; ++i) {
    text += "1,";
  }
  const ReadText got = read_experiment_text(text + "]\n");
  ASSERT_TRUE(got.tree);
  EXPECT_EQ(got.tree->as_map()->begin()->second.as_list()->size(), 50'000U);
}

TEST(YamlLimits, ManyKeysInReverseStayCheap) {
  std::string text;
  for (int i = 25'000; i > 0; --i) {
    text += "k" + std::to_string(100'000 + i) + ": \n";
  }
  const ReadText got = read_experiment_text(text);
  ASSERT_TRUE(got.tree);
  EXPECT_EQ(got.tree->as_map()->size(), 25'000U);
}

TEST(YamlText, DamagedYamlDoesNotCrash) {
  // Every prefix of a rich text, and the text with each byte replaced by each significant character.
  const std::string rich =
      "a: &x [1, {b: 'c', ? d : e}]\nf: |\n  g\nh: !!t \"i\\u0041\"\n--- *x\n- - j: ~\n... # k\n";
  for (std::size_t length = 0; length <= rich.size(); ++length) {
    static_cast<void>(read_experiment_text(rich.substr(0, length)));
  }
  for (std::size_t at = 0; at < rich.size(); ++at) {
    for (const char mark : std::string(":-?[]{}&*!|>'\"%@`,# \n\t\r\\~")) {
      std::string changed = rich;
      changed[at] = mark;
      static_cast<void>(read_experiment_text(changed));
    }
  }
}

TEST(LinesOfYaml, AreThoseOfTheKeys) {
  const ReadText got = read_experiment_text(
      "name: x\n"         // 1
      "\n"                // 2
      "searcher:\n"       // 3
      "  # comment\n"     // 4
      "  name: random\n"  // 5
      "  max_trials:\n"   // 6
      "    12\n"          // 7
      "list:\n"           // 8
      "  - a: 1\n"        // 9
      "    b: 2\n"        // 10
      "  - [1,\n"         // 11
      "     2]\n");       // 12
  const std::pair<const char*, std::size_t> table[] = {
      {"name", 1},
      {"searcher", 3},
      {"searcher.name", 5},
      {"searcher.max_trials", 6},
      {"searcher.metric", 3},
      {"list", 8},
      {"list[0].b", 10},
      {"list[1]", 11},
      {"list[1][1]", 12},
      {"list[7]", 8},
      {"list[0].zzz.y", 9},
      {"nowhere", 1},
      {"", 1},
      {"searcher..", 3},
      {"list[x]", 8},
      {"list[99999999999999999999]", 8},
  };
  for (const auto& [path, line] : table) {
    EXPECT_EQ(got.lines.line_of(path), line) << path;
  }
}

TEST(ExperimentFile, ReportsEveryProblemWithItsLine) {
  const Scratch scratch;
  const std::string path = scratch.write("bad.yaml",
                                         "entrypoint: [python3, train.py]\n"
                                         "hyperparameters:\n"
                                         "  lr: {type: double, minval: 2, maxval: 1}\n"
                                         "searcher:\n"
                                         "  name: random\n"
                                         "  metric: loss\n"
                                         "  max_lenght: 3\n"
                                         "  max_trials: 0\n"
                                         "name: a\n"
                                         "name: b\n");
  const ExperimentFile file = open_experiment_file(path);
  EXPECT_FALSE(file.config);
  std::vector<std::size_t> lines;
  for (const FileProblem& problem : file.problems) {
    lines.push_back(problem.line);
  }
  EXPECT_THAT(lines, testing::IsSupersetOf({3U, 7U, 8U, 10U}));
  EXPECT_TRUE(std::is_sorted(lines.begin(), lines.end()));
}

TEST(ExperimentFile, OverridesReplaceFields) {
  const Scratch scratch;
  const std::string path = scratch.write("good.yaml",
                                         "name: a\n"
                                         "entrypoint: [python3, train.py]\n"
                                         "reproducibility: {experiment_seed: 3}\n"
                                         "searcher: {name: single, metric: loss, max_length: 3}\n");
  const ExperimentFile plain = open_experiment_file(path);
  ASSERT_TRUE(plain.config) << to_text(path, plain.problems.at(0));
  EXPECT_EQ(plain.config->experiment_seed, 3U);
  EXPECT_EQ(plain.stem, "good");
  const ExperimentFile changed = open_experiment_file(path, {77, "other"});
  ASSERT_TRUE(changed.config);
  EXPECT_EQ(changed.config->experiment_seed, 77U);
  EXPECT_EQ(changed.config->name, "other");
  EXPECT_EQ(changed.original, plain.tree);
}

TEST(ExperimentFile, RecognizesADeterminedScriptByItsImports) {
  const Scratch scratch;
  scratch.write("core.py", "import os\nimport determined as det\n");
  scratch.write("from.py", "from determined import core\n");
  scratch.write("perhaps.py", "try:\n    import determined\nexcept ImportError:\n    determined = None\n");
  scratch.write("other.py", "import determined_people\n# import determined\n");
  scratch.write("both.py", "import determined\nimport hpsearch\n");
  const auto kind_of = [&](const std::string& entrypoint, const std::string& more = "") {
    const ExperimentFile file = open_experiment_file(scratch.write(
        "e.yaml",
        "entrypoint: " + entrypoint + "\nsearcher: {name: single, metric: loss, max_length: 3}\n" + more));
    EXPECT_TRUE(file.config) << to_text(file.path, file.problems.at(0));
    EXPECT_EQ(file.original.at_path("launch") == nullptr, more.find("launch") == std::string::npos);
    const Value* kind = file.tree.at_path("launch.kind");
    const bool noted = std::any_of(file.notes.begin(), file.notes.end(), [](const FileProblem& note) {
      return note.problem.path == "entrypoint" &&
             note.problem.what.find("imports determined") != std::string::npos;
    });
    return (kind == nullptr ? "none" : *kind->as_text()) + std::string(noted ? ", noted" : "");
  };
  EXPECT_EQ(kind_of("python3 core.py --x 1"), "determined, noted");
  EXPECT_EQ(kind_of("python3 core.py --x {trial_id}"), "none") << "the harness would not put a value there";
  EXPECT_EQ(kind_of("[python3, from.py]"), "determined, noted");
  EXPECT_EQ(kind_of("python3 perhaps.py"), "none");
  EXPECT_EQ(kind_of("python3 other.py"), "none");
  EXPECT_EQ(kind_of("python3 both.py"), "none");
  EXPECT_EQ(kind_of("python3 absent.py"), "none");
  EXPECT_EQ(kind_of("python3 core.py", "launch: {kind: process}\n"), "process");
  EXPECT_EQ(kind_of("python3 core.py", "metrics: {loss: 'loss (\\S+)'}\n"), "none");

  const std::string elsewhere = scratch.write(
      "f.yaml", "entrypoint: python3 core.py\nsearcher: {name: single, metric: loss, max_length: 3}\n");
  EXPECT_EQ(open_experiment_file(elsewhere, {std::nullopt, std::nullopt, "/"}).tree.at_path("launch"),
            nullptr);
}

TEST(ExperimentFile, SuggestsTheNearestFile) {
  const Scratch scratch;
  scratch.write("digits.yaml", "");
  const ExperimentFile file = open_experiment_file((scratch.path() / "digit.yaml").string());
  ASSERT_EQ(file.problems.size(), 1U);
  EXPECT_MESSAGE(file.problems[0].problem.what);
}

TEST(ExperimentFile, RefusesFilesThatAreNotExperiments) {
  const Scratch scratch;
  const auto first_problem = [](const std::string& path) {
    const ExperimentFile file = open_experiment_file(path);
    return file.problems.empty() ? std::string() : to_text("f", file.problems.front());
  };
  EXPECT_MESSAGE(first_problem(scratch.write("empty.yaml", "# nothing\n")));
  EXPECT_MESSAGE(first_problem(scratch.write("list.yaml", "- a\n")));
  EXPECT_THAT(first_problem(scratch.path().string()), HasSubstr("directory"));
}

TEST(Components, AreReadBesideTheExperimentThatNamesThem) {
  const Scratch scratch;
  scratch.write("trainer.yaml",
                "name: trainer\nboot_file: train.py\nparameters:\n  lr: {type: Float, default: 0.1}\n");
  const ExperimentFile file = open_experiment_file(scratch.write(
      "e.yaml", "component: trainer.yaml\nsearcher: {name: single, metric: loss, max_length: 1}\n"));
  ASSERT_TRUE(file.problems.empty()) << to_text(file.path, file.problems.front());
  EXPECT_EQ(engine::compact_json(file.config->hyperparameters), R"({"lr":0.1})");
  EXPECT_EQ(*file.tree.at_path("component.boot_file"), Value("train.py"));
}

TEST(Components, ProblemsNameTheirFileAndLine) {
  const Scratch scratch;
  const std::string component =
      scratch.write("trainer.yaml", "name: trainer\nboot_file: train.py\nparameters:\n  lr: {type: Flaot}\n");
  const std::string experiment = scratch.write(
      "e.yaml", "searcher: {name: single, metric: loss, max_length: 0}\ncomponent: trainer.yaml\n");
  const ExperimentFile file = open_experiment_file(experiment);
  std::string all;
  for (const FileProblem& problem : file.problems) {
    all += to_text(file.path, problem) + "\n";
  }
  EXPECT_THAT(all,
              HasSubstr(component + ":4: parameters.lr.type: is \"Flaot\" (Int, Float, String or Bool)"));
  EXPECT_THAT(all, HasSubstr(experiment + ":1: searcher.max_length: "));
  EXPECT_FALSE(file.config.has_value());
}

TEST(Components, PatternsWithoutANumberAreNamedInTheirFile) {
  const Scratch scratch;
  const std::string component =
      scratch.write("trainer.yaml",
                    "name: trainer\nboot_file: train.py\nmetrics:\n  acc: 'acc=([0-9.]+)'\n  loss: 'loss'\n");
  const std::string experiment = scratch.write("e.yaml",
                                               "searcher: {name: single, metric: f1, max_length: 1}\n"
                                               "component: trainer.yaml\nmetrics:\n  f1: '(unclosed'\n");
  const ExperimentFile file = open_experiment_file(experiment);
  ASSERT_EQ(file.problems.size(), 2U);
  const std::string all = to_text(file.path, file.problems[0]) + "\n" + to_text(file.path, file.problems[1]);
  EXPECT_THAT(all,
              HasSubstr(experiment + ":4: metrics.f1: is \"(unclosed\", which cannot be used: missing )"));
  EXPECT_THAT(all, HasSubstr(component +
                             ":5: metrics.loss: is \"loss\", which does not say where the number stands"));
  EXPECT_FALSE(file.config.has_value());
}

TEST(Components, MissingFileIsNamedWithTheNearest) {
  const Scratch scratch;
  scratch.write("trainer.yaml", "name: trainer\n");
  const ExperimentFile file = open_experiment_file(scratch.write(
      "e.yaml", "name: x\ncomponent: trainr.yaml\nsearcher: {name: single, metric: loss, max_length: 1}\n"));
  ASSERT_EQ(file.problems.size(), 1U) << "What the component would have brought is not missed besides.";
  EXPECT_MESSAGE(to_text(file.path, file.problems.front()));
}

TEST(ExperimentFile, ReportsAMistakeOnce) {
  const Scratch scratch;
  const auto problems_of = [&scratch](const std::string& searcher) {
    const ExperimentFile file = open_experiment_file(scratch.write(
        "e.yaml",
        "entrypoint: 'true'\nhyperparameters: {x: 1}\nsearcher: {name: random, metric: m, max_length: 9, " +
            searcher + "}\n"));
    std::string out;
    for (const FileProblem& problem : file.problems) {
      out += problem.problem.path + ": " + problem.problem.what + "\n";
    }
    return out;
  };
  EXPECT_EQ(problems_of("max_trials: .nan"), "searcher.max_trials: is .nan\n");
  EXPECT_EQ(problems_of("max_trials: 9223372036854775808"),
            "searcher.max_trials: is 9223372036854775808, which does not fit 64 bits\n");
  EXPECT_EQ(problems_of("max_trails: 4"), "searcher.max_trails: is not a known field\n");
}

}  // namespace
}  // namespace hpsearch::cli
