// Katib experiments as people have them in their repositories, each with one thing that differs.
#include "imported_text.hpp"
#include "messages.hpp"

namespace hpsearch::jobs {
namespace {

const std::string digits = R"(
apiVersion: kubeflow.org/v1beta1
kind: Experiment
metadata: {name: tune-digits, namespace: ml}
spec:
  objective:
    type: maximize
    goal: 0.99
    objectiveMetricName: Validation-accuracy
    additionalMetricNames: [loss]
  algorithm: {algorithmName: random}
  parallelTrialCount: 2
  maxTrialCount: 12
  maxFailedTrialCount: 3
  parameters:
    - {name: --lr, parameterType: double, feasibleSpace: {min: "0.01", max: "0.03"}}
    - {name: layers, parameterType: int, feasibleSpace: {min: "2", max: "5"}}
    - {name: optimizer, parameterType: categorical, feasibleSpace: {list: [sgd, adam]}}
  trialTemplate:
    primaryContainerName: training
    trialParameters:
      - {name: learningRate, reference: --lr}
      - {name: layers, reference: layers}
      - {name: opt, reference: optimizer}
    trialSpec:
      apiVersion: batch/v1
      kind: Job
      spec:
        template:
          spec:
            containers:
              - {name: side, image: example.org/proxy}
              - name: training
                image: example.org/digits:1
                command: [python3, /opt/train.py, --epochs=4, "--note={x}", "--lr=${trialParameters.learningRate}"]
                args: [--layers, "${trialParameters.layers}", "--optimizer=${trialParameters.opt}"]
            restartPolicy: Never
)";

const std::string command =
    R"(                command: [python3, /opt/train.py, --epochs=4, "--note={x}", "--lr=${trialParameters.learningRate}"]
                args: [--layers, "${trialParameters.layers}", "--optimizer=${trialParameters.opt}"]
)";

std::string with_container(const std::string& fields) {
  return replaced(digits, command, command + fields);
}

/// All parameters are in the command, so that nothing is noted about them.
std::string with_command(const std::string& line) {
  return replaced(digits, command, "                " + line + "\n");
}

std::string with_parameter(const std::string& parameter) {
  return replaced(digits, "  trialTemplate:", "    - " + parameter + "\n  trialTemplate:");
}

std::string with_spec(const std::string& fields) {
  return replaced(digits, "  parallelTrialCount: 2\n", "  parallelTrialCount: 2\n  " + fields + "\n");
}

std::string with_algorithm(const std::string& algorithm) {
  return replaced(digits, "algorithm: {algorithmName: random}", "algorithm: " + algorithm);
}

std::string with_job(const std::string& job) {
  const std::size_t at = digits.find("      apiVersion: batch/v1");
  return digits.substr(0, at) + job;
}

TEST(KatibExperiment, BecomesAnExperiment) {
  const ImportedText made(digits);
  EXPECT_EQ(made.at("name"), R"("tune-digits")");
  EXPECT_EQ(made.at("entrypoint"),
            R"(["python3","/opt/train.py","--epochs=4","--note={{x}}","--lr={lr}","--layers","{layers}",)"
            R"("--optimizer={optimizer}"])");
  EXPECT_EQ(made.at("hyperparameters"), R"({"layers":{"maxval":5,"minval":2,"type":"int"},)"
                                        R"("lr":{"maxval":0.03,"minval":0.01,"type":"double"},)"
                                        R"("optimizer":{"type":"categorical","vals":["sgd","adam"]}})");
  EXPECT_EQ(made.at("searcher"),
            R"({"max_concurrent_trials":2,"max_length":{"epochs":4},"max_trials":12,)"
            R"("metric":"Validation-accuracy","name":"random","smaller_is_better":false})");
  EXPECT_EQ(made.at("budget"), R"({"max_failed_trials":4,"target":0.99})") << "Katib fails above the number";
  EXPECT_EQ(made.at("environment"), R"({"image":"example.org/digits:1"})");
  EXPECT_EQ(made.at("resources"), "");
  EXPECT_EQ(made.at("launch"), "");
  EXPECT_MESSAGE(made.remarks());
}

TEST(KatibExperiment, HasThreeTrialsAtOnceByDefault) {
  EXPECT_EQ(
      ImportedText(replaced(digits, "  parallelTrialCount: 2\n", "")).at("searcher.max_concurrent_trials"),
      "3");
}

