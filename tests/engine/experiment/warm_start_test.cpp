#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/test_cluster.hpp"
#include "hpsearch/engine/experiment/source_checkpoint.hpp"
#include "messages.hpp"

namespace hpsearch::engine {
namespace {

using Paths = std::vector<std::string>;

std::string path_of(const AttemptKey& key, std::uint64_t step) {
  return "/c/" + std::to_string(key.experiment.number()) + "/" + std::to_string(key.trial.number()) + "/" +
         std::to_string(key.attempt.number()) + "-" + std::to_string(step);
}

Value::Map nothing_kept() {
  return {{"checkpoint_storage",
           Value::Map{{"save_experiment_best", 0}, {"save_trial_best", 0}, {"save_trial_latest", 0}}}};
}

/// A cluster whose first experiment has one trial that saved at 3 and 6 and runs on.
class WarmStart : public testing::Test {
 protected:
  WarmStart() {
    cluster_.join("a", 4);
    first_ = cluster_.create(random_config(1, 1, nothing_kept()));
    key_ = cluster_.live(first_, 0);
    save(key_, 3);
    save(key_, 6);
  }

  void save(const AttemptKey& key, std::uint64_t step) {
    cluster_.send(key, CheckpointReport{Units{step}, path_of(key, step), 2, 100});
  }
  void finish(const AttemptKey& key) {
    cluster_.report(key, 9, 0.5);
    cluster_.exit(key);
  }
  static Value from(const char* field, Value value, Value::Map others = {}) {
    return test_config(
        Value::Map{
            {"name", "random"}, {"max_trials", 2}, {"max_concurrent_trials", 1}, {field, std::move(value)}},
        std::move(others));
  }
  CreateExperiment creating(const char* field, Value value) const {
    CreateExperiment command;
    command.config = from(field, std::move(value));
    command.fallback_name = "warm";
    return command;
  }
  Paths kept(std::uint64_t trial) const {
    Paths paths;
    const TrialRecord& record = cluster_.trial(first_, trial);
    for (std::size_t i = 0; record.checkpoints && i < record.checkpoints->kept.size(); ++i) {
      paths.push_back(record.checkpoints->kept[i].path);
    }
    return paths;
  }
  const AttemptSpec& spec(const AttemptKey& key) const { return cluster_.attempts.at(key).spec; }

