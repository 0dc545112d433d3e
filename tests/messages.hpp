#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hpsearch {

/// Compares texts that users read whole with tests/ROOM/messages/PROGRAM.txt: the messages of each test in
/// the order in which it compares them. A table that has more messages for a test than the test compares
/// fails, too. Write the tables with HPSEARCH_BLESS=1, and read the difference before you commit it.
///
/// A message must be the same in each run on each machine: directories of Scratch are called SCRATCH in the
/// table; compare a part of a text that holds other names, numbers or times of this run.
#define EXPECT_MESSAGE(text) EXPECT_PRED_FORMAT1(::hpsearch::is_in_table, text)

[[nodiscard]] testing::AssertionResult is_in_table(const char* expression, const std::string& text);
/// One message for each line, as in the list.
[[nodiscard]] testing::AssertionResult is_in_table(const char* expression,
                                                   const std::vector<std::string>& texts);

}  // namespace hpsearch
