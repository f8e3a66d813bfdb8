// SPDX-License-Identifier: Apache-2.0
// Projects embeddings to the plane: principal components, and t-SNE, which preserves neighbourhoods.
#pragma once

#include <ATen/ATen.h>

namespace geosft {

// Principal components of rows [n, d], n >= 2: their coordinates along the two directions of largest variance, double
// [n, 2]. The largest coordinate along each direction is positive; the second column is 0 for d = 1.
at::Tensor principal_components(const at::Tensor& rows);

// t-SNE (van der Maaten and Hinton, 2008) with all pairs, double [n, 2], without randomness: it begins at the principal
// components. The perplexity is that of the Gaussian neighbourhood of each row, and at most (n - 1) / 3. O(n^2) time
// and memory per round. Throws c10::Error for n outside 4 … 5,000 or a perplexity below 1.
at::Tensor tsne_projection(const at::Tensor& rows, double perplexity = 20.0, int64_t rounds = 750);

// Returns the share of rows [n, d] whose nearest other row has the same label, int64 [n].
double neighbour_accuracy(const at::Tensor& rows, const at::Tensor& labels);

}  // namespace geosft
