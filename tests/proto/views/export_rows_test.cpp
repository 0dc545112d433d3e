#include "hpsearch/proto/views/export_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/views/csv_line.hpp"
#include "proto/views/small_search.hpp"

namespace hpsearch::views {
namespace {

using engine::Value;

TEST(CsvLine, TextsThatSpreadsheetsWouldEvaluateAreQuoted) {
  EXPECT_EQ(csv_line({"=1+1", "+x", "-x", "@x", "\tx"}), "'=1+1,'+x,'-x,'@x,'\tx\n");
  EXPECT_EQ(csv_line({-1.5, -2, "a=b", "", Value()}), "-1.5,-2,a=b,,\n");
  EXPECT_EQ(csv_line({"=cmd|' /C calc'!A0", "a,b", "say \"x\""}),
            "'=cmd|' /C calc'!A0,\"a,b\",\"say \"\"x\"\"\"\n");
}

TEST(ExportRows, EachFormatHasALineForEachTrial) {
  SmallSearch search(SmallSearch::halving(20));
  while (!search.over()) {
    search.advance();
  }
  const auto study = proto::parse_json(export_head(search.record(), ExportFormat::optuna));
  ASSERT_TRUE(study);
  EXPECT_EQ(*study->at_path("direction"), Value("minimize"));
  EXPECT_EQ(*study->at_path("distributions.lr.name"), Value("FloatDistribution"));
  EXPECT_EQ(*study->at_path("distributions.lr.attributes.log"), Value(true));
  const std::string head = export_head(search.record(), ExportFormat::csv);
  const auto commas = std::count(head.begin(), head.end(), ',');
  for (std::uint64_t trial = 0; trial < 20; ++trial) {
    const auto row = [&](ExportFormat format) {
      return export_row(search.record(), engine::TrialNumber(trial), format, search.engine().last_instant());
    };
    const std::string csv = row(ExportFormat::csv);
    EXPECT_EQ(std::count(csv.begin(), csv.end(), ','), commas) << csv;
    const auto optuna = proto::parse_json(row(ExportFormat::optuna));
    ASSERT_TRUE(optuna);
    EXPECT_EQ(optuna->at_path("number")->number_or(-1), static_cast<double>(trial));
    EXPECT_NE(optuna->at_path("params.layers"), nullptr);
    EXPECT_TRUE(proto::parse_json(row(ExportFormat::jsonl)));
  }
}

}  // namespace
}  // namespace hpsearch::views
