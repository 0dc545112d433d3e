#include "daemon/store/postgresql/database_url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using testing::HasSubstr;
using testing::Not;

TEST(DatabaseUrl, IsMeantByItsScheme) {
  EXPECT_TRUE(DatabaseUrl::is_meant("postgresql://db/hpsearch"));
  EXPECT_TRUE(DatabaseUrl::is_meant("postgres://db/hpsearch"));
  EXPECT_FALSE(DatabaseUrl::is_meant("/var/lib/hpsearch"));
  EXPECT_FALSE(DatabaseUrl::is_meant(""));
}

TEST(DatabaseUrl, PasswordsAreRefusedWithTheCureAndNotRepeated) {
  for (const char* text :
       {"postgresql://me:hunter2@db/hpsearch", "postgresql://me:@db/hpsearch",
        "postgresql://db/hpsearch?password=hunter2",
        "postgresql://db/hpsearch?sslmode=require&password=hunter2",
        "postgresql://db/hpsearch?sslpassword=hunter2", "postgresql://db/hpsearch?p%61ssword=hunter2"}) {
    const auto read = DatabaseUrl::read(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Errc::bad_request) << text;
    EXPECT_THAT(read.error().message, HasSubstr("~/.pgpass")) << text;
    EXPECT_THAT(read.error().message, Not(HasSubstr("hunter2"))) << text;
  }
}

TEST(DatabaseUrl, AddressesWithoutPasswordsAreRead) {
  for (const char* text : {"postgresql://hpsearch@db.example.org:5433/hpsearch", "postgresql:///hpsearch",
                           "postgresql://a,b/hpsearch?sslmode=verify-full", "postgres://?service=hpsearch",
                           "postgresql://[::1]:5432/hpsearch", "postgresql:///x?host=/run/postgresql"}) {
    const auto read = DatabaseUrl::read(text);
    ASSERT_TRUE(read) << text << ": " << read.error().message;
    EXPECT_EQ(read->text(), text);
    EXPECT_EQ(password_problem(text), "") << text;
  }
}

TEST(DatabaseUrl, UnknownOptionIsRefused) {
  const auto read = DatabaseUrl::read("postgresql://db/hpsearch?sslmod=require");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Errc::bad_request);
  EXPECT_THAT(read.error().message, HasSubstr("sslmod"));
}

}  // namespace
}  // namespace hpsearch::daemon
