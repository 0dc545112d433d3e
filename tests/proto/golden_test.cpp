#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>

#include "hpsearch/proto/events/stored.hpp"
#include "hpsearch/proto/wire/wire.hpp"
#include "proto/examples.hpp"

// Formats are an interface: bytes of a release must be readable forever, and are never written differently
// without a new version. A golden file is never edited. HPSEARCH_BLESS=1 writes those that are missing.

namespace hpsearch::test {
namespace {

namespace fs = std::filesystem;
using proto::Bytes;

fs::path golden_file(const std::string& folder, const std::string& name) {
  return fs::path(HPSEARCH_GOLDEN_DIR) / folder / (name + ".msgpack");
}

std::optional<Bytes> read_golden(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    return std::nullopt;
  }
  const std::string raw((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto bytes = std::as_bytes(std::span(raw));
  return Bytes(bytes.begin(), bytes.end());
}

/// The golden bytes; if they are missing and HPSEARCH_BLESS is set, `now`.
Bytes golden(const std::string& folder, const std::string& name, const Bytes& now) {
  const fs::path file = golden_file(folder, name);
  if (const auto bytes = read_golden(file)) {
    return *bytes;
  }
  if (std::getenv("HPSEARCH_BLESS") == nullptr) {
    ADD_FAILURE() << file << " is missing; HPSEARCH_BLESS=1 writes it";
    return {};
  }
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(now.data()), static_cast<std::streamsize>(now.size()));
  return now;
}

template <class Examples>
void expect_no_strays(const std::string& folder, const Examples& examples) {
  std::set<std::string> names;
  for (const auto& example : examples) {
    names.insert(example.name + ".msgpack");
  }
  for (const auto& entry : fs::directory_iterator(fs::path(HPSEARCH_GOLDEN_DIR) / folder)) {
    EXPECT_TRUE(names.contains(entry.path().filename().string())) << entry.path() << " belongs to no example";
  }
}

TEST(Golden, MessagesOfWorkers) {
  for (const auto& example : examples_from_worker()) {
    const Bytes now = encode(example_envelope(), example.value);
    const Bytes then = golden("wire_v1/from_worker", example.name, now);
    EXPECT_EQ(now, then) << example.name << " is written differently";
    const auto decoded = proto::decode_from_worker(then);
    ASSERT_TRUE(decoded) << example.name << ": " << decoded.error().message;
    EXPECT_EQ(encode(decoded->envelope, decoded->message), then) << example.name << " is read differently";
  }
  expect_no_strays("wire_v1/from_worker", examples_from_worker());
}

TEST(Golden, MessagesOfTheDaemon) {
  for (const auto& example : examples_from_daemon()) {
    const Bytes now = encode(example_envelope(), example.value);
    const Bytes then = golden("wire_v1/from_daemon", example.name, now);
    EXPECT_EQ(now, then) << example.name << " is written differently";
    const auto decoded = proto::decode_from_daemon(then);
    ASSERT_TRUE(decoded) << example.name << ": " << decoded.error().message;
    EXPECT_EQ(encode(decoded->envelope, decoded->message), then) << example.name << " is read differently";
  }
  expect_no_strays("wire_v1/from_daemon", examples_from_daemon());
}

TEST(Golden, StoredEvents) {
  for (const auto& example : example_events()) {
    const Bytes now = proto::encode_event(example.value);
    const Bytes then = golden("store_v1", example.name, now);
    EXPECT_EQ(now, then) << example.name << " is written differently";
    const auto decoded = proto::decode_event(then);
    ASSERT_TRUE(decoded) << example.name << ": " << decoded.error().message;
    EXPECT_EQ(proto::encode_event(*decoded), then) << example.name << " is read differently";
  }
  expect_no_strays("store_v1", example_events());
}

TEST(Golden, EveryMessageHasAnExample) {
  std::set<std::size_t> from_worker;
  for (const auto& example : examples_from_worker()) {
    from_worker.insert(example.value.index());
  }
  EXPECT_EQ(from_worker.size(), std::variant_size_v<proto::FromWorker>);
  std::set<std::size_t> from_daemon;
  for (const auto& example : examples_from_daemon()) {
    from_daemon.insert(example.value.index());
  }
  EXPECT_EQ(from_daemon.size(), std::variant_size_v<proto::FromDaemon>);
}

}  // namespace
}  // namespace hpsearch::test
