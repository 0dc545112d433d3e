#include "hpsearch/workers/shell/devices/generic.hpp"

#include <gtest/gtest.h>

#include "messages.hpp"

namespace hpsearch::workers {
namespace {

TEST(GenericDevices, HaveTheNamesThatTheirOperatorGives) {
  const auto devices = generic_devices("4,left", "TPU_VISIBLE_CHIPS");
  ASSERT_TRUE(devices) << devices.error().message;
  EXPECT_EQ(devices->kind.variable, "TPU_VISIBLE_CHIPS");
  EXPECT_EQ(devices->kind.slot_kind, "device");
  ASSERT_EQ(devices->report.devices.size(), 2U);
  EXPECT_EQ(devices->report.devices[0].selector, "4");
  EXPECT_EQ(devices->report.devices[1].uuid, "left");
  EXPECT_EQ(devices->report.devices[1].index, 1U);
}

TEST(GenericDevices, VariableOfAnotherKindCanBeTheirs) {
  EXPECT_TRUE(generic_devices("0", "ROCR_VISIBLE_DEVICES")) << "integrated graphics, for example";
}

TEST(GenericDevices, WrongArgumentsAreRefused) {
  const std::pair<const char*, const char*> wrong[] = {
      {"a", ""}, {"", "X"}, {"a", "1X"}, {"a", "LD_PRELOAD"}, {"a,", "X"}, {"a,a", "X"}, {"a b", "X"}};
  for (const auto& [names, variable] : wrong) {
    const auto devices = generic_devices(names, variable);
    ASSERT_FALSE(devices) << names << " " << variable;
    EXPECT_MESSAGE(devices.error().message);
  }
}

}  // namespace
}  // namespace hpsearch::workers
