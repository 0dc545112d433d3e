#include "daemon/store/tools/whole_store.hpp"

#include <optional>
#include <utility>

#include "daemon/store/files/placed_files.hpp"
#include "daemon/store/sqlite_file.hpp"
#include "daemon/store/sqlite_schema.hpp"

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

bool is_there(FileSystem& files, const std::string& path) {
  return static_cast<bool>(files.identity(path));
}

Result<std::optional<StoreHead>> head_in(FileSystem& files, const std::string& database) {
  SqliteFile file;
  if (auto opened = file.open_untouched(database, files.sqlite_name()); !opened) {
    return opened.error();
  }
  const auto tables = file.number("SELECT count(*) FROM sqlite_schema");
  if (!tables || *tables == 0) {
    return tables ? Result<std::optional<StoreHead>>(std::nullopt) : tables.error();
  }
  if (auto ours = check_schema(file); !ours) {
    return ours.error();
  }
  const auto cluster = file.number("SELECT value FROM meta WHERE name = 'cluster'");
  const auto epoch = file.number("SELECT value FROM meta WHERE name = 'daemon_epoch'");
  const auto last = file.number("SELECT value FROM meta WHERE name = 'last_lsn'");
  for (const auto* number : {&cluster, &epoch, &last}) {
    if (!*number) {
      return number->error();
    }
  }
  return std::optional(StoreHead{*cluster, *epoch, engine::Lsn(*last)});
}

/// The progress according to a database and its log; null for one without a table.
Result<std::optional<StoreHead>> head_of(FileSystem& files, const std::string& database) {
  const auto size = files.size(database);
  if (!size || *size == 0) {  // SQLite would remove the log of an empty database.
    return size ? Result<std::optional<StoreHead>>(std::nullopt) : size.error();
  }
  const bool has_log = is_there(files, log_of(database));
  auto head = head_in(files, database);
  if (!has_log) {
    files.remove(log_of(database));  // SQLite has made an empty one, under a name that is not durable.
  }
  return head;
}

bool reaches(const StoreHead& found, const StoreHead& sealed) {
  return found.cluster == sealed.cluster && found.epoch >= sealed.epoch && found.last >= sealed.last;
}

std::string text_of(const StoreHead& head) {
  return "event " + std::to_string(head.last.number()) + " of start " + std::to_string(head.epoch);
}

/// A shell command that restores the content of the second names; "" if that is not everything.
std::string command_to_get_back(FileSystem& files, const std::string& database, const StoreHead& sealed) {
  const std::string second = second_name_of(database);
  if (!is_there(files, second) || !is_there(files, log_of(second))) {
    return "";
  }
  const auto held = head_of(files, second);
  if (!held || !*held || !reaches(**held, sealed)) {
    return "";
  }
  std::string command = "ln -f";
  for (const auto& [from, to] : {std::pair(second, database), std::pair(log_of(second), log_of(database))}) {
    const auto there = files.identity(to);
    if (!there || *there != *files.identity(from)) {
      command += " '" + from + "'";
    }
  }
  return command + " '" + database.substr(0, database.rfind('/') + 1) + "'";
}

/// The error `what`, with the remedy.
Error refused(FileSystem& files, const std::string& database, const StoreHead& sealed,
              const std::string& what) {
  const std::string directory = database.substr(0, database.rfind('/'));
  std::string message = what + ". Acknowledged was everything up to " + text_of(sealed) +
                        "; no file was changed. If you moved or replaced files, put them back";
  const std::string command = command_to_get_back(files, database, sealed);
  message += command.empty()
                 ? ". If they are lost, create a working state directory with: hpsearch store restore BACKUP "
                   "--to NEW, or with what is left: hpsearch store salvage " +
                       directory + " --to NEW"
                 : ", or get back all of it, which this directory still has, with: " + command;
  return Error{Errc::not_found, std::move(message)};
}

Error unsealed(const std::string& database, const std::string& what) {
  return Error{Errc::not_found,
               what + ": it is unknown whether " + database +
                   " has everything that was acknowledged. If you copied the store, copy its "
                   "whole directory, or run: hpsearch store restore " +
                   database + " --to NEW"};
}

}  // namespace

Status check_not_missing(FileSystem& files, const std::string& database) {
  if (is_there(files, database)) {
    return Done{};
  }
  const auto sealed = StoreSeal::read(files, database);
  if (sealed && *sealed) {
    return refused(files, database, **sealed, "the database " + database + " is missing");
  }
  const std::string left = sealed ? log_of(database) : StoreSeal::path_of(database);
  if (is_there(files, left)) {
    return Error{Errc::not_found, "the database " + database + " is missing, but there is " + left +
                                      ". Put the database back; if it is lost, move " + left +
                                      " away and run: hpsearch store restore BACKUP --to " +
                                      database.substr(0, database.rfind('/'))};
  }
  return Done{};
}

Status check_whole(FileSystem& files, const std::string& database) {
  if (auto there = check_not_missing(files, database); !there || !is_there(files, database)) {
    return there;
  }
  const auto sealed = StoreSeal::read(files, database);
  if (!sealed) {
    return sealed.error().code == Errc::corrupt ? unsealed(database, sealed.error().message) : sealed.error();
  }
  // Without the log, pages that were being moved into the database when the daemon was killed may be there in
  // part.
  if (*sealed && !(*sealed)->closed && !is_there(files, log_of(database))) {
    return refused(files, database, **sealed, "the write-ahead log " + log_of(database) + " is missing");
  }
  const auto found = head_of(files, database);
  if (!found) {
    // An older log makes no sense with a newer database; the log of the second name does.
    return *sealed && found.error().code == Errc::corrupt &&
                   !command_to_get_back(files, database, **sealed).empty()
               ? refused(files, database, **sealed, found.error().message)
               : found.error();
  }
  if (!*sealed) {
    return *found && (*found)->epoch > 0
               ? Status(unsealed(database, StoreSeal::path_of(database) + " is missing"))
               : Status(Done{});
  }
  if (!*found) {
    return refused(files, database, **sealed, "the database " + database + " is empty");
  }
  if ((*found)->cluster != (*sealed)->cluster) {
    return refused(files, database, **sealed, database + " is of another store than the one that was here");
  }
  if (!reaches(**found, **sealed)) {
    return refused(
        files, database, **sealed,
        database + " ends with " + text_of(**found) + ": it or its write-ahead log is an older one");
  }
  return Done{};
}

}  // namespace hpsearch::daemon
