// SPDX-License-Identifier: Apache-2.0
#include "graph/laplacian_solver.h"

#include <Spectra/SymEigsSolver.h>
#include <Spectra/Util/SimpleRandom.h>
#include <c10/util/Exception.h>

#include <Eigen/Eigenvalues>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

namespace geosft {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using SparseMatrix = Eigen::SparseMatrix<double>;

// Up to this many nodes, all eigenpairs are computed with a dense solver.
constexpr int64_t dense_nodes = 256;
// Residual of iterated eigenvectors, relative to the eigenvalue of the iterated operator.
constexpr double residual = 1e-11;
constexpr int64_t max_restarts = 300;
// Maximum number of further copies of a repeated eigenvalue that are computed beyond the requested eigenpairs.
constexpr int64_t max_copies = 64;
// Shift of L before it is inverted: the trivial eigenvalue must not be 0.
constexpr double shift = 1e-7;

// Compares eigenvalues up to rounding and the error of the iteration.
bool equal_values(double a, double b) {
  return std::abs(a - b) <= 1e-8 * std::max(a, b) + 1e-13;
}

Eigenpairs leading(const Eigenpairs& pairs, int64_t count) {
  return {pairs.values.head(count), pairs.vectors.leftCols(count)};
}

// Computes all non-trivial eigenpairs.
Eigenpairs solve_densely(const SparseMatrix& similarity, const VectorXd& trivial) {
  const int64_t n = similarity.rows();
  // Moves the trivial eigenvalue from 0 to 4, after all others.
  const MatrixXd laplacian = MatrixXd::Identity(n, n) - MatrixXd(similarity) + 4.0 * trivial * trivial.transpose();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(laplacian);
  TORCH_CHECK(solver.info() == Eigen::Success, "the eigenvalues of a graph of ", n, " nodes did not converge");
  return leading({solver.eigenvalues(), solver.eigenvectors()}, n - 1);
}

// An operator with the eigenvectors of L, in Spectra's interface; its largest eigenvalues are positive and correspond
// to the smallest ones of L. Known eigenvectors are projected out.
class Operator {
 public:
  using Scalar = double;
  Operator(const SparseMatrix& similarity, bool inverse) : similarity_(similarity) {
    if (!inverse) return;
    SparseMatrix laplacian(similarity.rows(), similarity.cols());
    laplacian.setIdentity();
    laplacian = (1.0 + shift) * laplacian - similarity;
    inverse_.emplace();
    inverse_->compute(laplacian);
    TORCH_CHECK(inverse_->info() == Eigen::Success, "the Laplacian of a graph of ", similarity.rows(),
                " nodes could not be factorised");
  }

  void remove(const MatrixXd& known) { known_ = known; }
  Eigen::Index rows() const { return similarity_.rows(); }
  Eigen::Index cols() const { return similarity_.cols(); }
  bool inverted() const { return inverse_.has_value(); }

  void perform_op(const double* in, double* out) const {
    const VectorXd x = projected(Eigen::Map<const VectorXd>(in, rows()));
    Eigen::Map<VectorXd>(out, rows()) = projected(inverted() ? VectorXd(inverse_->solve(x)) : similarity_ * x + x);
  }

  // Returns the Rayleigh quotient of L for a vector, more accurate than the eigenvalue of the iterated operator.
  double value(const VectorXd& vector) const { return 1.0 - vector.dot(similarity_ * vector); }

 private:
  VectorXd projected(const VectorXd& x) const { return x - known_ * (known_.transpose() * x); }

