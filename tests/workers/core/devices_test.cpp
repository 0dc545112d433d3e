#include "hpsearch/workers/core/devices.hpp"

#include <gtest/gtest.h>

#include "messages.hpp"

namespace hpsearch::workers {
namespace {

using engine::SlotIndex;

Device gpu(std::uint64_t index, const std::string& uuid) {
  Device device;
  device.uuid = uuid;
  device.name = "Fake GPU";
  device.selector = std::to_string(index);
  device.index = index;
  device.memory_bytes = 1000;
  return device;
}

std::vector<Device> four() {
  return {gpu(0, "GPU-aaaa-1"), gpu(1, "GPU-aaaa-2"), gpu(2, "GPU-bbbb-3"), gpu(3, "GPU-cccc-4")};
}

using Places = std::vector<std::size_t>;

Places devices_of(std::string_view wanted, const std::vector<Device>& usable = four()) {
  const auto plan = plan_slots(wanted, usable, 16, "GPU");
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
  return plan ? plan->devices : Places{99};
}

std::string refusal(std::string_view wanted, const std::vector<Device>& usable = four()) {
  const auto plan = plan_slots(wanted, usable, 16, "GPU");
  EXPECT_FALSE(plan) << wanted << " is taken";
  return plan ? "" : plan.error().message;
}

TEST(SlotPlan, IsOneSlotPerGpuByDefault) {
  EXPECT_EQ(devices_of("auto"), (Places{0, 1, 2, 3}));
  EXPECT_EQ(devices_of("2"), (Places{0, 1}));
  EXPECT_EQ(devices_of("0,2"), (Places{0, 2}));
  EXPECT_EQ(devices_of("gpu3"), (Places{3}));
  EXPECT_EQ(devices_of("GPU-bbbb, 0"), (Places{2, 0}));
}

TEST(SlotPlan, KindOfDeviceStandsBeforeTheSlots) {
  EXPECT_EQ(devices_of("nvidia"), (Places{0, 1, 2, 3}));
  EXPECT_EQ(devices_of("amd:2"), (Places{0, 1}));
  EXPECT_EQ(devices_of("amd:0,2*2"), (Places{0, 2, 0, 2}));
  EXPECT_EQ(devices_of("ascend*2"), (Places{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(devices_of("ascend:npu3"), (Places{3}));
  EXPECT_MESSAGE(refusal("amd:7"));
  for (const char* none : {"auto", "2", "cpu:3", "GPU-aaaa-1", "generic", "amdx", "AMD"}) {
    EXPECT_EQ(kind_in_slots(none), "") << none;
  }
  EXPECT_EQ(kind_in_slots("amd*4"), "amd");
}

TEST(SlotPlan, SelectorsAndWholeUuidsCanBeOfAnyForm) {
  std::vector<Device> devices = four();
  devices[0].selector = devices[0].uuid = "a";
  devices[1].selector = devices[1].uuid = "7";
  EXPECT_EQ(devices_of("a,7", devices), (Places{0, 1}));
  EXPECT_EQ(devices_of("2,GPU-bbbb-3", devices), (Places{2, 2}));
  const auto npu = plan_slots("9,1", devices, 16, "NPU");
  ASSERT_FALSE(npu);
  EXPECT_MESSAGE(npu.error().message);
}

TEST(SlotPlan, SharesGpusOneAfterAnother) {
  EXPECT_EQ(devices_of("0,2*2"), (Places{0, 2, 0, 2}));
  EXPECT_EQ(devices_of("0,0,1"), (Places{0, 0, 1}));
  EXPECT_EQ(devices_of("1*3"), (Places{0, 0, 0}));
  EXPECT_EQ(devices_of("auto*2"), (Places{0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST(SlotPlan, IsOfProcessorsWithoutGpusOrOnRequest) {
  for (const auto& [wanted, slots] :
       std::vector<std::pair<std::string, std::uint64_t>>{{"cpu", 16}, {"cpu:3", 3}}) {
    const auto plan = plan_slots(wanted, four(), 16, "GPU");
    ASSERT_TRUE(plan) << wanted;
    EXPECT_EQ(plan->slots, slots);
    EXPECT_TRUE(plan->devices.empty());
  }
  EXPECT_EQ(plan_slots("auto", {}, 16, "GPU")->slots, 16U);
  EXPECT_EQ(plan_slots("20", {}, 16, "GPU")->slots, 20U);
}

TEST(SlotPlan, RefusesMissingGpusAndListsTheOthers) {
  EXPECT_MESSAGE(refusal("5"));
  EXPECT_MESSAGE(refusal("0,7"));
  EXPECT_MESSAGE(refusal("GPU-aaaa"));
  EXPECT_MESSAGE(refusal("auto*2", {}));
  for (const char* wrong : {"", "0", "auto*0", "auto*", "auto*2*2", "4097", "cpu:0", "cpu*2", "many", "0,,1",
                            "-1", "cpu:x", "1.5", "auto*9999999999999999999999"}) {
    EXPECT_MESSAGE(refusal(wrong)) << wrong;
  }
}

TEST(UsableDevices, AreThoseTheEnvironmentLists) {
  DeviceReport report;
  report.devices = four();
  const auto indices = [&](const std::vector<std::string>& lists) {
    Places found;
    for (const Device& device : usable_devices(report, lists)) {
      found.push_back(device.index);
    }
    return found;
  };
  EXPECT_EQ(indices({}), (Places{0, 1, 2, 3}));
  EXPECT_EQ(indices({"2, 3"}), (Places{2, 3}));
  EXPECT_EQ(indices({"GPU-bbbb,1"}), (Places{2, 1}));
  EXPECT_EQ(indices({"1,-1,2"}), (Places{1}));
  EXPECT_EQ(indices({""}), Places{});
}

TEST(UsableDevices, FurtherListsHavePositions) {
  DeviceReport report;
  report.devices = four();
  const std::vector<Device> devices = usable_devices(report, {"3,1,0", "1,0,9,2"});
  ASSERT_EQ(devices.size(), 2U) << "nothing after a wrong position";
  EXPECT_EQ(devices[0].index, 1U);
  EXPECT_EQ(devices[1].index, 3U);
}

TEST(UnusableSlots, HaveABrokenOrMissingDevice) {
  std::vector<engine::SlotDevice> slots;
  for (const Device& device : four()) {
    slots.push_back(slot_device(device));
  }
  slots.push_back(slots[1]);
  DeviceReport report;
  report.devices = four();
  EXPECT_TRUE(unusable_slots(slots, report, "GPU").empty());
  report.devices[1].trouble = "is lost";
  report.devices.pop_back();
  report.unknown = {"number 3 does not answer"};
  const std::vector<UnusableSlot> unusable = unusable_slots(slots, report, "GPU");
  ASSERT_EQ(unusable.size(), 3U);
  EXPECT_EQ(unusable[0], (UnusableSlot{SlotIndex{1}, "GPU 1 (GPU-aaaa-2) is lost", true}));
  EXPECT_EQ(unusable[1].slot, SlotIndex{3});
  EXPECT_MESSAGE(unusable[1].why);
  EXPECT_EQ(unusable[2].slot, SlotIndex{4}) << "both slots of a shared device";
}

TEST(UnusableSlots, AreAllSlotsIfTheDriverDoesNotAnswerAndNoneIsBroken) {
  DeviceReport report;
  report.problem = "the driver did not answer";
  const std::vector<UnusableSlot> unusable =
      unusable_slots({slot_device(gpu(0, "GPU-a")), slot_device(gpu(1, "GPU-b"))}, report, "GPU");
  ASSERT_EQ(unusable.size(), 2U);
  EXPECT_FALSE(unusable[0].broken || unusable[1].broken);
}

TEST(DeviceReport, ReadsOnlyItsOwnFormat) {
  DeviceReport report;
  report.driver = "550";
  report.devices = four();
  report.devices[0].temperature = 50;
  report.devices[0].processes = {{7, 8}};
  report.kind = "nvidia";
  report.ambiguous = {"amd", "ascend"};
  report.devices[1].selector = "MIG-1";
  report.devices[1].free_bytes = 9;
  report.devices[2].whole_in_mig_mode = true;
  report.devices[3].trouble = "is lost";
  report.devices[3].remark = "hot";
  report.unknown = {"one more"};
  const engine::Value value = to_value(report);
  const auto read = device_report_from(value);
  ASSERT_TRUE(read);
  EXPECT_EQ(to_value(*read), value);
  EXPECT_FALSE(device_report_from(engine::Value(3)));
  EXPECT_FALSE(device_report_from(
      engine::Value::Map{{"devices", engine::Value::List{engine::Value::Map{{"index", -1}}}}}));
}

// --- slots of a worker that is started again ---

using Slots = std::vector<engine::SlotDevice>;

Slots slots_of(const std::vector<std::string>& uuids) {
  Slots slots;
  for (std::size_t i = 0; i < uuids.size(); ++i) {
    slots.push_back({.uuid = uuids[i], .name = "Fake", .index = i, .memory_bytes = 7});
  }
  return slots;
}

std::string uuids_of(const Slots& slots) {
  std::string text;
  for (const engine::SlotDevice& slot : slots) {
    text += slot.uuid;
  }
  return text;
}

TEST(KeptSlots, KeepTheirDevicesInAnyOrder) {
  const KeptSlots kept = keep_slots(slots_of({"A", "B"}), slots_of({"B", "A"}), "GPU");
  EXPECT_EQ(uuids_of(kept.devices), "AB");
  EXPECT_EQ(kept.devices[0].index, 1U) << "as it is numbered now";
  EXPECT_TRUE(kept.withheld.empty());
}

TEST(KeptSlots, SlotOfAMissingDeviceStaysAndGetsNothingNew) {
  const KeptSlots kept = keep_slots(slots_of({"A", "B"}), slots_of({"B", "C"}), "GPU");
  EXPECT_EQ(uuids_of(kept.devices), "ABC");
  ASSERT_EQ(kept.withheld.size(), 1U);
  EXPECT_EQ(kept.withheld[0].slot, SlotIndex{0});
  EXPECT_FALSE(kept.withheld[0].broken) << "whether it is, its device tells";
}

TEST(KeptSlots, CountTheSharesOfADevice) {
  const KeptSlots kept = keep_slots(slots_of({"A", "A", "A"}), slots_of({"A", "A"}), "GPU");
  EXPECT_EQ(uuids_of(kept.devices), "AAA");
  ASSERT_EQ(kept.withheld.size(), 1U);
  EXPECT_EQ(kept.withheld[0].slot, SlotIndex{2});
  EXPECT_EQ(uuids_of(keep_slots(slots_of({"A"}), slots_of({"A", "A"}), "GPU").devices), "AA");
}

TEST(KeptSlots, AreWithheldUnlessTheyHaveAnotherReason) {
  const std::vector<UnusableSlot> all = with_withheld(
      {{SlotIndex{0}, "gone", true}}, {{SlotIndex{0}, "kept", false}, {SlotIndex{1}, "kept", false}});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].why, "gone");
  EXPECT_EQ(all[1].slot, SlotIndex{1});
}

TEST(KeptSlots, AreReadBackUnchanged) {
  const Slots slots = slots_of({"A", "B"});
  const auto read = slots_from(slots_value({"amd", slots}));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, (RememberedSlots{"amd", slots}));
  EXPECT_EQ(slots_from(engine::Value(7)).error().code, engine::Errc::corrupt);
  EXPECT_EQ(slots_from(slots_value({"amd", slots_of({""})})).error().code, engine::Errc::corrupt);
}

}  // namespace
}  // namespace hpsearch::workers
