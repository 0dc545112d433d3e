#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/sim/curves.hpp"

namespace hpsearch::surrogates {

/// The effect of seven hyperparameters of a small neural network on 26 data sets, epoch by epoch: a network
/// that was fitted to the learning curves of LCBench (Zimmer, Lindauer, Hutter: "Auto-PyTorch Tabular", TPAMI
/// 2021), as the YAHPO Gym surrogate of it (Pfisterer et al., AutoML-Conf 2022). Here it is only evaluated,
/// in float32.
///
/// Owns:    its weights, 2 MiB.
/// Threads: const calls may run together.
/// Cost:    about a million multiplications per epoch; epochs of one curve together are several times cheaper
///          than one by one.
class LcBench {
 public:
  static constexpr std::uint64_t epochs = 52;

  /// A data set and statistics of the network on it.
  struct Instance {
    std::string id;                ///< Its id in OpenML: "167168".
    std::string name;              ///< "vehicle".
    double best = 0;               ///< Highest validation accuracy found for any configuration, in per cent.
    double median52 = 0;           ///< Median of random configurations after 52 epochs.
    double mean_full_seconds = 0;  ///< Mean time to train a random configuration for 52 epochs.
  };

  /// In this order: batch_size, learning_rate, momentum, weight_decay, num_layers, max_units, max_dropout.
  using Configuration = std::array<double, 7>;

  /// The network's prediction for one epoch.
  struct Epoch {
    float time = 0;  ///< Seconds since the training began; may decrease.
    float val_accuracy = 0;
    float val_cross_entropy = 0;
    float val_balanced_accuracy = 0;
    float test_cross_entropy = 0;
    float test_balanced_accuracy = 0;
  };

  /// Reads the manifest (JSON) and the weights (little-endian float32) that it describes. corrupt: with what
  /// is wrong with them.
  [[nodiscard]] static engine::Result<LcBench> read(std::string_view manifest,
                                                    std::span<const std::byte> weights);

  [[nodiscard]] const std::vector<Instance>& instances() const noexcept { return instances_; }
  /// Its index in instances(), by id or by name.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view id_or_name) const noexcept;

  /// Epochs first_epoch … first_epoch + out.size() - 1 of one training. Epochs count from 1.
  void evaluate(std::size_t instance, const Configuration& configuration, std::uint64_t first_epoch,
                std::span<Epoch> out) const;

  /// The space that LCBench was sampled from, as the `hyperparameters` of an experiment. LCBench has batch
  /// size and units as whole numbers on a log scale; here they are reals that the curves round, with the same
  /// probabilities.
  [[nodiscard]] static engine::Value space();

  /// The configuration in a trial's hyperparameters. bad_request: one is missing, not a number or outside the
  /// space.
  [[nodiscard]] static engine::Result<Configuration> configuration_of(const engine::Value& hparams);

 private:
  struct Layer {
    std::size_t weights = 0;  // Offsets into weights_.
    std::size_t bias = 0;
  };
  struct Scaling {
    bool log = false;
    float sub = 0;
    float div = 1;
  };
  struct Shaping {
    bool exponential = false;
    float mul = 1;
    float add = 0;
  };

  LcBench() = default;

  std::vector<float> weights_;
  std::vector<Instance> instances_;
  std::array<Scaling, 8> inputs_{};
  std::array<Shaping, 6> outputs_{};
  std::size_t first_w_ = 0;
  std::size_t instance_bias_ = 0;
  std::array<Layer, 3> widen_{};   // 128 -> 2 * 455
  std::array<Layer, 3> narrow_{};  // 455 -> 128
  std::size_t last_scale_ = 0;
  std::size_t last_shift_ = 0;
  Layer head_{};
};

/// Trainings on one data set of LCBench: the metric is validation accuracy in per cent (larger is better), a
/// unit of length is an epoch, and epoch e takes max(T(e) - T(e-1), 5 % of T(52) / 52) seconds, T being the
/// running maximum of the network's time. After 52 epochs nothing changes any more and an epoch takes the
/// minimum.
///
/// A trial's curve is computed when it is first needed (about 2 ms), and kept by the trial's number, so one
/// object serves one experiment, or several that give the same configuration to the same number.
class LcBenchCurves final : public engine::sim::Curves {
 public:
  LcBenchCurves(std::shared_ptr<const LcBench> model, std::size_t instance);
  ~LcBenchCurves() override;

  [[nodiscard]] engine::Status covers(const engine::sim::Training& training) override;
  [[nodiscard]] double metric(const engine::sim::Training& training, engine::Units length) override;
  [[nodiscard]] bool has_times() const noexcept override { return true; }
  [[nodiscard]] double seconds(const engine::sim::Training& training, engine::Units from,
                               engine::Units to) override;
  [[nodiscard]] std::optional<double> best() const override;

 private:
  struct Curve;
  const Curve& curve_of(const engine::sim::Training& training);

  std::shared_ptr<const LcBench> model_;
  std::size_t instance_;
  std::vector<Curve> curves_;  // By trial number.
};

}  // namespace hpsearch::surrogates
