// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/monomial_table_kernel.cuh"

#include <algorithm>
#include <catch2/catch.hpp>

#include "models/ops/cuda/polynomial_host.h"
#include "models/ops/monomials.h"
#include "tests/geometry/cuda/emulated_block.h"
#include "tests/support.h"

namespace geosft::test::test_monomial_table_kernel {
namespace {

struct Made {
  cuda::TableShape shape;
  std::vector<uint8_t> recipe, factor;
  std::vector<double> weight;
};

Made made(int64_t channels, int64_t degree) {
  const cuda::TableShape shape = cuda::table_shape(channels, degree);
  REQUIRE(shape.factors > 0);
  const int64_t count = monomial_count(channels, degree);
  Made to{shape, std::vector<uint8_t>(2 * static_cast<size_t>(shape.entries)),
          std::vector<uint8_t>(static_cast<size_t>(count * shape.factors)), std::vector<double>(count)};
  const cuda::MonomialTable<double> table{static_cast<int>(channels), degree,           count,
                                          shape.table_degree,         shape.entries,    shape.factors,
                                          to.recipe.data(),           to.factor.data(), to.weight.data()};
  cuda::element_grid(cuda::MonomialTableCall<double>{table}, EmulatedGrids<ThreadOrder::kAscending>());
  return to;
}

// The entries of the table of x, as kernels make them.
std::vector<double> entries(const Made& table, const at::Tensor& x) {
  std::vector<double> value{1.0};
  for (int64_t t = 0; t < x.numel(); ++t) value.push_back(x[t].item<double>());
  for (auto e = value.size(); e < static_cast<size_t>(table.shape.entries); ++e) {
    REQUIRE(table.recipe[2 * e] < e);
    REQUIRE(table.recipe[2 * e + 1] < e);
    value.push_back(value[table.recipe[2 * e]] * value[table.recipe[2 * e + 1]]);
  }
  return value;
}

}  // namespace

TEST_CASE("monomials are products of a table's entries, in the order of MonomialBasis", "[monomial_table_kernel]") {
  for (const auto& [channels, degree] : std::vector<std::pair<int64_t, int64_t>>{{1, 0},
                                                                                 {3, 0},
                                                                                 {5, 1},
                                                                                 {8, 2},
                                                                                 {8, 4},
                                                                                 {16, 2},
                                                                                 {16, 3},
                                                                                 {10, 3},
                                                                                 {4, 8},
                                                                                 {3, 20},
                                                                                 {2, 60},
                                                                                 {1, 500},
                                                                                 {50, 2},
                                                                                 {128, 1}}) {
    INFO("channels " << channels << " degree " << degree);
    const MonomialBasis basis(channels, degree);
    const Made table = made(channels, degree);
    REQUIRE(static_cast<int64_t>(table.weight.size()) == basis.size());
    const at::Tensor x = at::rand({channels}, generator(3), at::kDouble) + 0.5;
    const at::Tensor expected = monomials(x.unsqueeze(0), basis)[0];
    const std::vector<double> entry = entries(table, x);
    for (size_t a = 0; a < table.weight.size(); ++a) {
      double product = 1;
      for (int f = 0; f < table.shape.factors; ++f) {
        const uint8_t factor = table.factor[a * table.shape.factors + f];
        REQUIRE(factor < table.shape.entries);
        product *= entry[factor];
      }
      REQUIRE(product == Approx(expected[static_cast<int64_t>(a)].item<double>()).epsilon(1e-12));
      REQUIRE(table.weight[a] == Approx(basis.weights[a]).epsilon(1e-12));
    }
  }
}

TEST_CASE("monomials with the same first factors end with the entries from one to the last",
          "[monomial_table_kernel]") {
  for (const auto& [channels, degree] : std::vector<std::pair<int64_t, int64_t>>{{8, 4}, {10, 3}, {2, 60}, {4, 7}}) {
    const Made table = made(channels, degree);
    const auto row = [&](size_t a) {
      const auto first = table.factor.begin() + static_cast<int64_t>(a) * table.shape.factors;
      return std::vector<uint8_t>(first, first + table.shape.factors);
    };
    for (size_t a = 1; a < table.weight.size(); ++a) {
      std::vector<uint8_t> before = row(a - 1), current = row(a);
      const int last = before.back();
      const bool ends = last == table.shape.entries - 1;
      const bool goes_on = std::equal(current.begin(), current.end() - 1, before.begin());
      INFO("channels " << channels << " degree " << degree << " monomial " << a);
      REQUIRE(goes_on != ends);
      if (goes_on) REQUIRE(current.back() == last + 1);
    }
  }
}

}  // namespace geosft::test::test_monomial_table_kernel
