// SPDX-License-Identifier: Apache-2.0
#include "data/formats/hdf5_file.h"

#include <hdf5.h>

#include <catch2/catch.hpp>
#include <functional>

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

TEST_CASE("numbers that a float32 does not hold are read as float64") {
  const test::TemporaryFolder folder;
  const at::Tensor far = at::tensor({694386.123456789, -0.1}, at::kDouble);
  test::write_hdf5(folder / "a.h5", {{"double", far},
                                     {"float", at::tensor({0.1F})},
                                     {"int", at::tensor({(1 << 24) + 1}, at::kInt)},
                                     {"byte", at::tensor({7}, at::kByte)}});
  const Hdf5File file(folder / "a.h5");
  test::require_equal(file.read_real("double"), far, "float64");
  test::require_equal(file.read_real("float"), at::tensor({0.1F}), "float32");
  test::require_equal(file.read_real("int"), at::tensor({16777217.0}, at::kDouble), "int32");
  test::require_equal(file.read_real("byte"), at::tensor({7.0F}), "uint8");
  test::require_error([&] { file.read_real("other"); }, {"a.h5:other", "none"});
  CHECK(file.unsigned_max("byte") == 255);
  for (const char* name : {"int", "float", "other"}) CHECK_FALSE(file.unsigned_max(name).has_value());
}

TEST_CASE("a pointer or a page under an HDF5 file's name says what it is") {
  const test::TemporaryFolder folder;
  test::write_text(folder / "a.h5", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n");
  test::require_error([&] { Hdf5File(folder / "a.h5"); }, {"a.h5", "an HDF5 file", "Git LFS pointer"});
  test::write_text(folder / "a.h5", "<!DOCTYPE html><html>");
  test::require_error([&] { Hdf5File(folder / "a.h5"); }, {"a.h5", "an HTML page"});
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

TEST_CASE("a name without a folder is that of the working folder of the moment") {
  const test::TemporaryFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  for (const int number : {1, 2}) {
    const std::filesystem::path inner = folder / std::to_string(number);
    test::write_hdf5(inner / "a.h5", {{"data", at::full({3}, number)}});
    std::filesystem::current_path(inner);
    test::require_equal(Hdf5File("a.h5").read_int("data"), at::full({3}, number, at::kLong), "data");
  }
  test::require_error([] { Hdf5File("a.h5").read_int("other"); }, {"a.h5:other"});
  std::filesystem::current_path(before);
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

namespace {

// A file with the dataset "data" of so many floats, laid out as `layout` says.
void write_laid_out(const std::filesystem::path& path, hsize_t count, const std::function<void(hid_t)>& layout) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(1, &count, nullptr), list = H5Pcreate(H5P_DATASET_CREATE);
  layout(list);
  H5Dclose(H5Dcreate2(file, "data", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, list, H5P_DEFAULT));
  H5Pclose(list);
  H5Sclose(space);
  H5Fclose(file);
}

}  // namespace

TEST_CASE("an HDF5 bomb is refused") {
  const test::TemporaryFolder folder;
  geosft::write_hdf5(folder / "bomb.h5", {{"data", at::zeros({300 << 20}, at::kByte)}});
  CHECK(std::filesystem::file_size(folder / "bomb.h5") < 2000000);
  test::require_error([&] { Hdf5File(folder / "bomb.h5").read_int("data"); },
                      {"bomb.h5:data", "a size that fits its", "stored bytes", "[314572800] numbers"});
}

TEST_CASE("a dataset that claims to be stored in more bytes than its file has is not allocated") {
  const test::TemporaryFolder folder;
  write_laid_out(folder / "a.h5", 1000, [](hid_t layout) { H5Pset_alloc_time(layout, H5D_ALLOC_TIME_EARLY); });
  std::string bytes = test::read_text(folder / "a.h5");
  // 1,000 numbers, and 4,000 bytes: both become a million times as many.
  for (const uint64_t claim : {1000, 4000}) {
    const std::string from = test::raw(claim), to = test::raw(claim * 1000000);
    REQUIRE(bytes.find(from) != std::string::npos);
    for (size_t at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at + 8)) bytes.replace(at, 8, to);
  }
  test::write_text(folder / "a.h5", bytes);
  test::require_error([&] { Hdf5File(folder / "a.h5").read_float("data"); }, {"a.h5"});
}

TEST_CASE("a dataset in one piece that holds fewer numbers than it has is refused") {
  const test::TemporaryFolder folder;
  const auto in_header = [](hid_t layout) { H5Pset_layout(layout, H5D_COMPACT); };
  const auto in_file = [](hid_t layout) { H5Pset_alloc_time(layout, H5D_ALLOC_TIME_EARLY); };
  for (const bool compact : {true, false}) {
    CAPTURE(compact);
    write_laid_out(folder / "a.h5", 10, [&](hid_t layout) { compact ? in_header(layout) : in_file(layout); });
    test::require_equal(Hdf5File(folder / "a.h5").read_float("data"), at::zeros({10}), "as it is");
    std::string bytes = test::read_text(folder / "a.h5");
    const std::string from = test::raw(uint64_t{10});
    REQUIRE(bytes.find(from) != std::string::npos);
    for (size_t at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at + 8)) {
      bytes.replace(at, 8, test::raw(uint64_t{1000}));
    }
    test::write_text(folder / "a.h5", bytes);
    test::require_error([&] { Hdf5File(folder / "a.h5").read_float("data"); },
                        {"a.h5:data", "all of its numbers", "40 bytes"});
  }
  write_laid_out(folder / "b.h5", 10, [](hid_t) {});
  test::require_equal(Hdf5File(folder / "b.h5").read_float("data"), at::zeros({10}), "never written");
}

