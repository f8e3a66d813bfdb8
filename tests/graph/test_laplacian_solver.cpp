// SPDX-License-Identifier: Apache-2.0
#include "graph/laplacian_solver.h"

#include <Eigen/QR>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/graph/graphs.h"

namespace geosft::test::test_laplacian_solver {

namespace {

constexpr double pi = 3.14159265358979323846;

struct Problem {
  Eigen::SparseMatrix<double> similarity;
  Eigen::VectorXd trivial;
  explicit Problem(const CsrGraph& graph) : similarity(graph.nodes(), graph.nodes()), trivial(graph.nodes()) {
    const at::Tensor degree = graph.rowptr.diff().to(at::kDouble), sources = edge_sources(graph);
    const double* degrees = degree.const_data_ptr<double>();
    std::vector<Eigen::Triplet<double>> entries;
    for (int64_t e = 0; e < graph.edges(); ++e) {
      const int64_t i = sources.const_data_ptr<int64_t>()[e], j = graph.col.const_data_ptr<int64_t>()[e];
      entries.emplace_back(static_cast<int>(i), static_cast<int>(j), 1 / std::sqrt(degrees[i] * degrees[j]));
    }
    similarity.setFromTriplets(entries.begin(), entries.end());
    for (int64_t i = 0; i < graph.nodes(); ++i) trivial[i] = std::sqrt(degrees[i]);
    trivial.normalize();
  }
};

// Eigenpairs that are what they say, orthonormal and orthogonal to the trivial one, with the expected values. An
// iteration ends at residuals of 1e-11 of the inverse's eigenvalue: a value is off by 1e-11 of itself at most, its pair
// by 2e-11.
void require_eigenpairs(const CsrGraph& graph, const std::vector<double>& values, double tolerance = 1e-8) {
  const Problem problem(graph);
  const int64_t count = static_cast<int64_t>(values.size());
  const Eigenpairs pairs = smallest_eigenpairs(problem.similarity, problem.trivial, count);
  REQUIRE(pairs.vectors.cols() == count);
  for (int64_t c = 0; c < count; ++c) {
    INFO("pair " << c << ": " << pairs.values[c] << ", expected " << values[c]);
    REQUIRE(std::abs(pairs.values[c] - values[c]) < 1e-10);
    const Eigen::VectorXd vector = pairs.vectors.col(c);
    REQUIRE((vector - problem.similarity * vector - values[c] * vector).norm() < tolerance);
  }
  const Eigen::MatrixXd products = pairs.vectors.transpose() * pairs.vectors;
  REQUIRE((products - Eigen::MatrixXd::Identity(count, count)).norm() < tolerance);
  REQUIRE((pairs.vectors.transpose() * problem.trivial).norm() < tolerance);
}

Eigen::MatrixXd columns_of(const at::Tensor& matrix) {
  const at::Tensor columns = matrix.t().contiguous();
  return Eigen::Map<const Eigen::MatrixXd>(columns.const_data_ptr<double>(), matrix.size(0), matrix.size(1));
}

// The basis that canonical_basis describes, from the projector P onto the space: the column of P whose diagonal entry
// is the largest (the first of equal ones), normalised; then the same of what P has beyond it.
Eigen::MatrixXd slow_basis(Eigen::MatrixXd projector, int64_t count) {
  Eigen::MatrixXd basis(projector.rows(), count);
  for (int64_t c = 0; c < count; ++c) {
    int64_t row = 0;
    for (int64_t i = 1; i < projector.rows(); ++i) {
      if (projector(i, i) > projector(row, row) + 1e-9) row = i;
    }
    basis.col(c) = projector.col(row).normalized();
    projector -= basis.col(c) * basis.col(c).transpose();
  }
  return basis;
}

// All non-trivial eigenpairs, the space of each eigenvalue in its slow_basis: by LAPACK, from the dense Laplacian.
Eigenpairs slow_eigenpairs(const CsrGraph& graph) {
  const auto [values, vectors] = at::linalg_eigh(test::dense_laplacian(graph));
  const Eigen::MatrixXd all = columns_of(vectors);
  const double* value = values.const_data_ptr<double>();
  Eigen::MatrixXd found(all.rows(), all.cols() - 1);
  for (int64_t begin = 1, end = 1; begin < all.cols(); begin = end) {
    while (end < all.cols() && value[end] - value[begin] < 1e-7) ++end;
    const Eigen::MatrixXd space = all.middleCols(begin, end - begin);
    found.middleCols(begin - 1, end - begin) = slow_basis(space * space.transpose(), end - begin);
  }
  return {Eigen::Map<const Eigen::VectorXd>(value + 1, found.cols()), found};
}

double path_value(int64_t nodes, int64_t which) {
  return 1 - std::cos(pi * static_cast<double>(which) / static_cast<double>(nodes - 1));
}

double cycle_value(int64_t nodes, int64_t which) {
  return 1 - std::cos(2 * pi * static_cast<double>(which) / static_cast<double>(nodes));
}

}  // namespace

TEST_CASE("smallest_eigenpairs: closed forms of paths and cycles, solved densely") {
  require_eigenpairs(test::path(2), {2});
  require_eigenpairs(test::path(40), {path_value(40, 1), path_value(40, 2), path_value(40, 3)});
  require_eigenpairs(test::cycle(30), {cycle_value(30, 1), cycle_value(30, 1), cycle_value(30, 2)});
}

TEST_CASE("smallest_eigenpairs: every copy of a repeated eigenvalue of a large graph") {
  const double first = cycle_value(24, 1) / 2;  // of the 24 x 24 torus: four copies, then four of twice the value
  require_eigenpairs(test::torus(24), {first, first, first, first, 2 * first, 2 * first});
}

TEST_CASE("smallest_eigenpairs: any number of the copies of an eigenvalue is the beginning of one basis of its space") {
  // 256 nodes are solved densely, 289 and more are iterated. The smallest eigenvalues of a torus have 4, 4 and 4
  // copies, those of a cycle 2 each.
  for (const CsrGraph& graph : {test::torus(16), test::torus(17), test::torus(19), test::cycle(30), test::cycle(300)}) {
    const Eigenpairs expected = slow_eigenpairs(graph);
    const Problem problem(graph);
    for (int64_t count = 1; count <= 6; ++count) {
      INFO(graph.nodes() << " nodes, " << count << " eigenpairs");
      const Eigenpairs pairs = smallest_eigenpairs(problem.similarity, problem.trivial, count);
      REQUIRE(pairs.vectors.cols() == count);
      // A vector is off by 1e-11 b / (b - a), where b is the eigenvalue after its own, a: 2e-11 here, or less.
      CHECK((pairs.values - expected.values.head(count)).cwiseAbs().maxCoeff() < 1e-10);
      CHECK((pairs.vectors - expected.vectors.leftCols(count)).cwiseAbs().maxCoeff() < 1e-6);
    }
  }
}

TEST_CASE("smallest_eigenpairs: a star, whose eigenvalue 1 has a copy for almost every node") {
  std::vector<std::pair<int64_t, int64_t>> edges;
  for (int64_t leaf = 1; leaf < 600; ++leaf) edges.emplace_back(0, leaf);
  require_eigenpairs(symmetrized(test::graph_of(600, edges)), {1, 1, 1});
}

TEST_CASE("smallest_eigenpairs: a long path, whose smallest eigenvalues lie close together") {
  require_eigenpairs(test::path(5000), {path_value(5000, 1), path_value(5000, 2), path_value(5000, 3)});
}

TEST_CASE("smallest_eigenpairs: dense and iterated eigenvectors are the same") {
  const CsrGraph graph = symmetrized(test::graph_of(300, [] {
    std::vector<std::pair<int64_t, int64_t>> edges;
    for (int64_t i = 1; i < 300; ++i) edges.emplace_back(i, i / 2), edges.emplace_back(i, i * 7 % 300);
    return edges;
  }()));
  const Problem problem(graph);
  const Eigenpairs few = smallest_eigenpairs(problem.similarity, problem.trivial, 5);
  const Eigenpairs all = smallest_eigenpairs(problem.similarity, problem.trivial, 299);
  REQUIRE((few.values - all.values.head(5)).norm() < 1e-10);
  REQUIRE((few.vectors - all.vectors.leftCols(5)).norm() < 1e-6);
}

TEST_CASE("canonical_basis: a function of the space, not of the basis it came in") {
  const at::Tensor random = at::randn({6, 3}, test::generator(1), at::TensorOptions().dtype(at::kDouble));
  Eigen::MatrixXd space = Eigen::Map<const Eigen::MatrixXd>(random.const_data_ptr<double>(), 6, 3);
  space = Eigen::HouseholderQR<Eigen::MatrixXd>(space).householderQ() * Eigen::MatrixXd::Identity(6, 3);
  Eigen::Matrix3d turn;
  turn << 0.6, -0.8, 0, 0.8, 0.6, 0, 0, 0, -1;
  const Eigen::MatrixXd basis = canonical_basis(space);
  // Some ten roundings of 1.1e-16 for each of 18 numbers.
  REQUIRE((canonical_basis(space * turn) - basis).norm() < 1e-12);
  REQUIRE((basis * basis.transpose() - space * space.transpose()).norm() < 1e-12);
  Eigen::MatrixXd column(3, 1);
  column << 0.1, -0.7, 0.7;
  REQUIRE(canonical_basis(column.normalized())(1, 0) > 0);  // of equally large entries the first
}

}  // namespace geosft::test::test_laplacian_solver
