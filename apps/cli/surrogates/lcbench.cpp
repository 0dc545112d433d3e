#include "cli/surrogates/lcbench.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::surrogates {
namespace {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Value;

constexpr Eigen::Index width = 128;  // Width of the residual stream.
constexpr Eigen::Index gated = 455;  // Inner width of a block.
constexpr float tiny = 1e-12F;       // Added to a value before its logarithm.

using Matrix = Eigen::MatrixXf;
using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Weights = Eigen::Map<const RowMajor>;
using Vector = Eigen::Map<const Eigen::VectorXf>;

struct Hyperparameter {
  const char* name;
  double lowest;
  double highest;
  bool whole;
};
constexpr Hyperparameter hyperparameters[] = {
    {"batch_size", 16, 512, true},      {"learning_rate", 1e-4, 0.1, false}, {"momentum", 0.1, 0.99, false},
    {"weight_decay", 1e-5, 0.1, false}, {"num_layers", 1, 5, true},          {"max_units", 64, 1024, true},
    {"max_dropout", 0, 1, false},
};

Error corrupt(const std::string& what) {
  return Error{Errc::corrupt, "the surrogate's manifest: " + what};
}

std::string text_at(const Value& map, std::string_view key) {
  const Value* value = map.at_path(key);
  return value != nullptr && value->as_text() != nullptr ? *value->as_text() : "";
}
double number_at(const Value& map, std::string_view key) {
  const Value* value = map.at_path(key);
  return value == nullptr ? std::nan("") : value->number_or(std::nan(""));
}
std::span<const Value> list_at(const Value& map, std::string_view key) {
  const Value* value = map.at_path(key);
  return value != nullptr && value->as_list() != nullptr ? std::span<const Value>(*value->as_list())
                                                         : std::span<const Value>();
}

/// Offsets of the arrays by name; an array counts as missing unless it has exactly the expected number of
/// floats.
class Arrays {
 public:
  Arrays(const Value& manifest, std::size_t total) {
    for (const Value& array : list_at(manifest, "arrays")) {
      const double offset = number_at(array, "offset");
      const double count = number_at(array, "count");
      if (offset >= 0 && count >= 0 && offset + count <= static_cast<double>(total)) {
        known_[text_at(array, "name")] = {static_cast<std::size_t>(offset), static_cast<std::size_t>(count)};
      }
    }
  }

  std::size_t offset_of(const std::string& name, Eigen::Index count) {
    const auto found = known_.find(name);
    if (found == known_.end() || found->second.second != static_cast<std::size_t>(count)) {
      missing_ = missing_.empty() ? name : missing_;
      return 0;
    }
    return found->second.first;
  }

  [[nodiscard]] const std::string& missing() const noexcept { return missing_; }

 private:
  std::map<std::string, std::pair<std::size_t, std::size_t>> known_;
  std::string missing_;
};

std::vector<float> read_floats(std::span<const std::byte> bytes) {
  std::vector<float> floats(bytes.size() / sizeof(float));
  std::memcpy(floats.data(), bytes.data(), floats.size() * sizeof(float));
  static_assert(std::endian::native == std::endian::little, "the weights are little-endian");
  return floats;
}

}  // namespace

Result<LcBench> LcBench::read(std::string_view manifest_text, std::span<const std::byte> weights) {
  const Result<Value> manifest = proto::parse_json(manifest_text);
  if (!manifest) {
    return corrupt(manifest.error().message);
  }
  const double total = number_at(*manifest, "total_floats");
  if (!(total * sizeof(float) == static_cast<double>(weights.size()))) {
    return Error{Errc::corrupt, "the surrogate's weights have " + std::to_string(weights.size()) +
                                    " bytes, which is not what the manifest says"};
  }
  LcBench model;
  model.weights_ = read_floats(weights);
  for (const Value& instance : list_at(*manifest, "instances")) {
    model.instances_.push_back(Instance{text_at(instance, "id"), text_at(instance, "name"),
                                        number_at(instance, "best"), number_at(instance, "median52"),
                                        number_at(instance, "mean_full_seconds")});
  }
  const std::span<const Value> inputs = list_at(*manifest, "inputs");
  const std::span<const Value> outputs = list_at(*manifest, "outputs");
  if (inputs.size() != model.inputs_.size() || outputs.size() != model.outputs_.size() ||
      model.instances_.empty()) {
    return corrupt("it must have 8 inputs, 6 outputs and at least one instance");
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Value* log = inputs[i].at_path("log");
    model.inputs_[i] = Scaling{log != nullptr && log->as_bool() != nullptr && *log->as_bool(),
                               static_cast<float>(number_at(inputs[i], "sub")),
                               static_cast<float>(number_at(inputs[i], "div"))};
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    model.outputs_[i] =
        Shaping{text_at(outputs[i], "act") == "exp", static_cast<float>(number_at(outputs[i], "mul")),
                static_cast<float>(number_at(outputs[i], "add"))};
  }
  Arrays arrays(*manifest, model.weights_.size());
  const auto instances = static_cast<Eigen::Index>(model.instances_.size());
  model.first_w_ = arrays.offset_of("first_w", width * 8);
  model.instance_bias_ = arrays.offset_of("instance_bias", width * instances);
  for (std::size_t i = 0; i < model.widen_.size(); ++i) {
    const std::string block = "block" + std::to_string(i) + "_";
    model.widen_[i] = {arrays.offset_of(block + "a", 2 * gated * width),
                       arrays.offset_of(block + "abias", 2 * gated)};
    model.narrow_[i] = {arrays.offset_of(block + "b", width * gated),
                        arrays.offset_of(block + "bbias", width)};
  }
  model.last_scale_ = arrays.offset_of("last_scale", width);
  model.last_shift_ = arrays.offset_of("last_shift", width);
  model.head_ = {arrays.offset_of("head_w", 6 * width), arrays.offset_of("head_bias", 6)};
  if (!arrays.missing().empty()) {
    return corrupt("the array " + arrays.missing() + " is missing or has another size");
  }
  return model;
}

