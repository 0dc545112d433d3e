#pragma once

#include <cstddef>

namespace hpsearch::searchers::model {

/// Columns in memory of somebody else. Each begins at a multiple of 64 bytes (numbers.hpp): where memory
/// happened to lie must not show in last bits.
template <class T>
struct Columns {
  T* data = nullptr;
  std::size_t stride = 0;  ///< From one column to the next; a multiple of 8.
};
using Matrix = Columns<double>;
using ConstMatrix = Columns<const double>;

/// Some rows of the model: what their covariances with a point at one length depend on.
struct DenseRows {
  std::size_t features = 0;
  std::size_t count = 0;
  ConstMatrix scaled;                      ///< Features × rows: (x − ½)/ℓ.
  const double* norms = nullptr;           ///< Squared, of those columns.
  const double* length_factors = nullptr;  ///< F of each row with the point's length.
  const double* curve_parts = nullptr;     ///< T, likewise.
  double trend = 0;                        ///< σ4²
};

/// A fit's numbers. Rows are in the order of their levels (fidelities, each once). Of square matrices only
/// the lower halves are used.
struct DenseFit {
  std::size_t count = 0;
  std::size_t features = 0;
  std::size_t levels = 0;
  const std::size_t* level_ends = nullptr;  ///< One behind the last row of each level.
  const double* targets = nullptr;

  // Values of θ:
  ConstMatrix scaled;             ///< Rows × features: (x − ½)/ℓ.
  const double* kappa = nullptr;  ///< Levels × levels, as the next two.
  const double* kappa_slope = nullptr;
  const double* curve = nullptr;  ///< T
  double shared = 0;              ///< σ1²
  double specific = 0;            ///< σ2²
  double trend = 0;               ///< σ4²
  double noise = 0;               ///< On the diagonal.

  // Room: matrices of rows × rows, and vectors.
  Matrix q;      ///< Inner products of scaled rows.
  Matrix shape;  ///< M + P
  Matrix slope;  ///< (5/3)(1 + √5 r)e^{−√5 r}: −∂M/∂r / r.
  Matrix factor;
  Matrix inverse_factor;
  Matrix residual;  ///< Q = K⁻¹ − ααᵀ
  Matrix product;   ///< Rows × features.
  double* norms = nullptr;
  double* weights = nullptr;  ///< α
  double* sums = nullptr;
  double* some = nullptr;
};

/// Derivatives of a fit's value, by the logarithms that θ has (kernel.hpp); of `noise`, by the number itself.
struct DenseSlopes {
  double* scales = nullptr;  ///< One per feature.
  double shared = 0;
  double specific = 0;
  double fidelity_scale = 0;
  double curve = 0;
  double noise = 0;
  double trend = 0;
};

/// The model's linear algebra. It is compiled for every processor of the family and, on x86-64, once more for
/// those with AVX2 and FMA, which need less than half of the time; both give the same but for last bits.
struct Dense {
  const char* name = "";

  /// A lower half becomes its Cholesky factor; false when there is none.
  bool (*factorise)(Matrix covariance, std::size_t count);
  /// b := L⁻¹b, for some columns.
  void (*solve)(ConstMatrix factor, std::size_t count, Matrix b, std::size_t columns);
  /// b := L⁻ᵀb
  void (*solve_transposed)(ConstMatrix factor, std::size_t count, double* b);
  double (*squared)(const double* vector, std::size_t count);
  double (*dot)(const double* a, const double* b, std::size_t count);

  /// Covariances of the rows with some points (features × points, their squared norms), each a column.
  void (*covariances)(const DenseRows& rows, ConstMatrix points, const double* point_norms,
                      Matrix covariances, std::size_t points_count);
  /// For each column of covariances: its product with `weights` (of the first `weighted` rows), and the
  /// greatest share of variance that a single row explains.
  void (*glance)(ConstMatrix covariances, std::size_t count, std::size_t columns, const double* diagonal,
                 const double* weights, std::size_t weighted, double* means, double* explained);

  /// ½ yᵀK⁻¹y + ½ ln |K|; NaN where K has no factor.
  double (*fit_value)(const DenseFit& fit);
  /// Where the value was asked last.
  void (*fit_slopes)(const DenseFit& fit, DenseSlopes& slopes);
};

extern const Dense dense_everywhere;
#if defined(__x86_64__)
extern const Dense dense_avx2;
#endif

/// The fastest that this processor runs.
[[nodiscard]] const Dense& dense() noexcept;

}  // namespace hpsearch::searchers::model
