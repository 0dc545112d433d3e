#include "dialects/pai/pai_dialect.hpp"

#include <optional>

#include "dialects/pai/component_section.hpp"

namespace hpsearch::jobs {

namespace {

class PaiDialect : public Dialect {
 public:
  void translate(Value& tree, Findings& findings) override { component_ = use_component(tree, findings); }

  void check_space(const Space& space, Findings& findings) const override {
    if (component_) {
      check_component(*component_, space, findings);
    }
  }

  void check_program(const ExperimentConfig& config, const Program& program,
                     Findings& findings) const override {
    if (component_) {
      check_resources(*component_, config.resources, program.resources.is_single_node, findings);
    }
  }

 private:
  std::optional<Component> component_;  ///< None if the submission has no component, or a wrong one.
};

}  // namespace

std::unique_ptr<Dialect> make_pai_dialect() {
  return std::make_unique<PaiDialect>();
}

}  // namespace hpsearch::jobs
