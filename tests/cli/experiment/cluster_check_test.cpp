#include "cli/experiment/cluster_check.hpp"

#include <gmock/gmock.h>

#include "scratch.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;
using testing::ElementsAre;
using testing::IsEmpty;

Value worker(std::int64_t slots, const std::string& pool = "default", bool present = true) {
  return Value::Map{
      {"slots", slots}, {"pool", pool}, {"present", present}, {"labels", Value::Map{{"zone", "b"}}}};
}

class ClusterCheck : public testing::Test {
 protected:
  std::vector<std::string> notes(const std::string& resources, const Value::List& workers) const {
    ExperimentFile file = open_experiment_file(
        scratch.write("e.yaml",
                      "entrypoint: 'true'\nsearcher: {name: single, metric: loss, max_length: 3}\n"
                      "resources: {" +
                          resources + "}\n"));
    EXPECT_TRUE(file.config);
    file.notes.clear();
    check_cluster(file, workers);
    std::vector<std::string> out;
    for (const FileProblem& note : file.notes) {
      out.push_back(to_text("e.yaml", note));
    }
    return out;
  }

  Scratch scratch;
};

TEST_F(ClusterCheck, IsSilentIfATrialCanRun) {
  EXPECT_THAT(notes("", {worker(1)}), IsEmpty());
  EXPECT_THAT(notes("slots_per_trial: 4", {worker(2), worker(4)}), IsEmpty());
  EXPECT_THAT(notes("resource_pool: big, labels: {zone: b}", {worker(1), worker(1, "big")}), IsEmpty());
}

TEST_F(ClusterCheck, NamesAPoolWithoutWorkers) {
  EXPECT_THAT(
      notes("resource_pool: big", {worker(1), worker(1, "gpu"), worker(8, "big", false)}),
      ElementsAre("e.yaml:3: resources.resource_pool: is \"big\", and no worker is in the pool big now "
                  "(pools with workers: default, gpu)"));
  EXPECT_THAT(
      notes("slots_per_trial: 2", {}),
      ElementsAre("e.yaml:3: resources.resource_pool: isn't set, and no worker is in the pool default "
                  "now (the daemon has no workers)"));
}

TEST_F(ClusterCheck, NamesLabelsThatNoWorkerHas) {
  EXPECT_THAT(
      notes("labels: {zone: c}", {worker(1)}),
      ElementsAre("e.yaml:3: resources.labels: no worker in the pool default has these labels now (as "
                  "hpsearch workers lists them)"));
}

TEST_F(ClusterCheck, NamesMoreSlotsThanAnyWorkerOfThePoolHas) {
  EXPECT_THAT(
      notes("slots_per_trial: 8", {worker(4), worker(1), worker(16, "big"), worker(8, "default", false)}),
      ElementsAre("e.yaml:3: resources.slots_per_trial: is 8, but no worker has more than 4 slots "
                  "(trials wait until the slots are there)"));
}

}  // namespace
}  // namespace hpsearch::cli
