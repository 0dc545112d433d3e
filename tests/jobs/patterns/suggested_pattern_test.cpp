#include "hpsearch/jobs/patterns/suggested_pattern.hpp"

#include <gtest/gtest.h>

#include "hpsearch/jobs/patterns/metric_pattern.hpp"

namespace hpsearch::patterns {
namespace {

std::string suggested(std::string_view line, std::string_view metric) {
  return suggested_pattern(line, metric).value_or("");
}

TEST(SuggestedPattern, ReadsTheNumberAndTheStepFromLinesAsProgramsPrintThem) {
  struct Row {
    const char* line;
    const char* metric;
    const char* pattern;
    const char* value;
    const char* step;
  };
  const Row table[] = {
      {"epoch 1 val_loss=0.25 acc=0.51", "val_loss", "epoch {step} val_loss={number}", "0.25", "1"},
      {"epoch 1 val_loss=0.25 acc=0.51", "valid_loss", "epoch {step} val_loss={number}", "0.25", "1"},
      {"epoch 12 loss=0.5 val_loss=0.25", "val_loss", "epoch {step}.*val_loss={number}", "0.25", "12"},
      {"epoch 1 loss=0.5 val_loss=0.25", "loss", "epoch {step} loss={number}", "0.5", "1"},
      {"epoch 1 lr 3 loss=0.5 val_loss=0.25", "loss", "epoch {step}.*?\\bloss={number}", "0.5", "1"},
      {"Epoch [3/30], Loss: 0.5", "loss", "Epoch \\[{step}.*Loss: {number}", "0.5", "3"},
      {"Epoch 3/30 - Val Acc: 91.5%", "val_accuracy", "Epoch {step}.*Val Acc: {number}", "91.5%", "3"},
      {"[7]\tvalid-rmse:1.5", "valid_rmse", "^\\[{step}\\]\\tvalid-rmse:{number}", "1.5", "7"},
      {"{\"epoch\": 2, \"val_loss\": 1e-3}", "val_loss", "epoch\": {step}, \"val_loss\": {number}", "1e-3",
       "2"},
      {"Test accuracy: 0.93", "test_accuracy", "Test accuracy: {number}", "0.93", ""},
      {"INFO step=5 valid_loss=nan", "valid_loss", "step={step} valid_loss={number}", "nan", "5"},
  };
  for (const Row& row : table) {
    const std::string pattern = suggested(row.line, row.metric);
    EXPECT_EQ(pattern, row.pattern) << row.line;
    const auto compiled = MetricPattern::compile(pattern);
    ASSERT_TRUE(compiled) << row.line;
    const auto found = compiled->find(row.line);
    ASSERT_TRUE(found) << row.line;
    EXPECT_EQ(found->value, row.value) << row.line;
    EXPECT_EQ(found->step.value_or(""), row.step) << row.line;
  }
}

TEST(SuggestedPattern, OtherLinesGetNone) {
  EXPECT_EQ(suggested("epoch 1 loss=0.5", "val_loss"), "");
  EXPECT_EQ(suggested("val_loss is computed every 3 epochs", "val_loss"), "");
  EXPECT_EQ(suggested("", "val_loss"), "");
  EXPECT_EQ(suggested("v 3", "val"), "") << "one letter is short for too much";
  EXPECT_EQ(suggested("val_loss=0.5" + std::string(600, ' '), "val_loss"), "");
}

}  // namespace
}  // namespace hpsearch::patterns
