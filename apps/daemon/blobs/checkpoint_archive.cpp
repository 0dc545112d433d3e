#include "daemon/blobs/checkpoint_archive.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <utility>

#include "daemon/blobs/tar_header.hpp"
#include "hpsearch/io/files/file_bytes.hpp"
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

std::uint64_t CheckpointArchive::Part::end() const noexcept {
  return begin + head.size() + padded_to_blocks(size);
}

void CheckpointArchive::add(Part part) {
  part.begin = bytes_;
  parts_.push_back(std::move(part));
  bytes_ = parts_.back().end();
}

Status CheckpointArchive::add_file(const std::string& path, std::uint64_t size) {
  const Result<struct ::stat> found = status_of_file(checkpoint_, path);
  if (!found) {
    return found.error().code == Errc::unavailable ? found.error()
                                                   : damaged(checkpoint_, found.error().message);
  }
  if (static_cast<std::uint64_t>(found->st_size) != size) {
    return damaged(checkpoint_, path + " has " + std::to_string(found->st_size) + " bytes and not " +
                                    std::to_string(size));
  }
  add({.head = tar_header({.path = top_ + "/" + path,
                           .bytes = size,
                           .is_executable = (found->st_mode & S_IXUSR) != 0,
                           .written_at = written_at_}),
       .path = path,
       .size = size});
  return engine::Done{};
}

Result<CheckpointArchive> CheckpointArchive::of(Directory checkpoint,
                                                const proto::CheckpointManifest& manifest, std::string top) {
  CheckpointArchive archive(std::move(checkpoint), std::move(top));
  // The worker writes the manifest last.
  const Result<struct ::stat> list = status_of_file(archive.checkpoint_, manifest_name);
  if (!list) {
    return list.error();
  }
  archive.written_at_ = std::max<std::int64_t>(list->st_mtim.tv_sec, 0);
  for (const proto::ManifestEntry& entry : manifest.files) {
    if (!entry.link) {
      if (const Status added = archive.add_file(entry.path, *entry.bytes); !added) {
        return added.error();
      }
      continue;
    }
    const Result<std::string> target = archive.checkpoint_.link_target(entry.path);
    if (!target || *target != *entry.link) {
      return damaged(archive.checkpoint_, entry.path + " is not the link that it was");
    }
    if (files::leads_inside(entry.path, *target)) {
      archive.add({.head = tar_header({.path = archive.top_ + "/" + entry.path,
                                       .link = *target,
                                       .written_at = archive.written_at_})});
    }
  }
  if (const Status added = archive.add_file(manifest_name, static_cast<std::uint64_t>(list->st_size));
      !added) {
    return added.error();
  }
  archive.add({.head = tar_end()});
  return archive;
}

Result<std::string> CheckpointArchive::read(std::uint64_t offset, std::size_t limit) const {
  const auto behind = std::upper_bound(parts_.begin(), parts_.end(), offset,
                                       [](std::uint64_t at, const Part& part) { return at < part.begin; });
  std::string bytes;
  for (auto part = behind == parts_.begin() ? behind : std::prev(behind);
       part != parts_.end() && bytes.size() < limit; ++part) {
    const std::uint64_t from = offset + bytes.size();
    std::uint64_t at = from - part->begin;
    if (at < part->head.size()) {
      bytes += part->head.substr(at, limit - bytes.size());
      at = part->head.size();
    }
    const std::uint64_t content_from = at - part->head.size();
    if (content_from < part->size && bytes.size() < limit) {
      const auto wanted = std::min<std::uint64_t>(part->size - content_from, limit - bytes.size());
      const auto file = files::OpenFile::of(checkpoint_, part->path);
      const Result<std::string> content =
          file ? file->read(content_from, wanted) : Result<std::string>(file.error());
      if (!content) {
        return content.error();
      }
      if (content->size() != wanted) {
        return Error{Errc::unavailable, (checkpoint_.name() / part->path).string() + " became shorter"};
      }
      bytes += *content;
    }
    const std::uint64_t reached = offset + bytes.size();
    if (bytes.size() < limit && reached < part->end()) {
      bytes.append(std::min<std::uint64_t>(part->end() - reached, limit - bytes.size()), '\0');
    }
  }
  return bytes;
}

}  // namespace hpsearch::daemon
