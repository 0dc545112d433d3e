#include "hpsearch/io/arguments/described_options.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::arguments {
namespace {

/// A program with one of each kind of option.
class DescribedOptions : public testing::Test {
 protected:
  DescribedOptions() {
    app_.set_help_flag("");
    app_.add_option("-o,--output", word_, "table or json")->check(CLI::IsMember({"table", "json"}));
    app_.add_option("--secret", word_, "A hidden option")->group("");
    CLI::App& look = *app_.add_subcommand("look", "Look at one");
    look.set_help_flag("");
    look.group("Commands");
    look.add_option("WHICH", words_, "Which one")->required()->expected(1, 2);
    CLI::Option_group& keys = *look.add_option_group("keys", "About keys");
    CLI::Option* all = look.add_flag("--all-keys", flag_, "With all keys");
    keys.add_flag("--no-keys", flag_, "Without keys")->excludes(all);
    app_.add_subcommand("hidden", "A hidden command")->group("");
    app_.footer("Exit codes: 0 success.");  // A command made after it would have it, too.
  }

  CLI::App app_{"A program.", "program"};
  std::string word_;
  std::vector<std::string> words_;
  bool flag_ = false;
};

TEST_F(DescribedOptions, AreATreeWithoutWhatIsHidden) {
  EXPECT_EQ(
      engine::compact_json(described_options(app_)),
      R"({"about":"A program.","commands":[{"about":"Look at one","commands":[],"footer":"",)"
      R"("group":"Commands","name":"look","options":[{"about":"Which one","argument":"WHICH","default":"",)"
      R"("excludes":[],"group":"Options","least":1,"most":2,"names":[],"needs":[],"required":true,)"
      R"("type":"TEXT"},{"about":"With all keys","argument":null,"default":"","excludes":["--no-keys"],)"
      R"("group":"Options","least":0,"most":0,"names":["--all-keys"],"needs":[],"required":false,)"
      R"("type":""},{"about":"Without keys","argument":null,"default":"","excludes":["--all-keys"],)"
      R"("group":"About keys","least":0,"most":0,"names":["--no-keys"],"needs":[],"required":false,)"
      R"("type":""}]}],"footer":"Exit codes: 0 success.","group":"Subcommands","name":"program",)"
      R"("options":[{"about":"table or json","argument":null,"default":"","excludes":[],"group":"Options",)"
      R"("least":1,"most":1,"names":["-o","--output"],"needs":[],"required":false,)"
      R"("type":"TEXT:{table,json}"}]})");
}

TEST_F(DescribedOptions, AreFoundByEachOfTheirNames) {
  EXPECT_NE(option_named(app_, "-o"), nullptr);
  EXPECT_EQ(option_named(app_, "-o"), option_named(app_, "--output"));
  EXPECT_EQ(option_named(app_, "--secret"), nullptr);
  EXPECT_NE(option_named(*commands_of(app_).front(), "--no-keys"), nullptr);
}

TEST_F(DescribedOptions, NameTheWordsThatTheyAllow) {
  EXPECT_EQ(allowed_words(*option_named(app_, "--output")), (std::vector<std::string>{"table", "json"}));
  EXPECT_TRUE(allowed_words(*options_of(*commands_of(app_).front()).front()).empty());
}

}  // namespace
}  // namespace hpsearch::arguments
