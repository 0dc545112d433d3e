#include "daemon/blobs/checkpoint_archive.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <utility>

#include "hpsearch/io/files/links.hpp"
#include "hpsearch/proto/encoding/utf8.hpp"

namespace hpsearch::daemon {
namespace {

namespace fs = std::filesystem;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using files::Directory;
using proto::manifest_name;

/// The path is relative, normalized, and stays inside.
bool stays_inside(const fs::path& path) {
  return !path.empty() && path.is_relative() && path == path.lexically_normal() && *path.begin() != ".." &&
         path.has_filename() && path != ".";
}

Error damaged(const Directory& checkpoint, const std::string& what) {
  return Error{Errc::wrong_state, "the checkpoint " + checkpoint.name().string() + " is damaged: " + what};
}

Result<struct ::stat> status_of_file(const Directory& directory, const std::string& path) {
  const Result<files::Descriptor> file = directory.file(path);
  if (!file) {
    return file.error();
  }
  struct ::stat status {};
  if (::fstat(file->get(), &status) != 0) {
    return directory.failed("cannot read", path, errno);
  }
  return status;
}

}  // namespace

Result<proto::CheckpointManifest> read_manifest_of(const Directory& checkpoint,
                                                   engine::ExperimentId experiment,
                                                   engine::TrialNumber trial) {
  const auto text = checkpoint.read(manifest_name, proto::largest_manifest);
  if (!text) {
    return text.error().code == Errc::not_found
               ? damaged(checkpoint, std::string("it has no ") + manifest_name)
               : text.error();
  }
  auto manifest = proto::read_manifest(*text);
  if (!manifest) {
    return damaged(checkpoint, manifest.error().message);
  }
  if (manifest->experiment != experiment || manifest->trial != trial) {
    return damaged(checkpoint, std::string(manifest_name) + " is that of trial " +
                                   std::to_string(manifest->trial.number()) + " of experiment " +
                                   std::to_string(manifest->experiment.number()));
  }
  for (const proto::ManifestEntry& entry : manifest->files) {
    if (!stays_inside(entry.path) || (!entry.link && !entry.bytes)) {
      return damaged(checkpoint,
                     std::string(manifest_name) + " lists \"" + proto::to_utf8(entry.path) + "\"");
    }
  }
  return manifest;
}

Result<files::TarArchive> archive_of_checkpoint(Directory checkpoint,
                                                const proto::CheckpointManifest& manifest,
                                                const std::string& top) {
  const auto opened = std::make_shared<const Directory>(std::move(checkpoint));
  // The worker writes the manifest last.
  const Result<struct ::stat> list = status_of_file(*opened, manifest_name);
  if (!list) {
    return list.error();
  }
  files::TarArchive archive(list->st_mtim.tv_sec);
  const auto add_file = [&](const std::string& path, std::uint64_t size) -> Status {
    const Result<struct ::stat> found = status_of_file(*opened, path);
    if (!found) {
      return found.error().code == Errc::unavailable ? found.error()
                                                     : damaged(*opened, found.error().message);
    }
    if (static_cast<std::uint64_t>(found->st_size) != size) {
      return damaged(*opened, path + " has " + std::to_string(found->st_size) + " bytes and not " +
                                  std::to_string(size));
    }
    archive.add_file(top + "/" + path, {opened, path, size}, (found->st_mode & S_IXUSR) != 0);
    return engine::Done{};
  };
  for (const proto::ManifestEntry& entry : manifest.files) {
    if (!entry.link) {
      if (const Status added = add_file(entry.path, *entry.bytes); !added) {
        return added.error();
      }
      continue;
    }
    const Result<std::string> target = opened->link_target(entry.path);
    if (!target || *target != *entry.link) {
      return damaged(*opened, entry.path + " is not the link that it was");
    }
    if (files::leads_inside(entry.path, *target)) {
      archive.add_link(top + "/" + entry.path, *target);
    }
  }
  if (const Status added = add_file(manifest_name, static_cast<std::uint64_t>(list->st_size)); !added) {
    return added.error();
  }
  archive.end();
  return archive;
}

}  // namespace hpsearch::daemon
