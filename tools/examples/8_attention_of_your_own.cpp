// SPDX-License-Identifier: Apache-2.0
// An attention of one's own in the primal-dual frame: a feature map, a normaliser and the choice of pairs are all it
// takes. The features are all products of up to two coordinates, phi(x) . phi(y) = (1 + x . y / sqrt(c))^2, the
// normaliser is the usual sum of them, and the regressor is fitted to every second pair. The program fits it to some
// keys, and prints how far attention over them is from what the regressor predicts.
#include <ATen/ATen.h>

#include <cmath>
#include <iostream>

#include "models/theory/primal_frame.h"

int main() {
  constexpr int64_t channels = 6;
  geosft::PrimalFrame quadratic;
  quadratic.features = [](const at::Tensor& x, const at::Tensor& y) {
    return (1 + at::matmul(x, y.t()) / std::sqrt(static_cast<double>(channels))).square();
  };
  quadratic.pairs = [](const at::Tensor& rows) { return rows.slice(0, 0, rows.size(0), 2).contiguous(); };

  at::manual_seed(1);
  const auto wide = at::TensorOptions().dtype(at::kDouble);
  const at::Tensor keys = at::randn({50, channels}, wide), queries = at::randn({20, channels}, wide);
  const at::Tensor targets = keys.narrow(1, 0, 2).sin();
  const geosft::FittedFrame fitted(quadratic, keys, targets, {.cost = 1e4, .epsilon = 0.05});

  const at::Tensor difference = fitted.attended(queries) - fitted.predicted(queries);
  std::cout << "pairs " << fitted.values.size(0) << "\nsupport vectors " << fitted.regression.support_vectors()
            << "\nlargest difference " << difference.abs().max().item<double>() << '\n';
}
