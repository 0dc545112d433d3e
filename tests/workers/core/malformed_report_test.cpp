#include "hpsearch/workers/core/malformed_report.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

namespace hpsearch::workers {
namespace {

std::string why(std::string_view line, PrintedTo stream = PrintedTo::stdout_stream) {
  return why_no_report(line, stream).value_or("");
}

TEST(Lookalike, IsALineThatLooksLikeAReport) {
  EXPECT_EQ(why("INFO:root:HPSEARCH {\"step\": 1}"), "other text stands before HPSEARCH");
  EXPECT_EQ(why("  HPSEARCH {\"step\": 1}"), "it is indented");
  EXPECT_EQ(why("\xEF\xBB\xBFHPSEARCH {\"step\": 1}"), "a byte order mark stands before HPSEARCH");
  EXPECT_EQ(why("\x1b[32mHPSEARCH {\"step\": 1}\x1b[0m"),
            "a terminal's escape sequence (a colour) stands before HPSEARCH");
  EXPECT_EQ(why("HPSEARCH: {\"step\": 1}"), "one space has to stand between HPSEARCH and {");
  EXPECT_EQ(why("HPSEARCH{\"step\": 1}"), "one space has to stand between HPSEARCH and {");
  EXPECT_EQ(why("HPSEARCH {\"step\": 1}", PrintedTo::stderr_stream), "it was printed to standard error");
}

TEST(Lookalike, OtherLinesAreNone) {
  EXPECT_EQ(why("HPSEARCH {\"step\": 1}"), "");
  EXPECT_EQ(why("HPSEARCH_SOCKET=/run/x"), "");
  EXPECT_EQ(why("see HPSEARCH for more"), "");
  EXPECT_EQ(why("epoch 1", PrintedTo::stderr_stream), "");
}

}  // namespace
}  // namespace hpsearch::workers
