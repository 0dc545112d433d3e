#include "cli/client/daemon_files.hpp"

#include <cerrno>
#include <utility>

#include "cli/render/text.hpp"
#include "hpsearch/io/files/directory.hpp"
#include "hpsearch/io/files/file_bytes.hpp"
#include "hpsearch/io/files/links.hpp"
#include "hpsearch/io/files/sha256.hpp"
#include "hpsearch/proto/wire/file_offer.hpp"

namespace hpsearch::cli {
namespace {

namespace fs = std::filesystem;
using engine::Done;
using engine::Value;
using files::Directory;

struct RemoteFile {
  proto::OfferedFile file;
  std::uint64_t worker = 0;
};

Outcome<std::vector<RemoteFile>> files_in(const Outcome<Value>& answer) {
  if (!answer) {
    return answer.failure();
  }
  std::vector<RemoteFile> all;
  proto::FileOffer checked;
  for (const Value& entry : list_at(*answer, "files")) {
    RemoteFile one;
    one.file.path = text_at(entry, "path");
    one.file.bytes = count_at(entry, "bytes");
    one.file.digest = text_at(entry, "digest");
    one.file.link = text_at(entry, "link");
    const Value* const executable = entry.at_path("executable");
    one.file.executable = executable != nullptr && executable->as_bool() != nullptr && *executable->as_bool();
    one.worker = count_at(entry, "worker");
    checked.files.push_back(one.file);
    all.push_back(std::move(one));
  }
  if (const engine::Status good = proto::check(checked); !good) {
    return plain_failure("the daemon's answer is wrong: " + good.error().message);
  }
  return all;
}

Outcome<Done> fetch(const Client& client, const std::string& target, const RemoteFile& remote,
                    const Directory& to) {
  const proto::OfferedFile& file = remote.file;
  const auto made = to.create(file.path, file.executable ? 0777 : 0666);
  if (!made) {
    return plain_failure(made.error().message);
  }
  files::Sha256 digest;
  for (std::uint64_t offset = 0; offset < file.bytes;) {
    const Outcome<std::string> piece =
        client.get_bytes(target + "/" + file.digest + "?worker=" + std::to_string(remote.worker), offset,
                         proto::most_piece_bytes);
    if (!piece) {
      return piece.failure();
    }
    if (piece->empty() || piece->size() > file.bytes - offset) {
      return plain_failure(file.path + " is damaged at the daemon: it has another size there");
    }
    if (!files::write_all(made->get(), *piece)) {
      return plain_failure(to.failed("cannot write", file.path, errno).message);
    }
    digest.update(*piece);
    offset += piece->size();
  }
  if (digest.hex() != file.digest) {
    return plain_failure(file.path + " is damaged at the daemon: its SHA-256 is another one");
  }
  return Done{};
}

Outcome<Done> place(const Client& client, const std::string& target, const RemoteFile& remote,
                    const Directory& to) {
  const fs::path path(remote.file.path);
  if (path.has_parent_path()) {
    if (const engine::Status made = to.make_directories(path.parent_path()); !made) {
      return plain_failure(made.error().message);
    }
  }
  if (remote.file.link.empty()) {
    return fetch(client, target, remote, to);
  }
  const engine::Status linked = to.make_link(remote.file.link, path);
  return linked ? Outcome<Done>(Done{}) : Outcome<Done>(plain_failure(linked.error().message));
}

}  // namespace

Outcome<Value> DaemonFiles::trials() const {
  return client_.get(experiment_target(experiment_, "/files"));
}

Outcome<Value> DaemonFiles::of_trial(std::uint64_t trial) const {
  return client_.get(experiment_target(experiment_, "/trials/" + std::to_string(trial) + "/files"));
}

Outcome<LinksLeftOut> DaemonFiles::save(std::uint64_t trial, const fs::path& to) const {
  const auto files = files_in(of_trial(trial));
  if (!files) {
    return files.failure();
  }
  LinksLeftOut left_out;
  for (const RemoteFile& remote : *files) {
    if (!remote.file.link.empty() && !files::leads_inside(remote.file.path, remote.file.link)) {
      left_out.push_back(remote.file.path);
    }
  }
  const std::string source =
      experiment_target(experiment_, "/trials/" + std::to_string(trial) + "/files.tar");
  const Outcome<Done> saved =
      fill_new_file(to, [&](const WritePiece& write) { return client_.read_bytes(source, write); });
  return saved ? Outcome<LinksLeftOut>(std::move(left_out)) : saved.failure();
}

Outcome<LinksLeftOut> DaemonFiles::copy(std::uint64_t trial, const fs::path& to) const {
  const auto files = files_in(of_trial(trial));
  if (!files) {
    return files.failure();
  }
  const std::string source = experiment_target(experiment_, "/trials/" + std::to_string(trial) + "/files");
  return fill_new_directory(to, [&](const Directory& into) -> Outcome<LinksLeftOut> {
    LinksLeftOut left_out;
    for (const RemoteFile& remote : *files) {
      if (!remote.file.link.empty() && !files::leads_inside(remote.file.path, remote.file.link)) {
        left_out.push_back(remote.file.path);
      } else if (const Outcome<Done> done = place(client_, source, remote, into); !done) {
        return done.failure();
      }
    }
    return left_out;
  });
}

}  // namespace hpsearch::cli