TEST(KatibExperiment, AsTheClusterPrintsItIsTheSame) {
  const std::string printed = replaced(digits, "metadata: {name: tune-digits, namespace: ml}",
                                       "metadata:\n  creationTimestamp: \"2026-01-05T10:00:00Z\"\n"
                                       "  generation: 1\n  name: tune-digits\n  namespace: ml\n"
                                       "  resourceVersion: \"4711\"\n  uid: 0d9c-11") +
                              "status:\n  trials: 3\n  conditions: [{type: Running, status: \"True\"}]\n";
  EXPECT_EQ(ImportedText(printed).at("searcher"), ImportedText(digits).at("searcher"));
  EXPECT_EQ(ImportedText(printed).remarks(), ImportedText(digits).remarks());
}

struct RangeCase {
  const char* name;
  const char* parameter;  ///< Without its name.
  const char* range;
  const char* remark;
};

class KatibParameter : public testing::TestWithParam<RangeCase> {};

TEST_P(KatibParameter, KeepsItsRange) {
  const ImportedText made(with_parameter("{name: x, " + std::string(GetParam().parameter) + "}"));
  EXPECT_EQ(made.at("hyperparameters.x"), GetParam().range);
  EXPECT_EQ(made.remarks("hyperparameters.x"), GetParam().remark);
}

