#include "daemon/store/files/placed_files.hpp"

#include <utility>

#include "daemon/store/tools/store_seal.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

std::string log_of(const std::string& database) {
  return database + "-wal";
}

Status check_one(FileSystem& files, const std::string& path, FileIdentity written) {
  const auto there = files.identity(path);
  if (there && *there == written) {
    return Done{};
  }
  const std::string what = there                                   ? path + " was replaced"
                           : there.error().code == Errc::not_found ? path + " was removed or renamed"
                                                                   : there.error().message;
  return Error{Errc::corrupt, what + " while this daemon wrote to it"};
}

}  // namespace

Result<PlacedFiles> PlacedFiles::now(FileSystem& files, const std::string& database) {
  const auto of_database = files.identity(database);
  const auto of_log = files.identity(log_of(database));
  if (!of_database || !of_log) {
    return of_database ? of_log.error() : of_database.error();
  }
  return PlacedFiles(files, database, *of_database, *of_log);
}

Status PlacedFiles::check() const {
  Status checked = check_one(*files_, database_, of_database_);
  return checked ? check_one(*files_, log_of(database_), of_log_) : checked;
}

std::string second_name_of(const std::string& database) {
  return StoreSeal::directory_of(database) + "/" + database.substr(database.rfind('/') + 1);
}

Status add_second_names(FileSystem& files, const std::string& database) {
  const std::string second = second_name_of(database);
  const bool linked = files.link(database, second) && files.link(log_of(database), log_of(second));
  if (!linked) {
    files.remove(second);
    files.remove(log_of(second));
  }
  return files.sync_directory(StoreSeal::directory_of(database));
}

}  // namespace hpsearch::daemon
