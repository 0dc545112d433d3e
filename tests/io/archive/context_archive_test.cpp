#include "hpsearch/io/archive/context_archive.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <functional>

#include "scratch.hpp"

namespace hpsearch::context {
namespace {

namespace fs = std::filesystem;
using engine::Errc;

std::string packed(const fs::path& context) {
  const auto files = context_files(context);
  EXPECT_TRUE(files);
  auto bytes = pack(context, files->files);
  EXPECT_TRUE(bytes) << (bytes ? "" : bytes.error().message);
  return bytes ? *bytes : "";
}

void fill(const Scratch& scratch) {
  scratch.write("train.py", "print(1)\n");
  scratch.write("run.sh", "#!/bin/sh\n");
  scratch.write("数据/ünïcode " + std::string(200, 'x') + ".txt", std::string("\0\xFF", 2));
  scratch.write("deep/" + std::string(90, 'a') + "/" + std::string(90, 'b') + "/file", "");
  fs::permissions(scratch.path() / "run.sh", fs::perms::owner_all);
  fs::create_directory(scratch.path() / "empty");
  fs::create_symlink("../train.py", scratch.path() / "deep" / "link");
  fs::create_symlink("/data/mnist", scratch.path() / "data");
}

TEST(ContextArchive, IsUnpackedUnchanged) {
  const Scratch from;
  fill(from);
  const std::string bytes = packed(from.path());
  const Scratch to;
  const auto done = unpack(bytes, *files::Directory::open(to.path()));
  ASSERT_TRUE(done) << done.error().message;
  const auto went_in = context_files(from.path());
  const auto came_out = context_files(to.path());
  ASSERT_TRUE(went_in && came_out);
  ASSERT_EQ(went_in->files.size(), came_out->files.size());
  for (std::size_t i = 0; i < went_in->files.size(); ++i) {
    const ContextFile& in = went_in->files[i];
    const ContextFile& out = came_out->files[i];
    EXPECT_EQ(in.path, out.path);
    EXPECT_EQ(in.kind, out.kind) << in.path;
    EXPECT_EQ(in.executable, out.executable) << in.path;
    EXPECT_EQ(in.target, out.target) << in.path;
    if (in.kind == ContextFile::Kind::file) {
      EXPECT_EQ(from.read(in.path), to.read(in.path)) << in.path;
    }
  }
  EXPECT_EQ(packed(to.path()), bytes) << "a copy has the same name";
}

TEST(ContextArchive, TimesModesAndOwnersDoNotChangeIt) {
  const Scratch one;
  const Scratch other;
  fill(one);
  fill(other);
  fs::permissions(other.path() / "train.py", fs::perms::owner_read);
  fs::permissions(other.path() / "empty", fs::perms::owner_all);
  fs::last_write_time(other.path() / "train.py", fs::file_time_type::clock::now() - std::chrono::hours(100));
  EXPECT_EQ(packed(one.path()), packed(other.path()));
  other.write("train.py2", "");
  EXPECT_NE(packed(one.path()), packed(other.path()));
}

TEST(ContextArchive, GrowingFileIsPackedWithItsListedSize) {
  const Scratch scratch;
  scratch.write("log", "1");
  const auto files = context_files(scratch.path());
  const auto before = pack(scratch.path(), files->files);
  scratch.write("log", "12");
  EXPECT_EQ(*pack(scratch.path(), files->files), *before);
}

TEST(ContextArchive, TruncatedFileIsRefusedByName) {
  const Scratch scratch;
  scratch.write("shrinking", "1");
  const auto files = context_files(scratch.path());
  scratch.write("shrinking", "");
  const auto shorter = pack(scratch.path(), files->files);
  ASSERT_FALSE(shorter);
  EXPECT_NE(shorter.error().message.find("shrinking"), std::string::npos) << shorter.error().message;
}

/// A malicious archive.
class Hostile {
 public:
  Hostile() : writer_(archive_write_new()) {
    archive_write_set_format_pax(writer_);
    archive_write_open(writer_, &bytes_, nullptr, &append, nullptr);
  }
  ~Hostile() { archive_write_free(writer_); }
  Hostile(const Hostile&) = delete;
  Hostile& operator=(const Hostile&) = delete;