INSTANTIATE_TEST_SUITE_P(
    Of, KatibParameter,
    testing::Values(
        RangeCase{"Double", R"(parameterType: double, feasibleSpace: {min: "0.5", max: "0.9"})",
                  R"({"maxval":0.9,"minval":0.5,"type":"double"})", ""},
        RangeCase{"UnquotedNumbers", "parameterType: double, feasibleSpace: {min: 0.5, max: 0.9}",
                  R"({"maxval":0.9,"minval":0.5,"type":"double"})", ""},
        RangeCase{"Steps", R"(parameterType: double, feasibleSpace: {min: "0.5", max: "0.9", step: "0.1"})",
                  R"({"maxval":0.9,"minval":0.5,"step":0.1,"type":"double"})", ""},
        RangeCase{"WholeSteps", R"(parameterType: int, feasibleSpace: {min: "50", max: "150", step: "10"})",
                  R"({"maxval":150,"minval":50,"step":10,"type":"int"})", ""},
        RangeCase{"OneValue", R"(parameterType: int, feasibleSpace: {min: "3", max: "3"})", "3", ""},
        RangeCase{"Discrete", R"(parameterType: discrete, feasibleSpace: {list: ["16", "0.5"]})",
                  R"({"type":"categorical","vals":[16,0.5]})", ""},
        RangeCase{"Categorical", R"(parameterType: categorical, feasibleSpace: {list: ["16", relu]})",
                  R"({"type":"categorical","vals":["16","relu"]})", ""},
        RangeCase{
            "LogUniform",
            R"(parameterType: double, feasibleSpace: {min: "1e-5", max: "1", distribution: logUniform})",
            R"({"maxval":1,"minval":1e-05,"scale":"log","type":"double"})", ""},
        RangeCase{"Normal",
                  R"(parameterType: double, feasibleSpace: {min: "0", max: "6", distribution: normal})",
                  R"({"maxval":6,"minval":0,"type":"double"})",
                  "was a normal distribution between these ends: searched evenly\n"},
        RangeCase{"LogNormal",
                  R"(parameterType: int, feasibleSpace: {min: "32", max: "64", distribution: logNormal})",
                  R"({"maxval":64,"minval":32,"scale":"log","type":"int"})",
                  "was a log-normal distribution between these ends: searched evenly in the logarithm\n"}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(KatibExperiment, DotsInANameBecomeGroups) {
  const ImportedText made(replaced(
      replaced(
          with_parameter(R"({name: model.depth, parameterType: int, feasibleSpace: {min: "1", max: "3"}})"),
          "      - {name: opt, ", "      - {name: depth, reference: model.depth}\n      - {name: opt, "),
      "args: [", "args: [\"${trialParameters.depth}\", "));
  EXPECT_EQ(made.at("hyperparameters.model"), R"({"depth":{"maxval":3,"minval":1,"type":"int"}})");
  EXPECT_NE(made.at("entrypoint").find("\"{model.depth}\""), std::string::npos);
}

struct AlgorithmCase {
  const char* name;
  const char* algorithm;
  const char* searcher;  ///< Name, sampler.
  bool is_kept = true;
};

class KatibAlgorithm : public testing::TestWithParam<AlgorithmCase> {};

TEST_P(KatibAlgorithm, HasASearcher) {
  const ImportedText made(with_algorithm(GetParam().algorithm));
  EXPECT_EQ(made.at("searcher.name") + " " + made.at("searcher.sampler"), GetParam().searcher);
  if (!GetParam().is_kept) {
    EXPECT_MESSAGE(made.remarks("searcher.name"));
  } else {
    EXPECT_EQ(made.remarks("searcher.name"), "");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, KatibAlgorithm,
    testing::Values(
        AlgorithmCase{"Random", "{algorithmName: random}", "\"random\" "},
        AlgorithmCase{"Grid", "{algorithmName: grid}", "\"grid\" "},
        AlgorithmCase{"Bayes", "{algorithmName: bayesianoptimization}", R"("random" "model")"},
        AlgorithmCase{"Tpe", "{algorithmName: tpe}", R"("random" "tpe")"},
        AlgorithmCase{"MultivariateTpe", "{algorithmName: multivariate-tpe}", R"("random" "tpe")"},
        AlgorithmCase{"Cmaes", "{algorithmName: cmaes}", "\"random\" ", false},
        AlgorithmCase{"Sobol", "{algorithmName: sobol}", "\"random\" ", false},
        AlgorithmCase{"OneOfTheirOwn", "{algorithmName: my-search}", "\"random\" ", false},
        AlgorithmCase{"Settings",
                      "{algorithmName: tpe, algorithmSettings: [{name: prior_weight, value: \"1.0\"}]}",
                      R"("random" "tpe")", false}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(KatibAlgorithm, KeepsTheSettingsThatHaveACounterpart) {
  const ImportedText tpe(
      with_algorithm("{algorithmName: tpe, algorithmSettings: [{name: gamma, value: \"0.2\"}, {name: "
                     "n_EI_candidates, value: "
                     "\"32\"}, {name: random_state, value: \"7\"}]}"));
  EXPECT_EQ(tpe.at("searcher.tpe"), R"({"candidates":32,"gamma":0.2})");
  EXPECT_EQ(tpe.at("reproducibility"), R"({"experiment_seed":7})");
  EXPECT_EQ(tpe.remarks("searcher.name"), "");
  const ImportedText bayes(with_algorithm(
      "{algorithmName: bayesianoptimization, algorithmSettings: [{name: n_initial_points, value: \"12\"}]}"));
  EXPECT_EQ(bayes.at("searcher.model"), R"({"initial_results":12})");
}

TEST(KatibAlgorithm, HyperbandTrainsToItsLongestResource) {
  const std::string epochs = R"({name: num-epochs, parameterType: int, feasibleSpace: {min: "1", max: "9"}})";
  const ImportedText made(
      replaced(with_parameter(epochs), "algorithm: {algorithmName: random}",
               "algorithm: {algorithmName: hyperband, algorithmSettings: [{name: "
               "resource_name, value: num-epochs}, {name: eta, value: \"3\"}, {name: r_l, "
               "value: \"9\"}]}"));
  EXPECT_EQ(made.at("searcher.name"), R"("adaptive_asha")");
  EXPECT_EQ(made.at("searcher.divisor"), "3");
  EXPECT_EQ(made.at("searcher.max_length"), R"({"epochs":9})");
  EXPECT_EQ(made.at("hyperparameters.num-epochs"), "9");
  EXPECT_MESSAGE(made.remarks("hyperparameters.num-epochs"));
}

TEST(KatibEarlyStopping, MedianRuleBecomesRungs) {
  const std::string rule =
      "earlyStopping: {algorithmName: medianstop, algorithmSettings: [{name: start_step, value: \"2\"}]}";
  const ImportedText made(with_spec(rule));
  EXPECT_EQ(made.at("searcher.name"), R"("adaptive_asha")");
  EXPECT_EQ(made.at("searcher.divisor"), "2");
  EXPECT_EQ(made.at("searcher.max_rungs"), "2") << "at 2 and 4 epochs";
  EXPECT_MESSAGE(made.remarks("searcher.name"));
  EXPECT_MESSAGE(ImportedText(with_spec("earlyStopping: {algorithmName: mine}")).remarks("searcher.name"));
}

TEST(KatibEarlyStopping, KeepsTheSampler) {
  const ImportedText made(
      replaced(with_algorithm("{algorithmName: tpe}"), "  parallelTrialCount: 2\n",
               "  parallelTrialCount: 2\n  earlyStopping: {algorithmName: medianstop}\n"));
  EXPECT_EQ(made.at("searcher.name"), R"("adaptive_asha")");
  EXPECT_EQ(made.at("searcher.sampler"), R"("tpe")");
}

TEST(KatibExperiment, LengthIsTheGreatestNumberOfEpochs) {
  const ImportedText made(replaced(
      with_parameter(R"({name: num-epochs, parameterType: int, feasibleSpace: {min: "3", max: "8"}})"),
      "--epochs=4, ", ""));
  EXPECT_EQ(made.at("searcher.max_length"), R"({"epochs":8})");
  EXPECT_MESSAGE(made.remarks("searcher.max_length"));
}

TEST(KatibObjective, LatestValueIsNoted) {
  const auto strategy = [](const char* value) {
    return ImportedText(replaced(digits, "    additionalMetricNames: [loss]",
                                 "    metricStrategies: [{name: Validation-accuracy, value: " +
                                     std::string(value) + "}]"))
        .remarks("searcher.metric");
  };
  EXPECT_EQ(strategy("max"), "");
  EXPECT_MESSAGE(strategy("latest"));
}

// --- Metrics ---

TEST(KatibMetrics, ArePrintedAsNameAndValue) {
  const ImportedText made(digits);
  const std::string accuracy = "Validation-accuracy";
  EXPECT_EQ(made.number_in(accuracy, "Validation-accuracy=0.91"), "0.91");
  EXPECT_EQ(
      made.number_in(accuracy, "2026-01-05T10:00:00Z INFO Train-accuracy=0.99 Validation-accuracy = 9.1e-1"),
      "9.1e-1");
  EXPECT_EQ(made.number_in(accuracy, "My-Validation-accuracy=0.5"), "") << "another metric";
  EXPECT_EQ(made.number_in("loss", "val_loss=0.5"), "");
  EXPECT_EQ(made.number_in("loss", "epoch 2: {loss=-0.5}"), "-0.5");
  EXPECT_EQ(made.remarks("metrics"), "what the program prints; a step is one such line\n");
}

TEST(KatibMetrics, KeepTheirFormat) {
  const ImportedText made(with_spec(
      R"(metricsCollectorSpec: {collector: {kind: StdOut}, source: {filter: {metricsFormat: ["{metricName: ([\\w|-]+), metricValue: ((-?\\d+)(\\.\\d+)?)}"]}}})"));
  EXPECT_EQ(made.number_in("loss", "{metricName: loss, metricValue: 0.25}"), "0.25");
  EXPECT_EQ(made.number_in("loss", "{metricName: val_loss, metricValue: 0.25}"), "");
  const ImportedText first(with_spec(
      R"x(metricsCollectorSpec: {collector: {kind: StdOut}, source: {filter: {metricsFormat: ["([\\w-]+): (\\d+\\.\\d+)", "x"]}}})x"));
  EXPECT_EQ(first.number_in("loss", "val_loss: 1.5, loss: 0.5"), "0.5");
  EXPECT_MESSAGE(first.remarks("metrics"));
}

TEST(KatibMetrics, JsonIsReadFromTheOutput) {
  const ImportedText made(
      with_spec("metricsCollectorSpec: {collector: {kind: File}, source: {fileSystemPath: "
                "{path: /katib/mnist.json, kind: File, format: JSON}}}"));
  EXPECT_EQ(made.number_in("loss", R"({"epoch":3,"loss":"0.125","timestamp":"2026-01-05T10:00:00Z"})"),
            "0.125");
  EXPECT_EQ(made.number_in("loss", R"({"val_loss":"0.5"})"), "");
  EXPECT_MESSAGE(made.remarks("metrics"));
}

TEST(KatibMetrics, OtherCollectorsAreNoted) {
  for (const char* kind : {"TensorFlowEvent", "PrometheusMetric", "Custom"}) {
    EXPECT_MESSAGE(
        ImportedText(with_spec("metricsCollectorSpec: {collector: {kind: " + std::string(kind) + "}}"))
            .remarks("metrics"));
  }
  const ImportedText pushed(with_spec("metricsCollectorSpec: {collector: {kind: Push}}"));
  EXPECT_EQ(pushed.at("metrics"), "");
  EXPECT_MESSAGE(pushed.remarks("searcher.metric"));
}

// --- The program ---

TEST(KatibProgram, LineForAShellStaysOne) {
  const ImportedText made(with_command(
      R"(command: [sh, -c, "cd /opt && python3 train.py --lr=${trialParameters.learningRate} --layers ${trialParameters.layers} --optimizer ${trialParameters.opt} | tee ${LOG}"])"));
  EXPECT_EQ(made.at("entrypoint"), R"(["sh","-c","cd /opt && python3 train.py --lr={lr} --layers {layers} )"
                                   R"(--optimizer {optimizer} | tee ${{LOG}}"])");
}

TEST(KatibProgram, VariableOfEachTrialIsSetByTheEntrypoint) {
  const std::string env =
      "                env: [{name: DATA, value: /data}, {name: LR, value: "
      "\"1 $ ${trialParameters.learningRate}\"}, {name: WHERE, value: \"$(DATA)/digits\"}]\n";
  const ImportedText words(with_container(env));
  EXPECT_EQ(words.at("environment.environment_variables"), R"({"DATA":"/data"})");
  EXPECT_EQ(words.at("entrypoint").substr(0, 64),
            R"(["env","LR=1 $ {lr}","WHERE=/data/digits","python3","/opt/train.)");
  const ImportedText line(
      replaced(with_container(env), "[python3, /opt/train.py, ", "[bash, -c, \"exec train $(LR)\", "));
  EXPECT_EQ(
      line.at("entrypoint").substr(0, 109),
      R"(["bash","-c","export LR=\"1 \\$ {lr}\"; export WHERE=\"/data/digits\"; exec train 1 $ {lr}","--epochs=4","--n)");
}

TEST(KatibProgram, FieldsOfTheClusterAreNoted) {
  const ImportedText made(
      with_container("                workingDir: /opt\n"
                     "                imagePullPolicy: Always\n"
                     "                env: [{name: TOKEN, valueFrom: {secretKeyRef: {name: t, key: v}}}, "
                     "{name: CUDA_VISIBLE_DEVICES, "
                     "value: \"0\"}]\n"
                     "                envFrom: [{configMapRef: {name: c}}]\n"
                     "                resources: {limits: {nvidia.com/gpu: 2, memory: 4Gi}}\n"
                     "                volumeMounts: [{name: data, mountPath: /data}]\n"));
  EXPECT_EQ(made.at("resources"), R"({"slots_per_trial":2})");
  EXPECT_EQ(made.at("environment.force_pull_image"), "true");
  EXPECT_MESSAGE(made.remarks());
}

TEST(KatibProgram, ArgumentsWithoutACommandAreNoted) {
  const ImportedText made(with_command(
      R"(args: ["${trialParameters.learningRate}", "${trialParameters.layers}", "${trialParameters.opt}"])"));
  EXPECT_EQ(made.at("entrypoint"), R"(["{lr}","{layers}","{optimizer}"])");
  EXPECT_MESSAGE(made.remarks("entrypoint"));
}

TEST(KatibProgram, ParameterElsewhereInTheJobIsNoted) {
  EXPECT_MESSAGE(ImportedText(replaced(replaced(digits, " \"--optimizer=${trialParameters.opt}\"", ""),
                                       "digits:1", "digits:${trialParameters.opt}"))
                     .remarks("entrypoint"));
}

TEST(KatibProgram, FactsAboutTheTrialAreReplaced) {
  const ImportedText made(replaced(replaced(digits, "      - {name: opt, ",
                                            "      - {name: n, reference: \"${trialSpec.Name}\"}\n"
                                            "      - {name: s, reference: \"${trialSpec.Namespace}\"}\n"
                                            "      - {name: opt, "),
                                   "args: [", "args: [\"${trialParameters.n}-${trialParameters.s}\", "));
  EXPECT_NE(made.at("entrypoint").find("\"{trial_id}-ml\""), std::string::npos);
  EXPECT_MESSAGE(made.remarks("entrypoint"));
}

TEST(KatibProgram, TemplateInAConfigMapIsNamed) {
  const ImportedText made(
      with_job("").replace(with_job("").find("    trialSpec:"), std::string::npos,
                           "    configMap: {configMapName: templates, configMapNamespace: "
                           "kubeflow, templatePath: digits.yaml}\n"));
  EXPECT_MESSAGE(made.remarks("entrypoint"));
}

// --- Jobs of several pods ---

std::string replicas(const char* kind, const char* field, const std::string& groups) {
  return with_job("      apiVersion: kubeflow.org/v1\n      kind: " + std::string(kind) +
                  "\n      spec:\n        runPolicy: {backoffLimit: 1}\n        " + field + ":\n" + groups);
}

std::string group(const char* role, int pods, const std::string& container = "name: training") {
  return "          " + std::string(role) + ":\n            replicas: " + std::to_string(pods) +
         "\n            template: {spec: {containers: [{" + container +
         ", image: i, command: [train, \"${trialParameters.learningRate}\", \"${trialParameters.layers}\", "
         "\"${trialParameters.opt}\"]}]}}\n";
}

TEST(KatibJob, SeveralPodsAreOneTrial) {
  const std::string gpus = "name: training, resources: {limits: {nvidia.com/gpu: 2}}";
  const ImportedText torch(
      replicas("PyTorchJob", "pytorchReplicaSpecs", group("Master", 1, gpus) + group("Worker", 2, gpus)));
  EXPECT_EQ(torch.at("launch"), R"({"kind":"pytorch"})");
  EXPECT_EQ(torch.at("resources"), R"({"slots_per_trial":6})");
  EXPECT_EQ(torch.at("max_restarts"), "1");
  EXPECT_MESSAGE(torch.remarks("launch.kind"));
  const ImportedText tensorflow(
      replicas("TFJob", "tfReplicaSpecs", group("PS", 1) + group("Worker", 2) + group("Evaluator", 1)));
  EXPECT_EQ(tensorflow.at("launch"), R"({"kind":"tensorflow","roles":{"evaluator":1,"ps":1}})");
  EXPECT_EQ(tensorflow.at("resources"), R"({"slots_per_trial":4})");
  EXPECT_MESSAGE(tensorflow.remarks("launch.kind"));
  const ImportedText mpi(replicas(
      "MPIJob", "mpiReplicaSpecs",
      group("Launcher", 1) + group("Worker", 3, "name: w, resources: {limits: {nvidia.com/gpu: 4}}")));
  EXPECT_EQ(mpi.at("launch"), R"({"kind":"mpi"})");
  EXPECT_EQ(mpi.at("resources"), R"({"slots_per_trial":12})");
  EXPECT_MESSAGE(mpi.remarks("launch.kind"));
  const ImportedText unknown(replicas("PaddleJob", "paddleReplicaSpecs", group("Worker", 2)));
  EXPECT_EQ(unknown.at("launch"), "");
  EXPECT_MESSAGE(unknown.remarks("resources.slots_per_trial"));
}

TEST(KatibJob, OnePodNeedsNoLaunchKind) {
  const ImportedText made(replicas("PyTorchJob", "pytorchReplicaSpecs", group("Master", 1)));
  EXPECT_EQ(made.at("launch"), "");
  EXPECT_EQ(made.at("resources"), "");
}

TEST(KatibJob, MasterIsPreferredToWorkers) {
  const std::string both =
      group("Worker", 1, "name: training, tty: true") + group("Master", 1, "name: training");
  const ImportedText made(replicas("PyTorchJob", "pytorchReplicaSpecs", both));
  EXPECT_EQ(made.remarks(""), "");
  const ImportedText labelled(replaced(replicas("PyTorchJob", "pytorchReplicaSpecs", both),
                                       "    trialParameters:",
                                       "    primaryPodLabels: {training.kubeflow.org/replica-type: worker}\n"
                                       "    trialParameters:"));
  EXPECT_NE(labelled.remarks(""), "");
}

TEST(KatibJob, TrainJobIsRead) {
  const ImportedText made(with_job(R"(      apiVersion: trainer.kubeflow.org/v1alpha1
      kind: TrainJob
      spec:
        runtimeRef: {name: torch-distributed}
        trainer:
          numNodes: 2
          image: example.org/digits:1
          command: [torchrun, train.py, "--lr=${trialParameters.learningRate}", "${trialParameters.layers}", "${trialParameters.opt}"]
          resourcesPerNode: {limits: {nvidia.com/gpu: "1"}}
)"));
  EXPECT_EQ(made.at("entrypoint"), R"(["torchrun","train.py","--lr={lr}","{layers}","{optimizer}"])");
  EXPECT_EQ(made.at("launch"), R"({"kind":"pytorch"})");
  EXPECT_EQ(made.at("resources"), R"({"slots_per_trial":2})");
  EXPECT_MESSAGE(made.remarks("launch.kind"));
}

// --- The pod template ---

TEST(KatibPodTemplate, IsThePodWithoutTheTrial) {
  const ImportedText made(
      replaced(with_container("                env: [{name: DATA, value: /data}, {name: TOKEN, valueFrom: "
                              "{secretKeyRef: {name: t, key: v}}}]\n"
                              "                resources: {limits: {nvidia.com/gpu: 2}}\n"),
               "        template:\n          spec:\n",
               "        template:\n          metadata: {creationTimestamp: null, labels: {team: vision}}\n   "
               "       spec:\n"
               "            nodeSelector: {gpu: h100}\n"));
  EXPECT_EQ(
      made.pod_template(),
      R"({"metadata":{"labels":{"team":"vision"}},"spec":{"containers":[{"image":"example.org/proxy","name":"side"},)"
      R"({"env":[{"name":"TOKEN","valueFrom":{"secretKeyRef":{"key":"v","name":"t"}}}],)"
      R"("image":"example.org/digits:1","name":"training","resources":{"limits":{"nvidia.com/gpu":2}}}],)"
      R"("nodeSelector":{"gpu":"h100"}}})");
}

// --- Files that are refused ---

TEST(KatibExperiment, IsRefusedWithFieldValueAndWhatIsAllowed) {
  EXPECT_MESSAGE(refusal(replaced(digits, "type: maximize", "type: highest")));
  EXPECT_MESSAGE(refusal(replaced(digits, "    objectiveMetricName: Validation-accuracy\n", "")));
  EXPECT_MESSAGE(refusal(replaced(digits, "goal: 0.99", "goal: high")));
  EXPECT_MESSAGE(refusal(with_algorithm("{}")));
  EXPECT_MESSAGE(refusal(with_algorithm("{algorithmName: pbt}")));
  EXPECT_MESSAGE(refusal(with_algorithm("{algorithmName: enas}")));
  EXPECT_MESSAGE(
      refusal(with_algorithm("{algorithmName: hyperband, algorithmSettings: [{name: r_l, value: x}]}")));
  EXPECT_MESSAGE(refusal(with_spec("nasConfig: {graphConfig: {numLayers: 8}}")));
  EXPECT_MESSAGE(refusal(replaced(digits, "maxTrialCount: 12", "maxTrialCount: 0")));
  EXPECT_MESSAGE(refusal(replaced(digits, "parallelTrialCount: 2", "parallelTrialCount: two")));
  EXPECT_MESSAGE(refusal(replaced(digits, "maxFailedTrialCount: 3", "maxFailedTrialCount: -1")));
  EXPECT_MESSAGE(refusal(replaced(digits, "parameterType: int", "parameterType: integer")));
  EXPECT_MESSAGE(refusal(replaced(digits, R"(min: "0.01")", R"(min: "a little")")));
  EXPECT_MESSAGE(refusal(replaced(digits, R"(min: "0.01", )", "")));
  EXPECT_MESSAGE(refusal(replaced(digits, R"(max: "0.03")", R"(max: "0.003")")));
  EXPECT_MESSAGE(refusal(replaced(digits, R"(max: "0.03")", R"(max: "0.03", step: "0")")));
  EXPECT_MESSAGE(refusal(replaced(digits, R"(max: "0.03")", R"(max: "0.03", distribution: zipf)")));
  EXPECT_MESSAGE(refusal(replaced(digits, "list: [sgd, adam]", "list: []")));
  EXPECT_MESSAGE(refusal(replaced(digits, "{name: layers, parameterType", "{parameterType")));
  EXPECT_MESSAGE(refusal(replaced(digits, "reference: --lr", "reference: rate")));
  EXPECT_MESSAGE(refusal(replaced(digits, "{name: learningRate,", "{name: rate,")));
  EXPECT_MESSAGE(refusal(replaced(digits, "primaryContainerName: training", "primaryContainerName: main")));
  EXPECT_MESSAGE(
      refusal(with_spec("metricsCollectorSpec: {collector: {kind: StdOut}, source: {filter: {metricsFormat: "
                        "[\"loss: (.*)\"]}}}")));
}

}  // namespace
}  // namespace hpsearch::jobs
