// SPDX-License-Identifier: Apache-2.0
#include "models/layers/sampling_context.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_sampling_context {

TEST_CASE("a seeded context gives all items one seed, which differs between samplings and votes",
          "[sampling_context]") {
  SamplingContext context = SamplingContext::seeded(), again = SamplingContext::seeded();
  const at::Tensor first = context.next_seeds(4, at::kCPU), second = context.next_seeds(2, at::kCPU);
  require_equal(first, first[0].expand({4}), "items");
  REQUIRE(first[0].item<int64_t>() != second[0].item<int64_t>());
  require_equal(again.next_seeds(1, at::kCPU)[0], first[0], "the same first seed");
  require_equal(again.next_seeds(1, at::kCPU)[0], second[0], "the same second seed");
  SamplingContext other = SamplingContext::seeded(1);
  REQUIRE(other.next_seeds(1, at::kCPU)[0].item<int64_t>() != first[0].item<int64_t>());
  REQUIRE(context.mode() == SampleMode::seeded);
  REQUIRE_FALSE(context.generator().has_value());
}

TEST_CASE("items of a seeded context with a vote for each have the seeds of these votes", "[sampling_context]") {
  SamplingContext items = SamplingContext::seeded_items({4, 0, 7}), four = SamplingContext::seeded(4),
                  none = SamplingContext::seeded(0), seven = SamplingContext::seeded(7);
  for (int sampling = 0; sampling < 3; ++sampling) {
    const at::Tensor expected =
        at::cat({four.next_seeds(1, at::kCPU), none.next_seeds(1, at::kCPU), seven.next_seeds(1, at::kCPU)});
    require_equal(items.next_seeds(3, at::kCPU), expected, "seeds");
  }
  require_error([&] { items.next_seeds(2, at::kCPU); }, {"votes", "2", "3"});
  require_error([] { SamplingContext::seeded_items({}); }, {"votes"});
  require_error([] { SamplingContext::seeded_items({4}).next_seeds(2, at::kCPU); }, {"votes", "2 items", "1"});
}

TEST_CASE("a context hashes the choices of each item independently of their order", "[sampling_context]") {
  const auto longs = [](std::vector<int64_t> values) { return at::tensor(values, at::kLong); };
  const auto choices = [&](const at::Tensor& first, const at::Tensor& second) {
    SamplingContext context = SamplingContext::seeded();
    context.note_choice(first, second, longs({0, 2, 4}));
    REQUIRE_FALSE(context.choices().defined());
    context.record_choices(2);
    for (int repeat = 0; repeat < 2; ++repeat) context.note_choice(first, second, longs({0, 2, 4}));
    return context.choices();
  };
  const at::Tensor all = choices(longs({0, 1, 5, 6}), longs({2, 3, 7, 8}));
  require_equal(choices(longs({1, 0, 5, 6}), longs({3, 2, 7, 8})), all, "another order");
  const at::Tensor other = choices(longs({0, 1, 5, 6}), longs({3, 2, 7, 8}));
  REQUIRE(other[0].item<int64_t>() != all[0].item<int64_t>());
  require_equal(other[1], all[1], "the item that chose the same");
}

TEST_CASE("a training context takes seeds and masks from its generator", "[sampling_context]") {
  const auto random_numbers = [](uint64_t seed) {
    SamplingContext context = SamplingContext::training(generator(seed));
    const at::Tensor seeds = context.next_seeds(5, at::kCPU);
    return std::pair{seeds, context.dropout(at::ones({100}), 0.5)};
  };
  const auto [seeds, dropped] = random_numbers(3);
  const auto [same_seeds, same_dropped] = random_numbers(3);
  require_equal(same_seeds, seeds, "seeds");
  require_equal(same_dropped, dropped, "dropout");
  REQUIRE((seeds.diff() != 0).all().item<bool>());
  REQUIRE_FALSE(at::equal(random_numbers(4).first, seeds));
  SamplingContext context = SamplingContext::training(generator(3));
  REQUIRE_FALSE(at::equal(context.dropout(at::ones({100}), 0.5), context.dropout(at::ones({100}), 0.5)));
  REQUIRE(context.mode() == SampleMode::random);
  REQUIRE(context.generator().has_value());
}

TEST_CASE("a part of a batch has the random numbers of the whole batch", "[sampling_context]") {
  const std::vector<int64_t> sizes = {3, 1, 4, 2};  // tokens; an item of n has n + 1 of the other rows
  const auto random_numbers = [&](WholeBatch whole, int64_t first, int64_t items, int64_t tokens, int64_t rows) {
    at::Generator source = generator(3);
    SamplingContext context = SamplingContext::training(source, std::move(whole));
    const at::Tensor seeds = context.next_seeds(items, at::kCPU);
    const at::Tensor dropped = context.dropout(at::ones({tokens, 7}), 0.5);
    const int64_t before = context.rows_before([](int64_t n) { return n + 1; });
    return std::vector{seeds, dropped, context.dropout(at::ones({rows, 3}), 0.5, before), source.get_state()};
  };
  const auto whole = random_numbers({}, 0, 4, 10, 14), part = random_numbers({sizes, 1}, 1, 2, 5, 7);
  require_equal(part[0], whole[0].narrow(0, 1, 2), "seeds");
  require_equal(part[1], whole[1].narrow(0, 3, 5), "tokens");
  require_equal(part[2], whole[2].narrow(0, 4, 7), "other rows");
  require_equal(part[3], whole[3], "where the generator is");
  require_error([&] { SamplingContext::training(generator(1), {sizes, 4}); }, {"first", "4"});
  SamplingContext last = SamplingContext::training(generator(1), {sizes, 3});
  require_error([&] { last.next_seeds(2, at::kCPU); }, {"2 items", "item 3", "4"});
}

TEST_CASE("only training drops anything", "[sampling_context]") {
  const at::Tensor x = at::rand({50}, generator(5));
  for (SamplingContext context : {SamplingContext::greedy(), SamplingContext::seeded()}) {
    require_equal(context.dropout(x, 0.9), x, "evaluation");
  }
  at::Generator source = generator(6);
  const at::Tensor before = source.get_state();
  require_equal(SamplingContext::training(source).dropout(x, 0.0), x, "probability 0");
  require_equal(source.get_state(), before, "generator");
}

}  // namespace geosft::test::test_sampling_context
