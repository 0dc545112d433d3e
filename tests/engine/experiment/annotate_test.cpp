#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/test_cluster.hpp"

// Notes, labels and stars: users write them, and no decision depends on them.

namespace hpsearch::engine {
namespace {

using Labels = std::vector<std::string>;

class Annotations : public testing::Test {
 protected:
  Annotations() {
    cluster.join("w", 1);
    id = cluster.create(random_config(3, 1, Value::Map{{"labels", Value::List{"wide", "first"}}}));
  }
  const ExperimentRecord& record() const { return *cluster.engine.find(id); }

  TestCluster cluster;
  ExperimentId id;
};

TEST_F(Annotations, AnExperimentBeginsWithTheLabelsOfItsFile) {
  EXPECT_EQ(record().annotation, (Annotation{"", {"wide", "first"}, false}));
}

TEST_F(Annotations, PartsThatAreNotGivenStay) {
  cluster.step(Annotate{.experiment = id, .note = "warm-up was too long"});
  cluster.step(Annotate{.experiment = id, .labels = Labels{"good", "first", "good"}});
  cluster.step(Annotate{.experiment = id, .starred = true});
  EXPECT_EQ(record().annotation, (Annotation{"warm-up was too long", {"first", "good"}, true}));
  EXPECT_TRUE(cluster.step(Annotate{.experiment = id, .starred = true}).events.empty())
      << "the same again leaves no trace";
  cluster.expect_replayable();
}

TEST_F(Annotations, ATrialHasItsOwnAlsoWhenTheSearchHasEnded) {
  cluster.step(KillExperiment{id});
  cluster.step(Annotate{.experiment = id, .trial = TrialNumber(0), .labels = Labels{"odd"}, .starred = true});
  EXPECT_EQ(annotation_of(record(), TrialNumber(0)), (Annotation{"", {"odd"}, true}));
  EXPECT_FALSE(record().annotation.starred);
  cluster.expect_replayable();
  cluster.step(Annotate{.experiment = id, .trial = TrialNumber(0), .labels = Labels{}, .starred = false});
  EXPECT_TRUE(record().trial_annotations.empty());
  cluster.expect_replayable();
}

TEST_F(Annotations, AreRefusedWithTheirBounds) {
  const auto refused = [this](const Annotate& command) { return cluster.refused(command).message; };
  EXPECT_EQ(refused({.experiment = id, .note = std::string(10'001, 'x')}),
            "note has 10001 bytes; it may have 10000");
  EXPECT_EQ(refused({.experiment = id, .labels = Labels(51, "x")}), "labels are 51; there may be 50");
  EXPECT_EQ(refused({.experiment = id, .labels = Labels{""}}), "a label has 0 bytes; it may have 1 to 100");
  EXPECT_EQ(refused({.experiment = id, .trial = TrialNumber(7), .starred = true}),
            "experiment 1 has no trial 7");
  EXPECT_EQ(cluster.refused(Annotate{.experiment = ExperimentId(9)}).code, Errc::not_found);
}

}  // namespace
}  // namespace hpsearch::engine
