// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/composites.h"

#include "tests/models/ops/reference.h"
#include "tests/support.h"
#include "tests/tools/bench/bench_sizes.h"

namespace geosft::bench::test::test_composites {
namespace {

using geosft::test::require_close;

HeadsFirstInputs inputs() {
  return heads_first(random_inputs(small_sizes(), 9), small_sizes());
}

at::Tensor random(at::IntArrayRef shape) {
  return normal(shape, geosft::test::generator(4));
}

// The reference of the operators' tests, item by item, on r_mul and r_add [B, h, n, m].
at::Tensor reference(const HeadsFirstInputs& in, const DenseBias& bias) {
  std::vector<at::Tensor> parts;
  for (int64_t b = 0; b < in.q.size(0); ++b) {
    const auto rows = [&](const at::Tensor& t) { return t[b].transpose(0, 1); };
    const auto pairs = [&](const at::Tensor& t) { return t.defined() ? t[b].permute({1, 2, 0}) : t; };
    parts.push_back(geosft::test::reference_item(rows(in.q), rows(in.k), rows(in.v), rows(in.leak), pairs(bias.mul),
                                                 pairs(bias.add), attention_eps)
                        .transpose(0, 1));
  }
  return at::stack(parts);
}

}  // namespace

TEST_CASE("both maxout composites are the reference, with and without an attention bias", "[bench]") {
  const HeadsFirstInputs in = inputs();
  const DenseBias bias{at::softplus(random({2, 3, 37, 9})), random({2, 3, 37, 9})};
  for (const DenseBias& some : {DenseBias{}, bias, DenseBias{bias.mul, {}}, DenseBias{{}, bias.add}}) {
    const at::Tensor expected = reference(in, some);
    require_close(cdist_attention(in, some), expected, 1e-5, "cdist");
    require_close(broadcast_attention(in, some), expected, 1e-5, "broadcasting");
    require_close(broadcast_attention(in, some, 1), expected, 1e-5, "broadcasting one row at a time");
  }
}

TEST_CASE("softmax attention is the textbook's", "[bench]") {
  const HeadsFirstInputs in = inputs();
  const at::Tensor weights = at::softmax(at::matmul(in.q, in.k.transpose(2, 3)) / 2.0, -1);
  require_close(softmax_attention(in), at::matmul(weights, in.v), 1e-5, "softmax");
}

TEST_CASE("a linear bias maps the channels of every pair", "[bench]") {
  const at::Tensor x = random({2, 2, 5, 4});
  const BiasWeights w{random({2, 3}), random({3}), random({2, 3}), random({3})};
  const DenseBias bias = linear_bias(x, w);
  const at::Tensor rows = x.permute({0, 2, 3, 1});
  require_close(bias.mul, at::softplus(at::matmul(rows, w.w_mul) + w.b_mul).permute({0, 3, 1, 2}), 1e-5, "mul");
  require_close(bias.add, (at::matmul(rows, w.w_add) + w.b_add).permute({0, 3, 1, 2}), 1e-5, "add");
}

TEST_CASE("channels of points are squared distances and products", "[bench]") {
  const at::Tensor x = random({2, 5, 3}), xs = random({2, 4, 3}), m = random({2, 5, 3}) + 1, ms = random({2, 4, 3}) - 1;
  const at::Tensor distances = (x.unsqueeze(2) - xs.unsqueeze(1)).square().sum(-1);
  require_close(point_channels(x, xs, {}, {}), distances.unsqueeze(1), 1e-5, "distances");
  const at::Tensor both = point_channels(x, xs, m, ms);
  require_close(both.select(1, 0), distances, 1e-5, "distances beside normals");
  require_close(both.select(1, 1), (m.unsqueeze(2) * ms.unsqueeze(1)).sum(-1), 1e-5, "normals");
  const at::Tensor apart = xs.unsqueeze(1) - x.unsqueeze(2), all = point_channels(x, xs, m, ms, /*angles=*/true);
  require_close(all.slice(1, 0, 2), both, 1e-5, "distances and normals beside angles");
  require_close(all.select(1, 2), (m.unsqueeze(2) * apart).sum(-1), 1e-5, "angles of queries");
  require_close(all.select(1, 3), (ms.unsqueeze(1) * apart).sum(-1), 1e-5, "angles of keys");
}

TEST_CASE("the bias of sequences is that of the products of their encodings", "[bench]") {
  const at::Tensor s = random({2, 5, 6}), ss = random({2, 4, 6});
  const BiasWeights w{random({6, 3}), random({3}), random({6, 3}), random({3})};
  const at::Tensor channels = (s.unsqueeze(2) * ss.unsqueeze(1)).permute({0, 3, 1, 2}).contiguous();
  const DenseBias expected = linear_bias(channels, w), bias = sequence_bias(s, ss, w);
  require_close(bias.mul, expected.mul, 1e-5, "mul");
  require_close(bias.add, expected.add, 1e-5, "add");
}

}  // namespace geosft::bench::test::test_composites
