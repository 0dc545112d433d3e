#include "hpsearch/workers/core/launch/run_as.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "hpsearch/jobs/fields/remote_input.hpp"
#include "hpsearch/jobs/fields/remote_storage.hpp"
#include "hpsearch/workers/core/adapters/determined/determined_launch.hpp"

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::Result;
using jobs::LaunchSpec;

namespace {

/// The part of the launch for which the worker would need root's rights over a user's program; "" = none.
std::string needs_root(const LaunchSpec& spec) {
  const jobs::JobContract& contract = spec.contract;
  if (!contract.image.empty() || !contract.gpu_image.empty()) {
    return "environment.image (" + (contract.image.empty() ? contract.gpu_image : contract.image) + ")";
  }
  if (!contract.bind_mounts.empty()) {
    return "bind_mounts";
  }
  if (needs_determined_harness(spec)) {
    return "a program for the Determined harness";
  }
  for (const std::string& place : {spec.checkpoint_root, spec.latest_checkpoint}) {
    if (jobs::is_remote(place)) {
      return "an object store (" + place + ")";
    }
  }
  for (const jobs::Channel& channel : contract.inputs) {
    if (!jobs::remote_input_scheme(channel.path).empty()) {
      return "inputs." + channel.name + " from an object store (" + channel.path + ")";
    }
  }
  return spec.launch.rank == jobs::RankLevel::process ? "launch.rank: process" : "";
}

Error refused(const std::string& why) {
  return Error{Errc::bad_request,
               "this worker runs programs as their submitter (--run-as submitter): " + why};
}

/// Variables for finding programs and for the language. None of them identifies a user.
constexpr std::string_view of_the_machine[] = {"PATH", "LANG", "LANGUAGE", "TZ"};
constexpr std::string_view of_the_language = "LC_";

bool is_of_the_machine(std::string_view name) {
  return name.starts_with(of_the_language) ||
         std::find(std::begin(of_the_machine), std::end(of_the_machine), name) != std::end(of_the_machine);
}

}  // namespace

Result<std::optional<UnixAccount>> account_for(const LaunchSpec& spec, const RunAs& run_as,
                                               const FindAccount& find) {
  if (!run_as.submitter) {
    return std::optional<UnixAccount>();
  }
  if (spec.unix_user.empty()) {
    return refused(
        "the experiment was submitted without a Unix user; submit it again with a token that has one "
        "(hpsearch "
        "token create --unix-user NAME)");
  }
  const Result<proto::UnixUser> user = proto::UnixUser::read(spec.unix_user);
  if (!user) {
    return refused(user.error().message);
  }
  if (const std::string what = needs_root(spec); !what.empty()) {
    return refused(what + " is not supported there; use a worker with --run-as worker");
  }
  Result<std::optional<UnixAccount>> account = find(*user);
  if (!account) {
    return account.error();
  }
  if (!account->has_value()) {
    return refused("this machine has no user " + user->name());
  }
  const std::uint64_t uid = (*account)->uid;
  if (uid == 0 || uid < run_as.min_uid) {
    return refused("user " + user->name() + " has uid " + std::to_string(uid) + "; it must be at least " +
                   std::to_string(std::max<std::uint64_t>(run_as.min_uid, 1)) +
                   (uid == 0 ? ", and never 0" : " (--min-uid)"));
  }
  const std::vector<std::uint64_t>& groups = (*account)->groups;
  if ((*account)->gid == 0 || std::find(groups.begin(), groups.end(), 0U) != groups.end()) {
    return refused("user " + user->name() + " is in the group of root (gid 0); remove the user from it");
  }
  return account;
}

std::map<std::string, std::string> environment_of(const UnixAccount& account,
                                                  const std::map<std::string, std::string>& workers,
                                                  const std::vector<std::string>& kept) {
  std::map<std::string, std::string> clean;
  for (const auto& [name, value] : workers) {
    if (is_of_the_machine(name) || std::find(kept.begin(), kept.end(), name) != kept.end()) {
      clean.emplace(name, value);
    }
  }
  clean["HOME"] = account.home;
  clean["USER"] = account.name;
  clean["LOGNAME"] = account.name;
  return clean;
}

}  // namespace hpsearch::workers
