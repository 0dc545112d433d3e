#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "engine/test_registry.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/jobs/fields/submission.hpp"
#include "hpsearch/jobs/imports/imports.hpp"
#include "hpsearch/jobs/patterns/metric_pattern.hpp"
#include "hpsearch/jobs/yaml/read_text.hpp"
#include "hpsearch/searchers/registry.hpp"

namespace hpsearch::jobs {

inline std::string replaced(std::string text, std::string_view old, std::string_view by) {
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return at == std::string::npos ? text : text.replace(at, old.size(), by);
}

/// What `hpsearch import` prints about a file that it refuses, without the file's name.
inline std::string refusal(const std::string& text) {
  const yaml::ReadText read = yaml::read_experiment_text(text);
  EXPECT_TRUE(read.tree && read.problems.empty());
  std::string lines;
  for (const Problem& problem : import_experiment(*read.tree).problems) {
    lines += yaml::to_text("FILE", {read.lines.line_of(problem.path), problem}) + "\n";
  }
  EXPECT_FALSE(lines.empty()) << "was accepted";
  return lines;
}

/// A file that is accepted, and what was made of it.
class ImportedText {
 public:
  explicit ImportedText(const std::string& text) {
    const yaml::ReadText read = yaml::read_experiment_text(text);
    EXPECT_TRUE(read.tree && read.problems.empty());
    made_ = import_experiment(*read.tree);
    EXPECT_EQ(engine::lines(made_.problems), "");
    if (made_.problems.empty()) {
      EXPECT_EQ(engine::lines(parse_submission(made_.tree, searchers::registry(), "stem", 11).problems), "");
    }
  }

  /// The value at a dotted path, as JSON.
  [[nodiscard]] std::string at(std::string_view path) const {
    const Value* found = made_.tree.at_path(path);
    return found == nullptr ? "" : engine::compact_json(*found);
  }

  /// All remarks, or those on a path, one for each line.
  [[nodiscard]] std::string remarks() const {
    std::string text;
    for (const ImportRemark& remark : made_.remarks) {
      text += remark.path + ": " + remark.text + "\n";
    }
    return text;
  }
  [[nodiscard]] std::string remarks(std::string_view path) const {
    std::string text;
    for (const ImportRemark& remark : made_.remarks) {
      text += remark.path == path ? remark.text + "\n" : "";
    }
    return text;
  }

  [[nodiscard]] std::string pod_template() const { return engine::compact_json(made_.pod_template); }

  /// The number that the pattern of a metric finds in a line; "" if it finds none.
  [[nodiscard]] std::string number_in(const std::string& metric, std::string_view line) const {
    const Value* pattern = made_.tree.at_path("metrics")->as_map()->find(metric);
    const auto compiled = patterns::MetricPattern::compile(*pattern->as_text());
    EXPECT_TRUE(compiled) << *pattern->as_text();
    const auto found = compiled->find(line);
    return found ? std::string(found->value) : "";
  }

 private:
  ImportedExperiment made_;
};

}  // namespace hpsearch::jobs
