#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <sstream>
#include <string>

namespace hpsearch::test {

/// So many cases of a property; RC_PARAMS="max_success=N" runs so many, as everything else in it has its way.
template <class Property>
void check_property(int cases, Property property) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  rc::detail::TestMetadata metadata;
  metadata.id = std::string(test->test_suite_name()) + "/" + test->name();
  metadata.description = test->name();
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  const char* chosen = std::getenv("RC_PARAMS");
  if (chosen == nullptr || std::string(chosen).find("max_success") == std::string::npos) {
    params.maxSuccess = cases;
  }
  const auto result = rc::detail::checkTestable(property, metadata, params);
  if (!result.template is<rc::detail::SuccessResult>()) {
    std::ostringstream text;
    rc::detail::printResultMessage(result, text);
    FAIL() << text.str() << "\nseed " << params.seed;
  }
}

}  // namespace hpsearch::test

/// As RC_GTEST_PROP, for properties that draw what they need, with as many cases as rare shapes need.
#define HPSEARCH_PROPERTY(suite, name)                                  \
  static void property_##suite##_##name();                              \
  TEST(suite, name) {                                                   \
    ::hpsearch::test::check_property(2000, &property_##suite##_##name); \
  }                                                                     \
  static void property_##suite##_##name()
