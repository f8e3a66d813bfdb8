// SPDX-License-Identifier: Apache-2.0
// Computes the smallest eigenpairs of the normalized Laplacian of one connected graph.
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <cstdint>

namespace geosft {

struct Eigenpairs {
  Eigen::VectorXd values;   // ascending
  Eigen::MatrixXd vectors;  // unit columns
};

// Computes the `count` smallest non-trivial eigenpairs of L = I - S, 1 <= count < n. `similarity` is S = D^-1/2 A
// D^-1/2 of a connected graph with weights >= 0, and `trivial` is its eigenvector for the eigenvalue 1: D^1/2 1, of
// length 1. Small graphs are solved densely (Eigen), large ones by Lanczos iterations (Spectra): first with S, and if
// these do not converge, with the inverse of L. Every copy of a repeated eigenvalue is found, and the basis of its
// space is canonical_basis. If an eigenvalue of a large graph has more than 64 copies beyond `count`, such as that of a
// star, only the part of the space that the iteration finds first is used. Throws an error if neither iteration
// converges.
Eigenpairs smallest_eigenpairs(const Eigen::SparseMatrix<double>& similarity, const Eigen::VectorXd& trivial,
                               int64_t count);

// Returns a basis of the space spanned by orthonormal columns that depends only on the space and the order of the rows.
// The first vector is the projection of the unit vector closest to the space (ties: the lowest row); the next one is
// the same for the orthogonal complement within the space. For one column, the entry of largest magnitude becomes
// positive.
Eigen::MatrixXd canonical_basis(Eigen::MatrixXd space);

}  // namespace geosft
