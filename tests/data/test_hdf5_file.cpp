// SPDX-License-Identifier: Apache-2.0
#include "data/hdf5_file.h"

#include <hdf5.h>

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/data/hdf5_files.h"
#include "tests/support.h"

namespace geosft::test::test_hdf5_file {

TEST_CASE("numeric datasets of an HDF5 file become tensors") {
  const test::TemporaryFolder folder;
  const at::Tensor data = at::randn({2, 5, 3}, test::generator(1));
  const at::Tensor label = at::tensor({3, 250}, at::kByte);
  test::write_hdf5(folder / "a.h5", {{"data", data}, {"double", data.to(at::kDouble)}, {"label", label}});
  const Hdf5File file(folder / "a.h5");
  CHECK(file.list() == std::vector<std::string>{"data", "double", "label"});
  CHECK(file.has("label"));
  CHECK_FALSE(file.has("normal"));
  test::require_equal(file.read_float("data"), data, "float32");
  test::require_equal(file.read_float("double"), data, "float64");
  test::require_equal(file.read_int("label"), label.to(at::kLong), "uint8");
  test::require_equal(file.read_float("label"), label.to(at::kFloat), "integers as floats");
}

TEST_CASE("tensors written to an HDF5 file come back") {
  const test::TemporaryFolder folder;
  const at::Tensor rows = at::randn({70000, 9}, test::generator(2));
  geosft::write_hdf5(folder / "a.h5", {{"rows", rows},
                                       {"turned", rows.t()},
                                       {"bytes", at::arange(200, at::kByte)},
                                       {"int", at::tensor({-1, 1 << 20}, at::kInt)},
                                       {"long", at::tensor({int64_t{1} << 40}, at::kLong)},
                                       {"double", at::tensor({0.5}, at::kDouble)},
                                       {"empty", at::zeros({0, 3})}});
  const Hdf5File file(folder / "a.h5");
  test::require_equal(file.read_float("rows"), rows, "several blocks");
  test::require_equal(file.read_float("turned"), rows.t(), "not contiguous");
  test::require_equal(file.read_int("bytes"), at::arange(200, at::kLong), "uint8");
  test::require_equal(file.read_int("int"), at::tensor({-1, 1 << 20}, at::kLong), "int32");
  test::require_equal(file.read_int("long"), at::tensor({int64_t{1} << 40}, at::kLong), "int64");
  test::require_equal(file.read_float("double"), at::tensor({0.5F}), "float64");
  CHECK(file.read_float("empty").sizes() == at::IntArrayRef({0, 3}));
}

TEST_CASE("an HDF5 file that cannot be written leaves the old one") {
  const test::TemporaryFolder folder;
  geosft::write_hdf5(folder / "a.h5", {{"data", at::ones({3})}});
  CHECK_THROWS_AS(geosft::write_hdf5(folder / "a.h5", {{"data", at::zeros({3})}, {"bits", at::ones({2}, at::kBool)}}),
                  c10::Error);
  test::require_equal(Hdf5File(folder / "a.h5").read_float("data"), at::ones({3}), "data");
  test::require_error([&] { geosft::write_hdf5(folder / "no/a.h5", {{"data", at::ones({3})}}); }, {"a.h5", "written"});
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("broken HDF5 files are refused with file and dataset") {
  const test::TemporaryFolder folder;
  test::write_hdf5(folder / "a.h5", {{"data", at::randn({200, 30, 3}, test::generator(1))}});
  test::require_error([&] { Hdf5File(folder / "absent.h5"); }, {"absent.h5", "no file"});
  test::require_error([&] { Hdf5File(folder.path()); }, {"no file"});
  test::write_text(folder / "empty.h5", "");
  test::require_error([&] { Hdf5File(folder / "empty.h5"); }, {"empty.h5", "an HDF5 file"});
  test::require_error([&] { Hdf5File(folder / "a.h5").read_float("normal"); }, {"a.h5:normal", "none"});
  test::require_error([&] { Hdf5File(folder / "a.h5").read_int("data"); }, {"a.h5:data", "integers"});
  const std::string whole = test::read_text(folder / "a.h5");
  test::write_text(folder / "short.h5", whole.substr(0, whole.size() / 2));
  test::require_error([&] { Hdf5File(folder / "short.h5"); }, {"short.h5", "truncated"});
  std::string damaged = whole;
  for (size_t i = whole.size() / 2; i < whole.size() / 2 + 64; ++i) damaged[i] = static_cast<char>(~damaged[i]);
  test::write_text(folder / "damaged.h5", damaged);
  test::require_error([&] { Hdf5File(folder / "damaged.h5").read_float("data"); }, {"damaged.h5:data", "damaged"});
}

TEST_CASE("a dataset that claims far more than it stores is not allocated") {
  const test::TemporaryFolder folder;
  const hid_t file = H5Fcreate((folder / "huge.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t sizes[] = {hsize_t{1} << 40}, chunk[] = {1024};
  const hid_t space = H5Screate_simple(1, sizes, nullptr), layout = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(layout, 1, chunk);
  H5Dclose(H5Dcreate2(file, "data", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, layout, H5P_DEFAULT));
  H5Pclose(layout);
  H5Sclose(space);
  H5Fclose(file);
  test::require_error([&] { Hdf5File(folder / "huge.h5").read_float("data"); }, {"huge.h5:data", "0 stored bytes"});
}

}  // namespace geosft::test::test_hdf5_file