  Hostile& add(const std::string& path, unsigned type = AE_IFREG, const std::string& text = "",
               const std::function<void(archive_entry*)>& more = {}) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, path.c_str());
    archive_entry_set_filetype(entry, type);
    archive_entry_set_perm(entry, 0777);
    archive_entry_set_size(entry, type == AE_IFREG ? static_cast<la_int64_t>(text.size()) : 0);
    if (type == AE_IFLNK) {
      archive_entry_set_symlink(entry, text.c_str());
    }
    if (more) {
      more(entry);
    }
    EXPECT_EQ(archive_write_header(writer_, entry), ARCHIVE_OK) << archive_error_string(writer_);
    if (type == AE_IFREG && !text.empty()) {
      archive_write_data(writer_, text.data(), text.size());
    }
    archive_entry_free(entry);
    return *this;
  }
  std::string bytes() {
    archive_write_close(writer_);
    return bytes_;
  }

 private:
  static la_ssize_t append(archive* /*writer*/, void* to, const void* bytes, std::size_t size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(bytes), size);
    return static_cast<la_ssize_t>(size);
  }
  std::string bytes_;
  archive* writer_;
};

void expect_refused(Hostile& made, const std::string& named) {
  const std::string bytes = made.bytes();
  const auto contents = contents_of(bytes);
  ASSERT_FALSE(contents) << named;
  EXPECT_EQ(contents.error().code, Errc::bad_request);
  EXPECT_NE(contents.error().message.find(named), std::string::npos) << contents.error().message;
  const Scratch scratch;
  fs::create_directory(scratch.path() / "to");
  EXPECT_FALSE(unpack(bytes, *files::Directory::open(scratch.path() / "to")));
  for (const fs::directory_entry& outside : fs::directory_iterator(scratch.path())) {
    EXPECT_EQ(outside.path().filename(), "to") << "written outside";
  }
}

TEST(HostileArchive, NamesThatLeadOutAreRefused) {
  for (const char* name : {"../evil", "/evil", "a/../../evil", "..", "./evil", "a//b", "."}) {
    Hostile made;
    expect_refused(made.add(name, AE_IFREG, "x"), name);
  }
}

TEST(HostileArchive, NamesTooLongForFileSystemsAreRefused) {
  Hostile name;
  expect_refused(name.add(std::string(256, 'n'), AE_IFREG, "x"), "no worker can store");
  Hostile path;
  std::string deep;
  for (int i = 0; i < 13; ++i) {
    deep += (deep.empty() ? "" : "/") + std::string(250, 'd');
    path.add(deep, AE_IFDIR);
  }
  expect_refused(path, "no worker can store");
  Hostile target;
  expect_refused(target.add("link", AE_IFLNK, std::string(4'096, 't')), "no worker can store");
  Hostile fits;
  EXPECT_TRUE(contents_of(fits.add(std::string(255, 'n'), AE_IFREG, "x").bytes()));
}

TEST(HostileArchive, NothingIsWrittenThroughALink) {
  Hostile through;
  expect_refused(through.add("out", AE_IFLNK, "/tmp").add("out/evil", AE_IFREG, "x"), "out/evil");
  Hostile over;
  expect_refused(over.add("out", AE_IFLNK, "/tmp/evil").add("out", AE_IFREG, "x"), "out");
  Hostile relative;
  expect_refused(relative.add("a", AE_IFDIR).add("a/out", AE_IFLNK, "../../evil"), "a/out");
}

TEST(HostileArchive, OnlyDirectoriesFilesAndLinksAreAccepted) {
  for (const unsigned type :
       {static_cast<unsigned>(AE_IFCHR), static_cast<unsigned>(AE_IFBLK), static_cast<unsigned>(AE_IFIFO)}) {
    Hostile made;
    expect_refused(made.add("device", type), "device");
  }
  Hostile hard;
  expect_refused(hard.add("a", AE_IFREG, "x")
                     .add("b", AE_IFREG, "",
                          [](archive_entry* entry) {
                            archive_entry_unset_size(entry);
                            archive_entry_set_hardlink(entry, "a");
                          }),
                 "\"b\"");
}

TEST(HostileArchive, HolesAreRefused) {
  Hostile made;
  made.add("huge", AE_IFREG, "x", [](archive_entry* entry) {
    archive_entry_set_size(entry, la_int64_t{1} << 40);
    archive_entry_sparse_add_entry(entry, (la_int64_t{1} << 40) - 1, 1);
  });
  expect_refused(made, "huge");
}

TEST(HostileArchive, TruncatedBytesAndGarbageAreRefused) {
  const Scratch from;
  from.write("a", std::string(2'000, 'x'));
  from.write("b", "y");
  const std::string bytes = packed(from.path());
  const Scratch to;
  EXPECT_FALSE(contents_of(bytes.substr(0, 1'000)));
  EXPECT_FALSE(unpack(bytes.substr(0, 1'000), *files::Directory::open(to.path())));
  EXPECT_FALSE(
      contents_of("this is no archive, but it is long enough to be looked at: " + std::string(1'000, '.')));
}

}  // namespace
}  // namespace hpsearch::context
