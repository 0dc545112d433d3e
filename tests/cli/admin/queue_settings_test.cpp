#include "cli/admin/queue_settings.hpp"

#include <gtest/gtest.h>

#include <string>

#include "messages.hpp"
#include "scratch.hpp"

// Queues as the command line and files describe them.

namespace hpsearch::cli {
namespace {

Outcome<std::vector<api::QueueRequest>> queues_in(const std::string& text) {
  const Scratch scratch;
  return queues_in_file(scratch.write("queues.yaml", text));
}

TEST(QueueFile, HasTheSettingsOfTheCommandLine) {
  const auto queues = queues_in(
      "queues:\n"
      "  gpu:\n"
      "    time-limit: 2h\n"
      "    workers-per-alloc: 2\n"
      "    slots: 4\n"
      "    min-utilization: 0.25\n"
      "    idle-timeout: 90\n"
      "    labels: {zone: b, generation: 3}\n"
      "    arguments: [-p, gpu, -c, 32]\n"
      "  cpu: {slots: auto}\n");
  ASSERT_TRUE(queues) << queues.failure().message;
  ASSERT_EQ(queues->size(), 2U);
  const api::QueueRequest& gpu = queues->at(1);
  EXPECT_EQ(gpu.name, "gpu");
  EXPECT_EQ(gpu.settings.time_limit, 7'200);
  EXPECT_EQ(gpu.settings.workers, 2U);
  EXPECT_EQ(gpu.settings.max_workers, 2U) << "one allocation is within the limit";
  EXPECT_EQ(gpu.settings.slots, 4U);
  EXPECT_EQ(gpu.settings.min_utilization, 0.25);
  EXPECT_EQ(gpu.settings.idle_timeout, 90);
  EXPECT_EQ(gpu.settings.labels, (std::map<std::string, std::string>{{"generation", "3"}, {"zone", "b"}}));
  EXPECT_EQ(gpu.settings.arguments, (std::vector<std::string>{"-p", "gpu", "-c", "32"}));
  EXPECT_EQ(queues->at(0).settings.slots, std::nullopt);
  EXPECT_EQ(queues->at(0).settings.time_limit, usual_queue_settings().time_limit);
}

TEST(QueueFile, IsRefusedWithPlaceAndWhatIsAllowed) {
  for (const char* text :
       {"queues: {gpu: {time-limit: soon}}", "queues:\n  gpu:\n    slots: [1]", "queues: {gpu: 5}", "gpu: {}",
        "queues: {gpu: {arguments: -p gpu}}", "queues: {gpu: {labels: b}}", "queues: {gpu: {colour: red}}",
        "queues: {gpu: {backlog: 0}}", "queues: {gpu: {slots: 2, slots: 3}}", ""}) {
    const auto queues = queues_in(text);
    EXPECT_MESSAGE(queues ? "it is taken" : queues.failure().message);
  }
}

}  // namespace
}  // namespace hpsearch::cli
