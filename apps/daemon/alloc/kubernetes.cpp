#include "daemon/alloc/kubernetes.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "daemon/alloc/kubernetes/job_manifest.hpp"
#include "daemon/alloc/kubernetes/job_states.hpp"
#include "hpsearch/io/files/replace_file.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using engine::Value;
using kubernetes::ApiAnswer;
using kubernetes::PodRequest;
using Outcome = JobSubmission::Outcome;

constexpr std::size_t most_pod_log = std::size_t{64} * 1024;

bool is_namespace(std::string_view name) {
  return !name.empty() && name.size() <= 63 && name.front() != '-' && name.back() != '-' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

std::string text_under(const Value& value, std::initializer_list<std::string> keys) {
  const Value* found = value.at_keys(std::span(keys.begin(), keys.size()));
  return found == nullptr || found->as_text() == nullptr ? "" : *found->as_text();
}

/// The API has understood the request and does not carry it out, now or later.
bool refuses(const ApiAnswer& answer) {
  return answer.status >= 400 && answer.status < 500 && answer.status != 408 && answer.status != 429;
}

JobSubmission failed(const ApiAnswer& answer) {
  return {refuses(answer) ? Outcome::refused : Outcome::unknown, "", answer.problem()};
}

/// Without access nothing was sent; otherwise the answer may be lost.
JobSubmission failed(const Error& error) {
  return {error.code == Errc::unavailable ? Outcome::unknown : Outcome::refused, "", error.message};
}

}  // namespace

Kubernetes::Kubernetes(std::string name_space, std::uint64_t cluster, kubernetes::AccessPlaces places)
    : name_space_(std::move(name_space)), cluster_(cluster), client_(std::move(places)) {
}

Result<std::string> Kubernetes::name_space() const {
  if (!name_space_.empty()) {
    return name_space_;
  }
  const auto access = client_.access();
  return access ? Result<std::string>(access->name_space) : Result<std::string>(access.error());
}

Result<std::string> Kubernetes::path_of(const std::string& group, const std::string& kind) const {
  const auto space = name_space();
  return space ? Result<std::string>(group + "/namespaces/" + *space + "/" + kind) : space;
}

Status Kubernetes::check_settings(const engine::QueueSettings& settings) const {
  if (!name_space_.empty() && !is_namespace(name_space_)) {
    return Error{Errc::bad_request,
                 "the backend is \"kubernetes/" + name_space_ +
                     "\"; after / it must have the name of a namespace: lower-case letters, digits and -"};
  }
  const std::pair<const char*, const std::string&> lines_of_shell[] = {{"state-root", settings.state_root},
                                                                       {"before", settings.before},
                                                                       {"after", settings.after},
                                                                       {"wrap", settings.wrap}};
  for (const auto& [name, value] : lines_of_shell) {
    if (!value.empty()) {
      return Error{Errc::bad_request,
                   std::string("--") + name + " is \"" + value +
                       "\"; a pod has no shell for it: change the image, or use --pod-template"};
    }
  }
  const auto request = kubernetes::read_pod_request(settings.arguments);
  return request ? Status(Done{}) : Status(request.error());
}

std::vector<JobFile> Kubernetes::files_of(const JobOrder& order) const {
  const auto pod = kubernetes::read_pod_request(order.settings.arguments);
  return pod ? std::vector<JobFile>{{"job.json",
                                     proto::pretty_json(kubernetes::job_manifest(order, *pod)) + "\n"}}
             : std::vector<JobFile>{};
}

std::string Kubernetes::submission_text(const JobOrder&) const {
  const auto space = name_space();
  return "# kubectl create" + (space ? " --namespace " + *space : "") +
         " -f job.json, and then a Secret of the same name with the invite\n";
}

std::string Kubernetes::cancel_text(const std::string& job) const {
  const auto space = name_space();
  return "kubectl delete job" + (space ? " --namespace " + *space : "") + " " + job;
}

Result<std::string> Kubernetes::create_job(const JobOrder& order, const PodRequest& pod,
                                           JobSubmission& refusal) const {
  const auto path = path_of("/apis/batch/v1", "jobs");
  if (!path) {
    refusal = failed(path.error());
    return path.error();
  }
  auto answer = client_.ask("POST", *path, kubernetes::job_manifest(order, pod));
  if (answer && answer->status == 409) {
    answer = client_.ask("GET", *path + "/" + kubernetes::job_name(order.mark));
    if (answer && answer->succeeded() &&
        text_under(answer->content, {"metadata", "annotations", kubernetes::key_annotation}) !=
            order.mark.key) {
      refusal = {Outcome::refused, "",
                 "another Job has the name " + kubernetes::job_name(order.mark) +
                     ", as after a restored backup; kubectl delete job removes it"};
      return Error{Errc::conflict, refusal.problem};
    }
  }
  if (!answer || !answer->succeeded()) {
    refusal = answer ? failed(*answer) : failed(answer.error());
    return Error{Errc::unavailable, refusal.problem};
  }
  return text_under(answer->content, {"metadata", "uid"});
}