  TestCluster cluster_;
  ExperimentId first_;
  AttemptKey key_;
};

TEST_F(WarmStart, EveryTrialBeginsFromTheLatestCheckpointOfTheTrialAtLengthZero) {
  const auto id = static_cast<std::int64_t>(cluster_.trial(first_, 0).id.number());
  const ExperimentId second = cluster_.create(from("source_trial_id", id));
  for (const std::uint64_t trial : {0U, 1U}) {
    const AttemptKey key = cluster_.live(second, trial);
    EXPECT_EQ(spec(key).latest_checkpoint, path_of(key_, 6)) << trial;
    EXPECT_EQ(spec(key).latest_step, Units{}) << trial;
    EXPECT_EQ(spec(key).warm_start_of, first_) << trial;
    finish(key);
  }
  const SourceCheckpoint& source = *cluster_.engine.find(second)->source;
  EXPECT_EQ(source.experiment, first_);
  EXPECT_EQ(source.step, Units{6});
}

TEST_F(WarmStart, LaterCheckpointsChangeNothing) {
  const ExperimentId second = cluster_.create(from("source_trial_id", 1));
  save(key_, 7);
  finish(cluster_.live(second, 0));
  EXPECT_EQ(spec(cluster_.live(second, 1)).latest_checkpoint, path_of(key_, 6));
}

TEST_F(WarmStart, ATrialThatSavedGoesOnFromItsOwn) {
  const ExperimentId second = cluster_.create(from("source_trial_id", 1));
  const AttemptKey first_try = cluster_.live(second, 0);
  save(first_try, 4);
  cluster_.exit(first_try, 1);
  const AttemptSpec& again = spec(cluster_.live(second, 0));
  EXPECT_EQ(again.latest_checkpoint, path_of(first_try, 4));
  EXPECT_EQ(again.latest_step, Units{4});
  EXPECT_EQ(again.warm_start_of, std::nullopt);
}

TEST_F(WarmStart, ACheckpointIsNamedByItsIdOrItsPath) {
  for (const std::string& name :
       {path_of(key_, 3), checkpoint_id(first_, TrialNumber(0), path_of(key_, 3))}) {
    const ExperimentId id = cluster_.create(from("source_checkpoint_uuid", name));
    EXPECT_EQ(cluster_.engine.find(id)->source->path, path_of(key_, 3)) << name;
  }
  EXPECT_EQ(checkpoint_id(first_, TrialNumber(0), path_of(key_, 3)), "1/0/1-3");
}

TEST_F(WarmStart, AMissingSourceIsRefusedWithItsReason) {
  const std::pair<CreateExperiment, std::string> refused[] = {
      {creating("source_trial_id", 99), "source_trial_id: is 99; there is no trial with this id"},
      {creating("source_checkpoint_uuid", "1/0/1-4"), "was deleted, or its upload never finished"},
      {creating("source_checkpoint_uuid", "1/7/1-3"), "names no trial's checkpoint here"},
      {creating("source_checkpoint_uuid", "9/0/1-3"), "names no trial's checkpoint here"},
      {creating("source_checkpoint_uuid", "0f8fad5b-d9cb-469f"), "names no trial's checkpoint here"},
      {creating("source_checkpoint_uuid", "/elsewhere/1/0/1-3"), "trial 0 of experiment 1 does not have"},
  };
  for (const auto& [command, why] : refused) {
    const Error error = cluster_.refused(command);
    EXPECT_EQ(error.code, Errc::bad_request);
    EXPECT_NE(error.message.find(why), std::string::npos) << error.message << "\nwithout: " << why;
  }
  const ExperimentId empty = cluster_.create(random_config(1, 1));
  const auto id = static_cast<std::int64_t>(cluster_.trial(empty, 0).id.number());
  EXPECT_MESSAGE(cluster_.refused(creating("source_trial_id", id)).message);
}

TEST_F(WarmStart, ADeletedCheckpointIsNoSource) {
  cluster_.step(DeleteCheckpoints{first_, TrialNumber(0), {path_of(key_, 3)}});
  EXPECT_MESSAGE(cluster_.refused(creating("source_checkpoint_uuid", "1/0/1-3")).message);
  cluster_.step(ConfirmDeleted{first_, {path_of(key_, 3)}});
  EXPECT_MESSAGE(cluster_.refused(creating("source_checkpoint_uuid", "1/0/1-3")).message);
}

TEST_F(WarmStart, TheSourceOutlivesItsTrialWhileTheExperimentLives) {
  const ExperimentId second = cluster_.create(from("source_checkpoint_uuid", "1/0/1-3"));
  finish(key_);  // Nothing of it is to be kept.
  EXPECT_EQ(kept(0), Paths{path_of(key_, 3)});
  const Error error = cluster_.refused(DeleteCheckpoints{first_, TrialNumber(0), {path_of(key_, 3)}});
  EXPECT_EQ(error.code, Errc::wrong_state);
  EXPECT_MESSAGE(error.message);
  cluster_.step(PauseExperiment{second});
  EXPECT_EQ(kept(0), Paths{path_of(key_, 3)});
  cluster_.step(KillExperiment{second});
  EXPECT_EQ(kept(0), Paths{path_of(key_, 3)}) << "its attempt has not exited";
  cluster_.exit(cluster_.live(second, 0), 9);
  ASSERT_TRUE(is_ended(cluster_.engine.find(second)->state));
  EXPECT_EQ(kept(0), Paths{});
}

TEST_F(WarmStart, TheSourceIsHeldUntilTheLastOfItsExperimentsEnds) {
  const ExperimentId second = cluster_.create(from("source_checkpoint_uuid", "1/0/1-3"));
  const ExperimentId third = cluster_.create(from("source_checkpoint_uuid", "1/0/1-3"));
  finish(key_);
  for (const ExperimentId id : {second, third}) {
    EXPECT_EQ(kept(0), Paths{path_of(key_, 3)});
    cluster_.step(KillExperiment{id});
    cluster_.exit(cluster_.live(id, 0), 9);
  }
  EXPECT_EQ(kept(0), Paths{});
}

TEST_F(WarmStart, EachStorageIsReadWithItsOwnKeys) {
  const auto bucket = [](const char* name, const char* key) {
    return Value::Map{
        {"checkpoint_storage",
         Value::Map{{"type", "s3"}, {"bucket", name}, {"access_key", key}, {"secret_key", "s"}}}};
  };
  const ExperimentId remote = cluster_.create(random_config(1, 1, bucket("old", "a")));
  const AttemptKey key = cluster_.live(remote, 0);
  cluster_.send(key, CheckpointReport{Units{3}, "s3://old/2/0/1-3", 2, 100});
  const ExperimentId warm = cluster_.create(from("source_checkpoint_uuid", "2/0/1-3", bucket("new", "b")));
  const AttemptSpec& begun = spec(cluster_.live(warm, 0));
  EXPECT_EQ(begun.latest_checkpoint, "s3://old/2/0/1-3");
  EXPECT_EQ(begun.warm_start_of, remote);
}

TEST_F(WarmStart, ReplayHoldsTheSameSource) {
  const ExperimentId second = cluster_.create(from("source_checkpoint_uuid", "1/0/1-3"));
  Engine replayed = cluster_.replayed();
  EXPECT_EQ(state_text(replayed), state_text(cluster_.engine));
  EXPECT_EQ(replayed.find(second)->source->path, path_of(key_, 3));
  EXPECT_FALSE(replayed.step(DeleteCheckpoints{first_, TrialNumber(0), {path_of(key_, 3)}}, cluster_.now));
}

TEST_F(WarmStart, ARepeatedRequestIsAnsweredAlthoughItsSourceWasDeleted) {
  CreateExperiment command = creating("source_checkpoint_uuid", "1/0/1-3");
  command.idempotency_key = "k";
  const ExperimentId second = *cluster_.step(command).created;
  cluster_.step(KillExperiment{second});
  cluster_.exit(cluster_.live(second, 0), 9);
  cluster_.step(DeleteCheckpoints{first_, TrialNumber(0), {path_of(key_, 3)}});
  EXPECT_EQ(cluster_.step(command).created, second);
}

}  // namespace
}  // namespace hpsearch::engine
