#include "hpsearch/io/archive/context_files.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "scratch.hpp"

namespace hpsearch::context {
namespace {

namespace fs = std::filesystem;

std::string listed(const fs::path& context) {
  const auto files = context_files(context);
  EXPECT_TRUE(files) << (files ? "" : files.error().message);
  std::string text;
  for (const ContextFile& file : files ? files->files : std::vector<ContextFile>()) {
    text += file.path + (file.kind == ContextFile::Kind::directory ? "/" : "") +
            (file.target.empty() ? "" : " -> " + file.target) + (file.executable ? "*" : "") + "\n";
  }
  return text;
}

TEST(ContextFiles, AreSortedWithDirectoriesBeforeTheirContent) {
  const Scratch scratch;
  for (const char* name : {"b", "a/y", "a/x", "a-b", "a.c/d"}) {
    scratch.write(name, "1");
  }
  fs::permissions(scratch.path() / "b", fs::perms::owner_all);
  EXPECT_EQ(listed(scratch.path()), "a/\na-b\na.c/\na.c/d\na/x\na/y\nb*\n");
  EXPECT_EQ(listed(scratch.path().string() + "/"), listed(scratch.path()));
}

TEST(ContextFiles, LeaveOutFilesThatAreNoSource) {
  const Scratch scratch;
  for (const char* name :
       {".git/config", ".hpsearch/x/run.json", "a/__pycache__/m.pyc", "state/lock", "state/events.db",
        "worker/lock", "worker/worker.json", "run/run.json", "run/worker/x", "kept/run.json"}) {
    scratch.write(name, "1");
  }
  ASSERT_EQ(::mkfifo((scratch.path() / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(listed(scratch.path()), "a/\nkept/\nkept/run.json\n");
}

TEST(ContextFiles, ListSecretsAndEnvironmentsAsLeftOutByDefault) {
  const Scratch scratch;
  for (const char* name : {".git/config", ".venv/bin/python", "venv/x", "a/node_modules/x", ".env", ".ssh/id",
                           "a/k.pem", "id_rsa", "id_ed25519.pub", "a/__pycache__/m.pyc", "train.py"}) {
    scratch.write(name, "1");
  }
  EXPECT_EQ(listed(scratch.path()), "a/\ntrain.py\n");
  EXPECT_THAT(context_files(scratch.path())->left_out,
              testing::ElementsAre(".env", ".git/", ".ssh/", ".venv/", "a/k.pem", "a/node_modules/",
                                   "id_ed25519.pub", "id_rsa", "venv/"));
  scratch.write(".hpsearchignore", "!.env\n!/a/k.pem\n!.venv\n");
  EXPECT_EQ(listed(scratch.path()),
            ".env\n.hpsearchignore\n.venv/\n.venv/bin/\n.venv/bin/python\na/\na/k.pem\ntrain.py\n");
  EXPECT_THAT(context_files(scratch.path())->left_out,
              testing::ElementsAre(".git/", ".ssh/", "a/node_modules/", "id_ed25519.pub", "id_rsa", "venv/"));
}

TEST(ContextFiles, OurIgnoreFilePrecedesDetermineds) {
  const Scratch scratch;
  scratch.write(".detignore", "*.py\n");
  scratch.write("train.py", "1");
  scratch.write("data/large", "1");
  EXPECT_EQ(listed(scratch.path()), ".detignore\ndata/\ndata/large\n");
  scratch.write(".hpsearchignore", "/data/\n");
  EXPECT_EQ(listed(scratch.path()), ".detignore\n.hpsearchignore\ntrain.py\n");
}

TEST(ContextFiles, LinkTargetsAreRelativeInsideAndAbsoluteOutside) {
  const Scratch scratch;
  scratch.write("c/a/file", "1");
  scratch.write("outside", "1");
  const fs::path context = scratch.path() / "c";
  fs::create_symlink("file", context / "a" / "near");
  fs::create_symlink(context / "a" / "file", context / "inside");
  fs::create_symlink("../../outside", context / "a" / "out");
  fs::create_symlink("/etc/hosts", context / "far");
  EXPECT_EQ(listed(context), "a/\na/file\na/near -> file\na/out -> " + scratch.path("outside") +
                                 "\nfar -> /etc/hosts\ninside -> a/file\n");
}

TEST(ContextFiles, MissingDirectoryIsReportedByName) {
  const Scratch scratch;
  const auto files = context_files(scratch.path() / "gone");
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().code, engine::Errc::not_found);
  EXPECT_NE(files.error().message.find(scratch.path("gone")), std::string::npos);
}

TEST(ContextSize, TooLargeContextNamesItsLargestFiles) {
  const auto file = [](const char* path, std::uint64_t bytes) {
    return ContextFile{ContextFile::Kind::file, path, bytes, false, {}};
  };
  const std::vector<ContextFile> files{file("a", 1), file("b", 900'000), file("c", 60'000),
                                       file("d", 50'000)};
  EXPECT_TRUE(check_size("it", files, 2));
  const auto said = check_size("it", files, 1);
  ASSERT_FALSE(said);
  EXPECT_NE(said.error().message.find("it holds 1 MB"), std::string::npos) << said.error().message;
  EXPECT_NE(said.error().message.find("largest files are b (0.9 MB), c (0.1 MB), d (0.1 MB)."),
            std::string::npos)
      << said.error().message;
  EXPECT_TRUE(check_size("it", {file("a", 1'000'000)}, 1)) << "the limit itself is taken";
}

}  // namespace
}  // namespace hpsearch::context