void Kubernetes::create_secret(const JobOrder& order, const std::string& uid, JobSubmission& submission) {
  std::ifstream file(order.directory + "/" + invite_file, std::ios::binary);
  const std::string invite{std::istreambuf_iterator<char>(file), {}};
  const auto path = path_of("/api/v1", "secrets");
  const auto answer = path ? client_.ask("POST", *path, kubernetes::secret_manifest(order, uid, invite))
                           : Result<ApiAnswer>(path.error());
  if (answer && (answer->succeeded() || answer->status == 409)) {
    return;
  }
  submission = answer ? failed(*answer) : failed(answer.error());
  if (submission.outcome == Outcome::refused) {  // Its pods would wait for the Secret for ever.
    static_cast<void>(cancel(kubernetes::job_name(order.mark)));
  }
}

JobSubmission Kubernetes::submit(const JobOrder& order) {
  const auto pod = kubernetes::read_pod_request(order.settings.arguments);
  if (!pod) {
    return {Outcome::refused, "", pod.error().message};
  }
  JobSubmission submission;
  const auto uid = create_job(order, *pod, submission);
  if (!uid) {
    return submission;
  }
  submission = {Outcome::taken, kubernetes::job_name(order.mark)};
  if (order.needs_invite) {
    create_secret(order, *uid, submission);
  }
  return submission;
}

Result<Value::List> Kubernetes::list_pods(const std::string& more) const {
  const auto path = path_of("/api/v1", "pods");
  const std::string selector = net::percent_encoded(kubernetes::label_selector(cluster_) + more);
  return path ? client_.list(*path, "labelSelector=" + selector) : Result<Value::List>(path.error());
}

Result<std::vector<BackendJob>> Kubernetes::list() {
  const auto path = path_of("/apis/batch/v1", "jobs");
  if (!path) {
    return path.error();
  }
  kubernetes::Listed listed;
  auto jobs =
      client_.list(*path, "labelSelector=" + net::percent_encoded(kubernetes::label_selector(cluster_)));
  if (!jobs) {
    return jobs.error();
  }
  listed.jobs = *std::move(jobs);
  if (listed.jobs.empty()) {
    return std::vector<BackendJob>();
  }
  auto pods = list_pods();
  if (!pods) {
    return pods.error();
  }
  listed.pods = *std::move(pods);
  if (kubernetes::needs_events(listed)) {
    for (const char* reason : {"FailedCreate", "FailedMount"}) {
      const auto events_path = path_of("/api/v1", "events");
      const auto events =
          events_path ? client_.list(*events_path,
                                     "fieldSelector=" + net::percent_encoded(std::string("reason=") + reason))
                      : Result<Value::List>(events_path.error());
      if (events) {  // They only explain.
        listed.events.insert(listed.events.end(), events->begin(), events->end());
      }
    }
  }
  return kubernetes::read_jobs(listed);
}

Status Kubernetes::cancel(const std::string& job) {
  const auto path = path_of("/apis/batch/v1", "jobs");
  if (!path) {
    return path.error();
  }
  // In the foreground the Job is listed until its pods have ended.
  const auto answer = client_.ask(
      "DELETE", *path + "/" + net::percent_encoded(job),
      Value::Map{{"kind", "DeleteOptions"}, {"apiVersion", "v1"}, {"propagationPolicy", "Foreground"}});
  if (!answer) {
    return answer.error();
  }
  return answer->succeeded() || answer->status == 404 ? Status(Done{})
                                                      : Error{Errc::unavailable, answer->problem()};
}

BackendCheck Kubernetes::check(const JobOrder& order) {
  const auto pod = kubernetes::read_pod_request(order.settings.arguments);
  const auto path = path_of("/apis/batch/v1", "jobs");
  const auto access = client_.access();
  if (!pod || !path || !access) {
    return {false, {!pod ? pod.error().message : !path ? path.error().message : access.error().message}};
  }
  const auto answer = client_.ask("POST", *path + "?dryRun=All&fieldValidation=Strict",
                                  kubernetes::job_manifest(order, *pod));
  if (!answer || !answer->succeeded()) {
    return {false,
            {"Kubernetes would not take the Job: " + (answer ? answer->problem() : answer.error().message)}};
  }
  const auto listed = list();
  if (!listed) {
    return {false, {"Kubernetes takes Jobs, but does not list them: " + listed.error().message}};
  }
  BackendCheck check{true,
                     {"Kubernetes at " + access->address + " would take the Job in the namespace " +
                      name_space().value() + "; nodes, quotas and images are checked when its pods start"}};
  if (!answer->warnings.empty()) {
    check.findings.push_back("Kubernetes warns: " + answer->warnings);
  }
  return check;
}

void Kubernetes::fetch_output(const std::string& job, const std::string& directory) {
  const auto path = path_of("/api/v1", "pods");
  const auto pods = list_pods(",batch.kubernetes.io/job-name=" + job);
  if (!path || !pods) {
    return;
  }
  for (const std::string& name : kubernetes::pods_of_job(*pods, job)) {
    const auto answer = client_.ask("GET", *path + "/" + name + "/log?tailLines=1000");
    if (answer && answer->succeeded() && !answer->text.empty() && name.find('/') == std::string::npos) {
      const std::string& text = answer->text;
      static_cast<void>(files::replace_file(directory + "/" + name + ".out",
                                            text.substr(text.size() - std::min(text.size(), most_pod_log)),
                                            files::Durability::of_the_process, files::Readers::owner));
    }
  }
}

}  // namespace hpsearch::daemon
