#include "messages.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

namespace hpsearch {
namespace {

namespace fs = std::filesystem;

/// The messages of each test, as they stand in the table.
using Table = std::map<std::string, std::vector<std::string>>;

// A test's name is a line of its own. Its messages follow: "- " before the first line, two blanks before
// others.
Table table_of(std::istream& file) {
  Table table;
  std::vector<std::string>* messages = nullptr;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("- ")) {
      messages->push_back(line.substr(2));
    } else if (line.empty() || line.starts_with("  ")) {
      messages->back() += "\n" + line.substr(line.empty() ? 0 : 2);
    } else {
      messages = &table[line];
    }
  }
  return table;
}

std::string text_of(const Table& table) {
  std::string text;
  for (const auto& [test, messages] : table) {
    text += test + "\n";
    for (const std::string& message : messages) {
      std::istringstream lines(message + "\n");
      const char* before = "- ";
      for (std::string line; std::getline(lines, line); before = "  ") {
        text += line.empty() && before[0] == ' ' ? "\n" : before + line + "\n";
      }
    }
  }
  return text;
}

/// Without the names of this run's directories, and with control characters that can be seen.
std::string as_in_table(std::string text) {
  const std::string scratch = (fs::temp_directory_path() / "hpsearch-test-").string();
  for (std::size_t at = 0; (at = text.find(scratch, at)) != std::string::npos;) {
    text.replace(at, scratch.size() + 6, "SCRATCH");
  }
  std::string seen;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x20 || c == '\n') {
      seen += c;
    } else {
      char spelled[5];
      std::snprintf(spelled, sizeof spelled, "\\x%02x", static_cast<unsigned char>(c));
      seen += spelled;
    }
  }
  return seen;
}

std::string name_of(const testing::TestInfo& test) {
  return std::string(test.test_suite_name()) + "." + test.name();
}

/// The table of this program, and what the running test has compared with it.
class Messages : public testing::EmptyTestEventListener {
 public:
  Messages() { testing::UnitTest::GetInstance()->listeners().Append(this); }

  testing::AssertionResult compare(const char* expression, const std::string& text) {
    const std::vector<std::string>& expected =
        table_[name_of(*testing::UnitTest::GetInstance()->current_test_info())];
    const std::size_t place = compared_.size();
    compared_.push_back(as_in_table(text));
    if (blesses_ || (place < expected.size() && expected[place] == compared_.back())) {
      return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << expression << " is\n"
                                       << compared_.back() << "\nbut message " << place + 1
                                       << " of this test in " << path_.string() << " is\n"
                                       << (place < expected.size() ? expected[place] : "missing")
                                       << "\n(HPSEARCH_BLESS=1 writes the table)";
  }

  void OnTestProgramStart(const testing::UnitTest& program) override {
    std::set<std::string> tests;
    for (int i = 0; i < program.total_test_suite_count(); ++i) {
      const testing::TestSuite& suite = *program.GetTestSuite(i);
      for (int j = 0; j < suite.total_test_count(); ++j) {
        const testing::TestInfo& test = *suite.GetTestInfo(j);
        tests.insert(name_of(test));
        path_ = path_of_table(test);
      }
    }
    std::ifstream file(path_);
    table_ = table_of(file);
    unknown_ = table_;
    std::erase_if(unknown_, [&tests](const auto& entry) { return tests.contains(entry.first); });
  }

  void OnTestStart(const testing::TestInfo& /*test*/) override { compared_.clear(); }

  void OnTestEnd(const testing::TestInfo& test) override {
    if (!test.result()->Passed()) {
      return;
    }
    const auto found = table_.find(name_of(test));
    const std::size_t expected = found == table_.end() ? 0 : found->second.size();
    if (blesses_) {
      table_[name_of(test)] = compared_;
    } else if (compared_.size() < expected) {
      ADD_FAILURE() << path_.string() << " has " << expected << " messages for this test, which compares "
                    << compared_.size() << " (HPSEARCH_BLESS=1 writes the table)";
    }
  }

  void OnTestIterationEnd(const testing::UnitTest& /*program*/, int /*iteration*/) override {
    for (const auto& [test, messages] : unknown_) {
      if (blesses_) {
        table_.erase(test);
      } else {
        ADD_FAILURE() << path_.string() << " has messages for " << test
                      << ", which this program does not have";
      }
    }
    std::erase_if(table_, [](const auto& entry) { return entry.second.empty(); });
    if (!blesses_) {
      return;
    }
    if (table_.empty()) {
      fs::remove(path_);
    } else {
      fs::create_directories(path_.parent_path());
      std::ofstream(path_) << text_of(table_);
    }
  }

 private:
  static fs::path path_of_table(const testing::TestInfo& test) {
    const std::string source = test.file();
    const std::string in_tests = source.substr(source.rfind("/tests/") + 7);
    return fs::path(HPSEARCH_TESTS) / in_tests.substr(0, in_tests.find('/')) / "messages" /
           (std::string(program_invocation_short_name) + ".txt");
  }

  bool blesses_ = std::getenv("HPSEARCH_BLESS") != nullptr;
  fs::path path_;
  Table table_;
  Table unknown_;
  std::vector<std::string> compared_;
};

Messages& messages() {
  static Messages& all = *new Messages;  // GoogleTest deletes its listeners.
  return all;
}

const Messages& made_before_the_first_test = messages();

}  // namespace

testing::AssertionResult is_in_table(const char* expression, const std::string& text) {
  return messages().compare(expression, text);
}

testing::AssertionResult is_in_table(const char* expression, const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) {
    all += (all.empty() ? "" : "\n") + text;
  }
  return messages().compare(expression, all);
}

}  // namespace hpsearch