  const SparseMatrix& similarity_;
  std::optional<Eigen::SimplicialLDLT<SparseMatrix>> inverse_;
  MatrixXd known_;
};

// Computes the smallest eigenvectors of L that are not projected out; nullopt if the iteration does not converge.
std::optional<MatrixXd> iterate(Operator& op, int64_t known, int64_t count) {
  const int64_t n = op.rows();
  count = std::min(count, n - known);
  const int64_t basis = std::min(n, std::max<int64_t>(2 * count + 1, count + 30));
  Spectra::SymEigsSolver<Operator> solver(op, count, basis);
  // Each restart uses a new start vector. In the space of a repeated eigenvalue, the first round finds the direction of
  // its start vector; with the same vector a later round would find no other copy.
  const VectorXd start = Spectra::SimpleRandom<double>(1 + 7919 * static_cast<unsigned long>(known - 1)).random_vec(n);
  solver.init(start.data());
  const int64_t found = solver.compute(Spectra::SortRule::LargestAlge, max_restarts, residual);
  if (found < count) return std::nullopt;
  return solver.eigenvectors(count);
}

MatrixXd side_by_side(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd both(a.rows(), a.cols() + b.cols());
  both << a, b;
  return both;
}

// Sorts eigenpairs in ascending order; the vectors are the columns of `known` after its first.
Eigenpairs ascending(const std::vector<double>& values, const MatrixXd& known) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return values[a] < values[b]; });
  Eigenpairs pairs{VectorXd(order.size()), MatrixXd(known.rows(), order.size())};
  for (size_t c = 0; c < order.size(); ++c) {
    pairs.values[c] = values[order[c]];
    pairs.vectors.col(c) = known.col(order[c] + 1);
  }
  return pairs;
}

// Returns whether the last of `values`, the smallest one not found before, exceeds the `count` smallest.
bool complete(std::vector<double> values, int64_t count) {
  if (static_cast<int64_t>(values.size()) <= count) return false;
  const double last = values.back();
  std::nth_element(values.begin(), values.begin() + (count - 1), values.end());
  const double largest = values[count - 1];
  return last > largest && !equal_values(last, largest);
}

// Restarts Lanczos iterations with the eigenvectors found so far projected out, since one run finds only one or a few
// vectors of a repeated eigenvalue. Stops when no eigenvalue up to the last requested one appears.
std::optional<Eigenpairs> solve_iteratively(const SparseMatrix& similarity, const VectorXd& trivial, int64_t count,
                                            bool inverse) {
  Operator op(similarity, inverse);
  MatrixXd known = trivial;
  std::vector<double> values;
  const int64_t maximum = std::min(similarity.rows() - 1, count + max_copies);
  for (int64_t missing = count; static_cast<int64_t>(values.size()) < maximum && !complete(values, count);
       missing = 1) {
    op.remove(known);
    const std::optional<MatrixXd> found = iterate(op, known.cols(), missing);
    if (!found.has_value()) return std::nullopt;
    for (int64_t c = 0; c < found->cols(); ++c) values.push_back(op.value(found->col(c)));
    known = side_by_side(known, *found);
  }
  return ascending(values, known);
}

Eigenpairs solve(const SparseMatrix& similarity, const VectorXd& trivial, int64_t count) {
  const int64_t n = similarity.rows();
  if (n <= dense_nodes || 4 * count >= n) return solve_densely(similarity, trivial);
  for (const bool inverse : {false, true}) {
    const std::optional<Eigenpairs> pairs = solve_iteratively(similarity, trivial, count, inverse);
    if (pairs.has_value()) return *pairs;
  }
  TORCH_CHECK(false, "the ", count, " smallest eigenvalues of a graph of ", n, " nodes did not converge");
}

}  // namespace

MatrixXd canonical_basis(MatrixXd space) {
  MatrixXd basis(space.rows(), space.cols());
  for (int64_t c = 0; c < space.cols(); ++c) {
    const VectorXd closeness = space.rowwise().squaredNorm();
    // Rounding must not decide between rows that are equal by symmetry.
    const double enough = closeness.maxCoeff() * (1 - 1e-6);
    int64_t row = 0;
    while (closeness[row] < enough) ++row;
    basis.col(c) = (space * space.row(row).transpose()).normalized();
    space -= basis.col(c) * (basis.col(c).transpose() * space);
  }
  return basis;
}

Eigenpairs smallest_eigenpairs(const SparseMatrix& similarity, const VectorXd& trivial, int64_t count) {
  Eigenpairs pairs = solve(similarity, trivial, count);
  const int64_t found = pairs.values.size();
  for (int64_t begin = 0, end = 0; begin < std::min(count, found); begin = end) {
    while (end < found && equal_values(pairs.values[end], pairs.values[begin])) ++end;
    pairs.vectors.middleCols(begin, end - begin) = canonical_basis(pairs.vectors.middleCols(begin, end - begin));
  }
  return leading(pairs, count);
}

}  // namespace geosft
