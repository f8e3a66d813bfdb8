// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/byte_classifier.h"

#include <torch/utils.h>
#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::bench::test::test_byte_classifier {
namespace {

using geosft::test::require_close;

ByteClassifier small_classifier() {
  torch::manual_seed(3);
  LayerOptions layer;
  layer.kind = AttentionKind::polynomial;
  layer.attention.width = 8;
  layer.attention.heads = 2;
  return ByteClassifier(layer, 2);
}

}  // namespace

TEST_CASE("byte sequences are classified one by one, and their order matters", "[bench]") {
  ByteClassifier model = small_classifier();
  const at::Tensor bytes = at::randint(256, {3, 20}, geosft::test::generator(1), at::kLong);
  const at::Tensor logits = model->forward(bytes);
  REQUIRE(logits.sizes() == at::IntArrayRef({3, 2}));
  require_close(model->forward(bytes.slice(0, 1, 2)), logits.slice(0, 1, 2), 1e-5, "one alone");
  REQUIRE((model->forward(bytes.flip(1)) - logits).abs().max().item<double>() > 1e-4);
}

TEST_CASE("a prompt stands before every sequence", "[bench]") {
  ByteClassifier model = small_classifier();
  const at::Tensor bytes = at::randint(256, {2, 10}, geosft::test::generator(1), at::kLong);
  const at::Tensor prompt = at::randn({3, 8}, geosft::test::generator(2)).requires_grad_(true);
  const at::Tensor logits = model->forward(bytes, prompt);
  REQUIRE(logits.sizes() == at::IntArrayRef({2, 2}));
  // Each sequence alone, with the prompt as its first three tokens.
  for (int64_t b = 0; b < 2; ++b) {
    const at::Tensor tokens = model->embed->forward(bytes[b]) + sinusoids(10, 8).to(at::kFloat);
    SamplingContext context = SamplingContext::greedy();
    const at::Tensor encoded =
        model->encoder->forward(at::cat({prompt, tokens}), RelativeEncoding::none(), std::nullopt, context);
    require_close(logits[b].detach(), model->head->forward(encoded, std::nullopt)[0].detach(), 1e-5, "by hand");
  }
  logits.square().sum().backward();
  REQUIRE(prompt.grad().abs().min().item<double>() > 0);
  geosft::test::require_error([&] { model->forward(bytes[0]); }, {"bytes", "[10]"});
}

}  // namespace geosft::bench::test::test_byte_classifier

namespace geosft::bench::test::test_byte_documents {

TEST_CASE("documents are the texts of one label one after the other", "[bench]") {
  const geosft::test::TemporaryFolder folder;
  const auto file = folder / "texts.tsv";
  geosft::test::write_text(file,
                           "0\t1_2\tabc\n1\tx\ty\t\xff"
                           "Z\n0\t\tdef\n1\tQRST\n");
  const ByteDocuments documents = read_documents(file, 4, 3);
  geosft::test::require_equal(documents.labels, at::tensor({0, 1, 0, 1}, at::kLong), "labels");
  geosft::test::require_equal(documents.bytes,
                              at::tensor({97, 98, 99, 255, 90, 10, 10, 100, 101, 81, 82, 83}, at::kLong).view({4, 3}),
                              "bytes");
}

TEST_CASE("a file of texts that is broken or too short is refused", "[bench]") {
  const geosft::test::TemporaryFolder folder;
  const auto file = folder / "texts.tsv";
  geosft::test::write_text(file, "0\tgood\n2\tbad\n");
  geosft::test::require_error([&] { read_documents(file, 2, 2); }, {"texts.tsv:2", "0 or 1", "2\tbad"});
  geosft::test::write_text(file, "0\tlong enough\n1\tno\n");
  geosft::test::require_error([&] { read_documents(file, 2, 5); },
                              {"texts.tsv", "2 documents of 5 bytes", "3 bytes of label 1"});
  geosft::test::require_error([&] { read_documents(folder / "absent.tsv", 2, 5); }, {"absent.tsv"});
}

}  // namespace geosft::bench::test::test_byte_documents