TEST_CASE("datasets without numbers, or with overflowing sizes around a 0, are refused") {
  const test::TemporaryFolder folder;
  const hid_t file = H5Fcreate((folder / "a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t sizes[] = {0, hsize_t{1} << 40, hsize_t{1} << 40};
  const hid_t spaces[] = {H5Screate(H5S_NULL), H5Screate_simple(3, sizes, nullptr)};
  for (const int i : {0, 1}) {
    const std::string name = i == 0 ? "null" : "empty";
    H5Dclose(H5Dcreate2(file, name.c_str(), H5T_NATIVE_FLOAT, spaces[i], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(spaces[i]);
  }
  H5Fclose(file);
  test::require_error([&] { Hdf5File(folder / "a.h5").read_float("null"); }, {"a.h5:null", "numbers", "none"});
  test::require_error([&] { Hdf5File(folder / "a.h5").read_float("empty"); }, {"a.h5:empty", "stored bytes"});
}

TEST_CASE("a file that ends the HDF5 library is an error of the file") {
  const test::TemporaryFolder folder;
  write_laid_out(folder / "a.h5", 1000, [](hid_t layout) {
    const hsize_t chunk = 777;
    H5Pset_chunk(layout, 1, &chunk);
  });
  const std::string bytes = test::read_text(folder / "a.h5");
  const size_t layout = bytes.find("\3\2\2" + std::string(8, '\xff') + test::raw(uint32_t{777}));
  REQUIRE(layout != std::string::npos);
  // Another version of the layout, or no dimensions: libhdf5 1.10.8 divides by zero.
  for (const auto& [place, value] : {std::pair(0, '\1'), std::pair(0, '\2'), std::pair(2, '\0')}) {
    std::string damaged = bytes;
    damaged[layout + static_cast<size_t>(place)] = value;
    test::write_text(folder / "a.h5", damaged);
    test::require_error([&] { Hdf5File(folder / "a.h5").read_float("data"); }, {"a.h5:data"});
  }
}

TEST_CASE("an HDF5 file does not lead to other files") {
  const test::TemporaryFolder folder;
  geosft::write_hdf5(folder / "other.h5", {{"data", at::ones({3})}});
  test::write_text(folder / "secret", "0123456789ab");
  const hid_t file = H5Fcreate((folder / "link.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external((folder / "other.h5").c_str(), "data", file, "data", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_soft("/data", file, "soft", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(file);
  for (const char* name : {"data", "soft"}) {
    test::require_error([&] { Hdf5File(folder / "link.h5").read_float(name); }, {"link.h5:", "in the file itself"});
  }
  const std::string secret = (folder / "secret").string();
  write_laid_out(folder / "outside.h5", 3, [&](hid_t layout) { H5Pset_external(layout, secret.c_str(), 0, 12); });
  write_laid_out(folder / "virtual.h5", 3, [&](hid_t layout) {
    const hsize_t count = 3;
    const hid_t space = H5Screate_simple(1, &count, nullptr);
    H5Pset_virtual(layout, space, (folder / "other.h5").c_str(), "data", space);
    H5Sclose(space);
  });
  for (const char* name : {"outside.h5", "virtual.h5"}) {
    test::require_error([&] { Hdf5File(folder / name).read_float("data"); }, {name, "a reference to another file"});
  }
}

}  // namespace geosft::test::test_hdf5_file
