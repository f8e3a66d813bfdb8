// SPDX-License-Identifier: Apache-2.0
#include "data/checkpoint.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <csignal>

#include "data/data_error.h"
#include "tests/data/files.h"
#include "tests/fuzz/checkpoint_frame.h"
#include "tests/support.h"

namespace geosft::test::test_checkpoint {

namespace {

Checkpoint example() {
  Checkpoint checkpoint;
  checkpoint.tensors["layers.0.weight"] = at::randn({3, 4}, test::generator(1));
  checkpoint.tensors["empty"] = at::empty({0, 3}, at::kLong);
  checkpoint.tensors["number"] = at::tensor(2.5, at::kDouble);
  checkpoint.tensors["a name with blanks, % and \n"] = at::arange(5).to(at::kInt);
  checkpoint.tensors[""] = at::ones({2}, at::kBool);
  checkpoint.texts["config"] = std::string("lr = 0.1\n\0binary", 16);
  checkpoint.texts["nothing"] = "";
  return checkpoint;
}

}  // namespace

TEST_CASE("a checkpoint comes back as it was") {
  const test::TemporaryFolder folder;
  const Checkpoint saved = example();
  save_checkpoint(folder / "a.ckpt", saved);
  const Checkpoint loaded = load_checkpoint(folder / "a.ckpt");
  REQUIRE(loaded.tensors.size() == saved.tensors.size());
  for (const auto& [name, tensor] : saved.tensors) {
    CAPTURE(name);
    CHECK(loaded.tensors.at(name).scalar_type() == tensor.scalar_type());
    test::require_equal(loaded.tensors.at(name), tensor, name);
  }
  CHECK(loaded.texts == saved.texts);
  save_checkpoint(folder / "none.ckpt", {});
  CHECK(load_checkpoint(folder / "none.ckpt").tensors.empty());
}

TEST_CASE("a checkpoint keeps every dtype, views and values that need gradients") {
  const test::TemporaryFolder folder;
  Checkpoint saved;
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kComplexFloat,
                                    at::kComplexDouble, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong}) {
    saved.tensors[c10::toString(type)] = at::arange(7).to(type);
  }
  saved.tensors["transposed"] = at::arange(6).view({2, 3}).t();
  saved.tensors["parameter"] = at::ones({3}).requires_grad_();
  saved.tensors["conjugate"] = at::complex(at::ones({2}), at::ones({2})).conj();
  save_checkpoint(folder / "a", saved);
  const Checkpoint loaded = load_checkpoint(folder / "a");
  for (const auto& [name, tensor] : saved.tensors) {
    CAPTURE(name);
    CHECK(loaded.tensors.at(name).scalar_type() == tensor.scalar_type());
    CHECK(at::equal(loaded.tensors.at(name), tensor.detach().resolve_conj()));
  }
  saved.tensors["undefined"] = at::Tensor();
  test::require_error([&] { save_checkpoint(folder / "a", saved); }, {"undefined", "must be defined"});
  CHECK(load_checkpoint(folder / "a").tensors.size() == loaded.tensors.size());
}

TEST_CASE("any flipped bit and any truncation of a checkpoint is seen") {
  const test::TemporaryFolder folder;
  save_checkpoint(folder / "a", example());
  const std::string whole = test::read_text(folder / "a");
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    test::write_text(folder / "b", damaged);
    CAPTURE(at);
    REQUIRE_THROWS_AS(load_checkpoint(folder / "b"), DataError);
  }
  for (size_t size = 0; size < whole.size(); size += 7) {
    test::write_text(folder / "b", whole.substr(0, size));
    CAPTURE(size);
    REQUIRE_THROWS_AS(load_checkpoint(folder / "b"), DataError);
  }
  test::write_text(folder / "b", whole + "x");
  test::require_error([&] { load_checkpoint(folder / "b"); }, {std::to_string(whole.size()) + " bytes"});
}

TEST_CASE("foreign, newer and absent checkpoints are refused with the reason") {
  const test::TemporaryFolder folder;
  save_checkpoint(folder / "a", example());
  std::string newer = test::read_text(folder / "a");
  newer.replace(newer.find('1'), 1, "9");
  test::write_text(folder / "newer", newer);
  test::require_error([&] { load_checkpoint(folder / "newer"); }, {"newer", "version 1", "version 9"});
  test::write_text(folder / "foreign", "PK\003\004 a zip of pickles");
  test::require_error([&] { load_checkpoint(folder / "foreign"); }, {"foreign", "a checkpoint of geosft"});
  test::require_error([&] { load_checkpoint(folder / "absent"); }, {"absent", "nothing of this name"});
}

TEST_CASE("a write that fails in the middle leaves the previous checkpoint") {
  const test::TemporaryFolder folder;
  save_checkpoint(folder / "a", example());
  const std::string before = test::read_text(folder / "a");
  // A limit on the size of files fails like a full disk, in the middle of the data.
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{100000, limit.rlim_max};
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &small);
  Checkpoint large;
  large.tensors["large"] = at::zeros({100000});
  std::string message;
  try {
    save_checkpoint(folder / "a", large);
  } catch (const DataError& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, previous);
  CHECK_THAT(message, Catch::Contains("room to write the file"));
  CHECK(test::read_text(folder / "a") == before);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a tensor without numbers may not claim sizes that overflow") {
  const test::TemporaryFolder folder;
  for (const char* sizes : {"0 9223372036854775807 9223372036854775807", "4611686018427387904 4 0", "-1"}) {
    test::write_text(folder / "a", fuzz::framed(std::string("tensor x float32 ") + sizes + "\n"));
    test::require_error([&] { load_checkpoint(folder / "a"); }, {"(header)", "a size"});
  }
  test::write_text(folder / "a", fuzz::framed("tensor x float32 1099511627776\n"));
  test::require_error([&] { load_checkpoint(folder / "a"); }, {"an entry that lies inside the file", "1099511627776"});
}

}  // namespace geosft::test::test_checkpoint
