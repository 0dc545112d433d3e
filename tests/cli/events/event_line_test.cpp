#include "cli/events/event_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "messages.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;
using sentences::EventStory;
using testing::MatchesRegex;

Value event(std::string type, Value::Map fields = {}) {
  fields["type"] = std::move(type);
  fields["lsn"] = 3;
  fields["at"] = 100.0;
  fields["experiment"] = 1;
  return fields;
}

TEST(EventLine, BeginsWithTheLocalTime) {
  EventStory story("epochs", "loss");
  const auto line = event_line(story, event("experiment_paused"));
  EXPECT_THAT(line.text, MatchesRegex("..:..:..  the experiment is paused"));
  EXPECT_FALSE(line.trouble);
}

TEST(EventLine, UnknownEventIsImportant) {
  EventStory story("epochs", "loss");
  const auto line = event_line(story, event("experiment_painted"));
  EXPECT_TRUE(line.trouble);
  EXPECT_MESSAGE(line.text);
}

TEST(EventLine, HasNoControlCharacters) {
  EventStory story("epochs", "loss");
  const auto line =
      event_line(story, event("experiment_ended", {{"state", "FAILED"}, {"reason", "\x1b[2Jgone"}}));
  EXPECT_MESSAGE(line.text);
}

TEST(EventLine, HiddenEventHasNoLine) {
  EventStory story("epochs", "loss");
  EXPECT_EQ(event_line(story, event("trial_exited_early", {{"trial", 1}, {"exit", "errored"}})).text, "");
}

}  // namespace
}  // namespace hpsearch::cli