std::optional<std::size_t> LcBench::find(std::string_view id_or_name) const noexcept {
  for (std::size_t i = 0; i < instances_.size(); ++i) {
    if (instances_[i].id == id_or_name || instances_[i].name == id_or_name) {
      return i;
    }
  }
  return std::nullopt;
}

void LcBench::evaluate(std::size_t instance, const Configuration& configuration, std::uint64_t first_epoch,
                       std::span<Epoch> out) const {
  HPSEARCH_CHECK(instance < instances_.size(), "an instance the model knows");
  const auto columns = static_cast<Eigen::Index>(out.size());
  const auto scaled = [this](std::size_t input, float value) {
    const Scaling& scaling = inputs_[input];
    return ((scaling.log ? std::log(value + tiny) : value) - scaling.sub) / scaling.div;
  };
  Matrix features(8, columns);
  for (std::size_t i = 0; i < configuration.size(); ++i) {
    features.row(static_cast<Eigen::Index>(i + 1))
        .setConstant(scaled(i + 1, static_cast<float>(configuration[i])));
  }
  for (Eigen::Index i = 0; i < columns; ++i) {
    features(0, i) = scaled(0, static_cast<float>(first_epoch + static_cast<std::uint64_t>(i)));
  }
  const float* w = weights_.data();
  Matrix h = Weights(w + first_w_, width, 8) * features;
  h.colwise() += Vector(w + instance_bias_ + instance * static_cast<std::size_t>(width), width);
  Matrix z(2 * gated, columns);
  Matrix u(gated, columns);
  for (std::size_t i = 0; i < widen_.size(); ++i) {
    z.noalias() = Weights(w + widen_[i].weights, 2 * gated, width) * h;
    z.colwise() += Vector(w + widen_[i].bias, 2 * gated);
    u.array() = z.topRows(gated).array() * z.bottomRows(gated).array().max(0.0F);
    h.noalias() += Weights(w + narrow_[i].weights, width, gated) * u;
    h.colwise() += Vector(w + narrow_[i].bias, width);
  }
  h = ((h.array().colwise() * Vector(w + last_scale_, width).array()).colwise() +
       Vector(w + last_shift_, width).array())
          .max(0.0F)
          .matrix();
  Matrix p = Weights(w + head_.weights, 6, width) * h;
  p.colwise() += Vector(w + head_.bias, 6);
  for (Eigen::Index i = 0; i < columns; ++i) {
    float value[6];
    for (std::size_t k = 0; k < 6; ++k) {
      const float squashed = 1.0F / (1.0F + std::exp(-p(static_cast<Eigen::Index>(k), i)));
      const float linear = squashed * outputs_[k].mul + outputs_[k].add;
      value[k] = outputs_[k].exponential ? std::exp(linear) - tiny : linear;
    }
    out[static_cast<std::size_t>(i)] = Epoch{value[0], value[1], value[2], value[3], value[4], value[5]};
  }
}

Value LcBench::space() {
  const auto log = [](double lowest, double highest) {
    return Value::Map{
        {"type", "log"}, {"base", 10.0}, {"minval", std::log10(lowest)}, {"maxval", std::log10(highest)}};
  };
  const auto real = [](double lowest, double highest) {
    return Value::Map{{"type", "double"}, {"minval", lowest}, {"maxval", highest}};
  };
  // Half a unit more at both ends, so that the outermost integers get their whole share after rounding.
  return Value::Map{{"batch_size", log(15.5, 512.5)},
                    {"learning_rate", log(1e-4, 0.1)},
                    {"momentum", real(0.1, 0.99)},
                    {"weight_decay", real(1e-5, 0.1)},
                    {"num_layers", Value::Map{{"type", "int"}, {"minval", 1}, {"maxval", 5}}},
                    {"max_units", log(63.5, 1024.5)},
                    {"max_dropout", real(0.0, 1.0)}};
}

Result<LcBench::Configuration> LcBench::configuration_of(const Value& hparams) {
  Configuration configuration{};
  for (std::size_t i = 0; i < configuration.size(); ++i) {
    const Hyperparameter& wanted = hyperparameters[i];
    const Value* value = hparams.at_path(wanted.name);
    const double number = value == nullptr ? std::nan("") : value->number_or(std::nan(""));
    constexpr double slack = 1 + 1e-9;  // 10^log10(0.1) may be slightly above 0.1.
    double settled = wanted.whole ? std::round(number) : number;
    if (wanted.whole && number * slack >= wanted.lowest - 0.5 && number <= (wanted.highest + 0.5) * slack) {
      settled = std::min(std::max<double>(settled, wanted.lowest), static_cast<double>(wanted.highest));
    }
    if (!(settled * slack >= wanted.lowest && settled <= wanted.highest * slack)) {
      const auto bound = [&](double at) {
        return wanted.whole ? std::to_string(std::lround(at)) : std::to_string(at);
      };
      return Error{Errc::bad_request,
                   "the surrogate needs the hyperparameter " + std::string(wanted.name) + ", a number from " +
                       bound(wanted.lowest) + " to " + bound(wanted.highest) +
                       (value == nullptr ? "; it is missing" : ", not " + engine::compact_json(*value))};
    }
    configuration[i] = settled;
  }
  return configuration;
}

}  // namespace hpsearch::surrogates
