#include "imported_text.hpp"
#include "messages.hpp"

namespace hpsearch::jobs {
namespace {

const std::string tuning = R"yaml(
apiVersion: trainer.kubeflow.org/v1alpha1
kind: OptimizationJob
metadata: {name: tune-digits}
spec:
  objectives: [{metric: val_loss, direction: Minimize}]
  searchAlgorithm: {random: {seed: 11}}
  numTrials: 20
  parallelTrials: 4
  parameters:
    - {name: lr, searchSpace: {logUniform: {min: "0.0001", max: "0.1"}}}
    - {name: layers, searchSpace: {uniform: {min: "1", max: "4", type: Int}}}
    - {name: optimizer, searchSpace: {categorical: {choices: [sgd, adam]}}}
  trainJobTemplate:
    spec:
      runtimeRef: {name: torch-distributed}
      trainer:
        image: example.org/digits:1
        command: [python3, train.py, "--lr=$(KUBEFLOW_TRAINER_OPT_lr)", --epochs=5]
        env: [{name: DATA, value: /data}]
        resourcesPerNode: {limits: {nvidia.com/gpu: 1, memory: 8Gi}}
)yaml";

TEST(OptimizationJob, BecomesAnExperiment) {
  const ImportedText made(tuning);
  EXPECT_EQ(made.at("name"), R"("tune-digits")");
  EXPECT_EQ(made.at("hyperparameters"),
            R"({"layers":{"maxval":4,"minval":1,"type":"int"},)"
            R"("lr":{"maxval":0.1,"minval":0.0001,"scale":"log","type":"double"},)"
            R"("optimizer":{"type":"categorical","vals":["sgd","adam"]}})");
  EXPECT_EQ(made.at("searcher"), R"({"max_concurrent_trials":4,"max_length":{"epochs":5},"max_trials":20,)"
                                 R"("metric":"val_loss","name":"random","smaller_is_better":true})");
  EXPECT_EQ(made.at("reproducibility"), R"({"experiment_seed":11})");
  EXPECT_EQ(made.at("environment"),
            R"({"environment_variables":{"DATA":"/data"},"image":"example.org/digits:1"})");
  EXPECT_MESSAGE(made.remarks());
}

TEST(OptimizationJob, ProgramGetsItsVariables) {
  const std::string entrypoint = ImportedText(tuning).at("entrypoint");
  for (const char* word :
       {R"(["env",)", R"("KUBEFLOW_TRAINER_OPT_lr={lr}")", R"("KUBEFLOW_TRAINER_OPT_LR={lr}")",
        R"("KUBEFLOW_TRAINER_OPT_layers={layers}")", R"("python3","train.py","--lr={lr}","--epochs=5"])"}) {
    EXPECT_NE(entrypoint.find(word), std::string::npos) << word << " is not in " << entrypoint;
  }
}

TEST(OptimizationJob, HasOneTrialByDefault) {
  const ImportedText made(replaced(replaced(tuning, "  numTrials: 20\n", ""), "  parallelTrials: 4\n", ""));
  EXPECT_EQ(made.at("searcher.max_trials"), "1");
  EXPECT_EQ(made.at("searcher.max_concurrent_trials"), "1");
}

TEST(OptimizationJob, GridHasEachCombination) {
  const std::string first = replaced(tuning, "{random: {seed: 11}}", "{grid: {}}");
  EXPECT_EQ(ImportedText(first).at("searcher.name"), R"("grid")");
}

TEST(OptimizationJob, WithoutACommandKeepsItsVariables) {
  const ImportedText made(replaced(
      tuning, "        command: [python3, train.py, \"--lr=$(KUBEFLOW_TRAINER_OPT_lr)\", --epochs=5]\n", ""));
  EXPECT_NE(made.at("entrypoint").find(R"("KUBEFLOW_TRAINER_OPT_lr={lr}")"), std::string::npos);
  EXPECT_MESSAGE(made.remarks("entrypoint"));
}

TEST(OptimizationJob, PodHasWhatTheTrainerSays) {
  EXPECT_EQ(ImportedText(tuning).pod_template(),
            R"({"spec":{"containers":[{"image":"example.org/digits:1","name":"node",)"
            R"("resources":{"limits":{"memory":"8Gi","nvidia.com/gpu":1}}}]}})");
}

TEST(OptimizationJob, IsRefusedWithFieldValueAndWhatIsAllowed) {
  EXPECT_MESSAGE(refusal(replaced(tuning, "direction: Minimize", "direction: minimize")));
  EXPECT_MESSAGE(refusal(replaced(tuning, "[{metric: val_loss, direction: Minimize}]", "[]")));
  EXPECT_MESSAGE(refusal(replaced(tuning, "numTrials: 20", "numTrials: 0")));
  EXPECT_MESSAGE(refusal(replaced(tuning, "logUniform: {min", "log: {min")));
  EXPECT_MESSAGE(refusal(replaced(tuning, "  numTrials: 20\n", "  trialConfig: {numTrials: 20}\n")));
}

}  // namespace
}  // namespace hpsearch::jobs
