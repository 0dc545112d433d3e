#include <gtest/gtest.h>

#include "hpsearch/jobs/fields/remote_storage.hpp"
#include "jobs/read_experiment.hpp"

namespace hpsearch::jobs {
namespace {

TEST(CheckpointStorage, AcceptsAPathBelowTheHostPath) {
  const auto storage_path = [](const char* host, const char* path) {
    return accepted(with(small_experiment(), "checkpoint_storage",
                         Value::Map{{"type", "shared_fs"}, {"host_path", host}, {"storage_path", path}}))
        .program.checkpoint_storage.storage_path;
  };
  EXPECT_EQ(storage_path("/data", "a/b"), "a/b");
  EXPECT_EQ(storage_path("/data", "/data/a/b"), "a/b");
  EXPECT_EQ(storage_path("/data/", "/data"), "");
  EXPECT_EQ(storage_path("/", "/a"), "a");
  EXPECT_EQ(storage_path("/data", "..a"), "..a") << "only a whole name climbs";
}

TEST(CheckpointStorage, RejectsPathsOutsideTheHostPath) {
  const auto wrong = [](const char* host, const char* path) {
    return problems_of(with(small_experiment(), "checkpoint_storage",
                            Value::Map{{"host_path", host}, {"storage_path", path}}));
  };
  EXPECT_EQ(wrong("/data", "../x"),
            "checkpoint_storage.storage_path: is \"../x\" (a path without `..`, below host_path)\n");
  EXPECT_EQ(wrong("/data", "a/../../x"),
            "checkpoint_storage.storage_path: is \"a/../../x\" (a path without `..`, below host_path)\n");
  EXPECT_EQ(wrong("/data", "/database"),
            "checkpoint_storage.storage_path: is \"/database\" (a path below host_path, /data)\n");
  EXPECT_EQ(wrong("", "/../x"),
            "checkpoint_storage.storage_path: is \"/../x\" (a path without `..`, below host_path)\n");
  EXPECT_EQ(wrong("data", ""), "checkpoint_storage.host_path: is \"data\" (an absolute path without `..`)\n");
}

TEST(CheckpointStorage, ChecksTheOtherKinds) {
  const auto storage = [](Value value) {
    return with(small_experiment(), "checkpoint_storage", std::move(value));
  };
  const ParsedExperiment s3 =
      read_experiment(storage(Value::Map{{"type", "s3"}, {"bucket", "b"}, {"prefix", "p/q"}}));
  ASSERT_TRUE(s3.config) << lines(s3.problems);
  EXPECT_EQ(s3.program.checkpoint_storage.host_path, "");
  EXPECT_EQ(lines(s3.notes), "");
  EXPECT_EQ(
      problems_of(storage(Value::Map{{"type", "s3"}, {"prefix", "../p"}, {"region", "x"}})),
      "checkpoint_storage.bucket: is missing (the name of the bucket)\n"
      "checkpoint_storage.prefix: is \"../p\" (a path without `..`)\n"
      "checkpoint_storage.region: is not a known field (one of access_key, bucket, endpoint_url, prefix, "
      "save_experiment_best, save_trial_best, save_trial_latest, secret_key or type)\n");
  EXPECT_EQ(
      problems_of(storage(Value::Map{{"type", "azure"}, {"container", "c"}})),
      "checkpoint_storage.connection_string: is missing, and so is account_url (one of connection_string and "
      "account_url)\n");
  EXPECT_EQ(problems_of(storage(Value::Map{{"type", "gcs"}})),
            "checkpoint_storage.bucket: is missing (the name of the bucket)\n");
  EXPECT_EQ(problems_of(storage(Value::Map{{"type", "s4"}})),
            "checkpoint_storage.type: is \"s4\" (did you mean `s3`? shared_fs, s3, gcs or azure)\n");
}

TEST(CheckpointStorage, IsDescribedToRclone) {
  const auto remote = [](Value value) {
    return remote_storage(read_experiment(with(small_experiment(), "checkpoint_storage", std::move(value)))
                              .program.checkpoint_storage);
  };
  EXPECT_FALSE(remote(Value::Map{{"type", "shared_fs"}}));
  const auto s3 = remote(Value::Map{{"type", "s3"},
                                    {"bucket", "b"},
                                    {"prefix", "/p/q/"},
                                    {"access_key", "a"},
                                    {"secret_key", "s"},
                                    {"endpoint_url", "http://127.0.0.1:9"}});
  ASSERT_TRUE(s3);
  EXPECT_EQ(s3->root, "s3://b/p/q");
  EXPECT_EQ(s3->environment.at("RCLONE_CONFIG_HPSEARCH_ENDPOINT"), "http://127.0.0.1:9");
  EXPECT_EQ(s3->environment.at("RCLONE_CONFIG_HPSEARCH_SECRET_ACCESS_KEY"), "s");
  EXPECT_EQ(s3->environment.at("RCLONE_CONFIG_HPSEARCH_ENV_AUTH"), "false");
  EXPECT_EQ(rclone_place(s3->root + "/7/0/1-9"), "hpsearch:b/p/q/7/0/1-9");
  EXPECT_TRUE(is_remote(s3->root));
  EXPECT_FALSE(is_remote("/data"));
  const auto own_keys = remote(Value::Map{{"type", "s3"}, {"bucket", "b"}});
  EXPECT_EQ(own_keys->environment.at("RCLONE_CONFIG_HPSEARCH_ENV_AUTH"), "true");
  EXPECT_EQ(remote(Value::Map{{"type", "gcs"}, {"bucket", "b"}})->root, "gs://b");
  const auto azure = remote(Value::Map{
      {"type", "azure"}, {"container", "c"}, {"connection_string", "AccountName=n;AccountKey=k==;X=y"}});
  EXPECT_EQ(azure->root, "azure://c");
  EXPECT_EQ(azure->environment.at("RCLONE_CONFIG_HPSEARCH_ACCOUNT"), "n");
  EXPECT_EQ(azure->environment.at("RCLONE_CONFIG_HPSEARCH_KEY"), "k==");
  const auto url = remote(
      Value::Map{{"type", "azure"}, {"container", "c"}, {"account_url", "https://n.blob.core.windows.net"}});
  EXPECT_EQ(url->environment.at("RCLONE_CONFIG_HPSEARCH_ACCOUNT"), "n");
}

TEST(CheckpointStorage, AcceptsAnAzureAccountThatIsNamedTwice) {
  const ParsedExperiment parsed =
      accepted(with(small_experiment(), "checkpoint_storage",
                    Value::Map{{"type", "azure"},
                               {"container", "c"},
                               {"connection_string", "AccountName=n;AccountKey=k"},
                               {"account_url", "https://other.blob.core.windows.net"}}));
  EXPECT_EQ(lines(parsed.notes),
            "checkpoint_storage.account_url: has no effect: connection_string names the account\n");
  const auto remote = remote_storage(parsed.program.checkpoint_storage);
  EXPECT_EQ(remote->environment.at("RCLONE_CONFIG_HPSEARCH_ACCOUNT"), "n");
  EXPECT_FALSE(remote->environment.contains("RCLONE_CONFIG_HPSEARCH_ENDPOINT"));
}

}  // namespace
}  // namespace hpsearch::jobs
