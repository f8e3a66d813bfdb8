// SPDX-License-Identifier: Apache-2.0
#include "models/ops/monomials.h"

#include <limits>

namespace geosft {
namespace {

// The smallest variable of a monomial, and its power.
struct Leading {
  int64_t channel, power;
};

}  // namespace

int64_t monomial_count(int64_t channels, int64_t degree) {
  TORCH_CHECK(channels >= 0 && degree >= 0, "channels and degree must be at least 0, got ", channels, " and ", degree);
  constexpr int64_t maximum = std::numeric_limits<int64_t>::max();
  int64_t count = 1;
  for (int64_t t = 1; t <= degree; ++t) {
    if (count > maximum / (channels + t)) return maximum;
    count = count * (channels + t) / t;
  }
  return count;
}

MonomialBasis::MonomialBasis(int64_t channel_count, int64_t highest_degree)
    : channels(channel_count), degree(highest_degree), highest(1), weights{1.0} {
  TORCH_CHECK(channels >= 1, "channels must be at least 1, not ", channels);
  TORCH_CHECK(degree >= 0, "degree must be at least 0, not ", degree);
  std::vector<Leading> leading{{channels, 0}};
  std::vector<int64_t> first(static_cast<size_t>(channels), 0);  // of each variable in the degree below
  int64_t end = 1;                                               // end of that degree
  for (int64_t t = 1; t <= degree; ++t) {
    const int64_t below_end = end;
    for (int64_t channel = 0; channel < channels; ++channel) {
      const int64_t from = first[channel];
      runs.push_back({end, from, below_end - from, channel});
      first[channel] = end;
      for (int64_t p = from; p < below_end; ++p) {
        const int64_t power = leading[p].channel == channel ? leading[p].power + 1 : 1;
        leading.push_back({channel, power});
        weights.push_back(weights[p] / static_cast<double>(power));
      }
      end = size();
    }
    highest = end - below_end;
  }
}

at::Tensor monomials(const at::Tensor& x, const MonomialBasis& basis) {
  TORCH_CHECK(x.dim() == 2 && x.size(1) == basis.channels, "x must be [n, ", basis.channels, "], got shape ",
              x.sizes());
  at::Tensor all = at::ones({x.size(0), basis.size()}, x.options());
  for (const MonomialRun& run : basis.runs) {
    all.narrow(1, run.to, run.count).copy_(all.narrow(1, run.from, run.count) * x.narrow(1, run.channel, 1));
  }
  return all;
}

}  // namespace geosft
