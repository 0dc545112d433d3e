#pragma once

#include <string>
#include <vector>

#include "daemon/alloc/backend.hpp"
#include "daemon/alloc/kubernetes/api_client.hpp"
#include "daemon/alloc/kubernetes/pod_request.hpp"

namespace hpsearch::daemon {

/// Kubernetes, in which an allocation is a Job with one pod for each worker.
///
/// A Job is named by its allocation, so a repeated submission finds the Job of the first.
class Kubernetes final : public Backend {
 public:
  /// `name_space`: "" = that of the daemon's own access.
  Kubernetes(std::string name_space, std::uint64_t cluster,
             kubernetes::AccessPlaces places = kubernetes::usual_places());

  [[nodiscard]] std::string name() const override { return "Kubernetes"; }
  [[nodiscard]] engine::Status check_settings(const engine::QueueSettings& settings) const override;
  [[nodiscard]] std::vector<JobFile> files_of(const JobOrder& order) const override;
  [[nodiscard]] std::string submission_text(const JobOrder& order) const override;
  [[nodiscard]] std::string cancel_text(const std::string& job) const override;
  [[nodiscard]] bool may_submit_again() const override { return true; }
  [[nodiscard]] bool has_output_elsewhere() const override { return true; }
  [[nodiscard]] JobSubmission submit(const JobOrder& order) override;
  [[nodiscard]] engine::Result<std::vector<BackendJob>> list() override;
  [[nodiscard]] engine::Status cancel(const std::string& job) override;
  [[nodiscard]] BackendCheck check(const JobOrder& order) override;
  void fetch_output(const std::string& job, const std::string& directory) override;

 private:
  /// bad_request, wrong_state: there is no access, or no namespace has that name.
  [[nodiscard]] engine::Result<std::string> name_space() const;
  /// "/apis/batch/v1/namespaces/N/jobs"
  [[nodiscard]] engine::Result<std::string> path_of(const std::string& group, const std::string& kind) const;
  [[nodiscard]] engine::Result<engine::Value::List> list_pods(const std::string& more = "") const;
  /// The Job's uid: of a new one, or of the one that an earlier submission has made.
  [[nodiscard]] engine::Result<std::string> create_job(const JobOrder& order,
                                                       const kubernetes::PodRequest& pod,
                                                       JobSubmission& refusal) const;
  void create_secret(const JobOrder& order, const std::string& uid, JobSubmission& submission);

  std::string name_space_;
  std::uint64_t cluster_;
  kubernetes::ApiClient client_;
};

}  // namespace hpsearch::daemon
