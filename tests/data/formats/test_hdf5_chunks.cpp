// SPDX-License-Identifier: Apache-2.0
#include "data/formats/hdf5_chunks.h"

#include <c10/util/accumulate.h>
#include <hdf5.h>
#include <zlib.h>

#include <catch2/catch.hpp>

#include "data/formats/hdf5_file.h"
#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_hdf5_chunks {
namespace {

// A file with the dataset "data" of so many bytes in chunks, filtered as `filters` says, filled with ones where
// `filled`; what `chunk_zero` holds is stored as the first chunk, as it is.
struct ChunkedFile {
  hsize_t count = 1000, chunk = 100;
  void (*filters)(hid_t) = [](hid_t) {};
  bool filled = true;
  std::string chunk_zero = {};
  hsize_t zero_at = 0;  // its first number

  void write(const std::filesystem::path& path) const {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t any = H5S_UNLIMITED;  // a chunk may be larger than the dataset then
    const hid_t space = H5Screate_simple(1, &count, &any), list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 1, &chunk);
    filters(list);
    const hid_t data = H5Dcreate2(file, "data", H5T_NATIVE_UINT8, space, H5P_DEFAULT, list, H5P_DEFAULT);
    REQUIRE(data >= 0);
    const std::string ones(count, 1);
    if (filled) H5Dwrite(data, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, ones.data());
    if (!chunk_zero.empty()) H5Dwrite_chunk(data, H5P_DEFAULT, 0, &zero_at, chunk_zero.size(), chunk_zero.data());
    H5Dclose(data);
    H5Pclose(list);
    H5Sclose(space);
    H5Fclose(file);
  }
};

void deflated(hid_t list) {
  H5Pset_deflate(list, 6);
}

std::string packed(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, 0);
  REQUIRE(compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                    bytes.size(), 9) == Z_OK);
  return out.substr(0, size);
}

struct Refused {
  TemporaryFolder folder;
  void operator()(const ChunkedFile& made, const std::vector<std::string>& words) const {
    made.write(folder / "a.h5");
    require_error([&] { Hdf5File(folder / "a.h5").read_int("data"); }, words);
  }
};

}  // namespace

TEST_CASE("chunks with the usual filters are read, large ones too") {
  const TemporaryFolder folder;
  for (const auto filters : {+[](hid_t) {}, &deflated, +[](hid_t list) { H5Pset_fletcher32(list); },
                             +[](hid_t list) {
                               H5Pset_shuffle(list);
                               H5Pset_deflate(list, 4);
                               H5Pset_fletcher32(list);
                             }}) {
    ChunkedFile{.count = 1000, .chunk = 77, .filters = filters}.write(folder / "a.h5");
    CHECK(Hdf5File(folder / "a.h5").read_int("data").eq(1).all().item<bool>());
  }
  // Noise, which does not become smaller.
  const at::Tensor noise = at::randint(0, 256, {900000}, generator(1), at::kByte);
  geosft::write_hdf5(folder / "b.h5", {{"data", noise}});
  require_equal(Hdf5File(folder / "b.h5").read_int("data"), noise.to(at::kLong), "noise");
}

namespace {

// The numbers 0, 1, … of this shape, as `type` in the file, in chunks with all filters, those partial at the edge too
// or not. The first rows alone are written, the others are the fill value 7.
void write_box(const std::filesystem::path& path, hid_t type, const std::vector<hsize_t>& shape,
               const std::vector<hsize_t>& chunk, hsize_t rows, bool latest) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), list = H5Pcreate(H5P_DATASET_CREATE);
  if (latest) H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const int rank = static_cast<int>(shape.size()), seven = 7;
  const hid_t space = H5Screate_simple(rank, shape.data(), nullptr);
  H5Pset_chunk(list, rank, chunk.data());
  if (latest) H5Pset_chunk_opts(list, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
  H5Pset_shuffle(list);
  H5Pset_fletcher32(list);
  H5Pset_deflate(list, 2);
  H5Pset_fletcher32(list);
  H5Pset_fill_value(list, H5T_NATIVE_INT, &seven);
  const hid_t data = H5Dcreate2(file, "data", type, space, H5P_DEFAULT, list, H5P_DEFAULT);
  std::vector<hsize_t> part = shape;
  const std::vector<hsize_t> origin(shape.size(), 0);
  part[0] = rows;
  hsize_t count = 1;
  for (const hsize_t size : part) count *= size;
  const at::Tensor numbers = at::arange(static_cast<int64_t>(count), at::kLong);
  const hid_t memory = H5Screate_simple(1, &count, nullptr);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, origin.data(), nullptr, part.data(), nullptr);
  if (count > 0) H5Dwrite(data, H5T_NATIVE_INT64, memory, space, H5P_DEFAULT, numbers.data_ptr());
  for (const hid_t handle : {memory, space}) H5Sclose(handle);
  H5Dclose(data);
  for (const hid_t handle : {list, access}) H5Pclose(handle);
  H5Fclose(file);
}

}  // namespace

TEST_CASE("chunks that were never written are zero, before and behind one that was") {
  const TemporaryFolder folder;
  ChunkedFile{.filled = false, .chunk_zero = std::string(100, 2), .zero_at = 500}.write(folder / "a.h5");
  at::Tensor expected = at::zeros({1000}, at::kLong);
  expected.slice(0, 500, 600).fill_(2);
  require_equal(Hdf5File(folder / "a.h5").read_int("data"), expected, "numbers");
}

TEST_CASE("chunks of any shape, type and number of dimensions are put together") {
  const TemporaryFolder folder;
  struct Example {
    std::vector<hsize_t> shape, chunk;
  };
  for (const Example& example : {Example{{31}, {4}}, Example{{3}, {3}}, Example{{12, 5}, {4, 2}},
                                 Example{{9, 20, 3}, {2, 20, 3}}, Example{{8, 6, 5, 4}, {3, 6, 2, 3}}}) {
    const std::vector<int64_t> sizes(example.shape.begin(), example.shape.end());
    for (const hid_t type : {H5T_STD_I16BE, H5T_STD_U32LE, H5T_STD_I64LE, H5T_IEEE_F32LE, H5T_IEEE_F64BE}) {
      for (const bool latest : {false, true}) {
        for (const hsize_t rows : {example.shape[0], hsize_t{2}, hsize_t{0}}) {
          CAPTURE(sizes, latest, rows);
          write_box(folder / "a.h5", type, example.shape, example.chunk, rows, latest);
          at::Tensor expected = at::arange(c10::multiply_integers(sizes), at::kLong).view(sizes).clone();
          expected.slice(0, static_cast<int64_t>(rows)).fill_(7);
          const Hdf5File file(folder / "a.h5");
          require_equal(file.read_float("data"), expected.to(at::kFloat), "float32");
          const bool integers = type != H5T_IEEE_F32LE && type != H5T_IEEE_F64BE;
          if (integers) require_equal(file.read_int("data"), expected, "int64");
        }
      }
    }
  }
}

TEST_CASE("chunks that are larger than the file may become are refused") {
  const Refused refused;
  refused({.count = 1000, .chunk = hsize_t{300} << 20, .filters = deflated, .filled = false},
          {"a.h5:data", "chunks of at most", "314572800"});
}

TEST_CASE("more chunks than the file has room for are refused") {
  const Refused refused;
  refused({.count = 66400, .chunk = 1, .filled = false, .chunk_zero = "1"}, {"a.h5:data", "fewer chunks", "66400"});
}

TEST_CASE("a chunk that unpacks to more than its size is refused") {
  const Refused refused;
  const std::string zeros(size_t{300} << 20, 0);
  refused({.count = 1000, .chunk = 1000, .filters = deflated, .filled = false, .chunk_zero = packed(zeros)},
          {"a.h5:data", "chunks that unpack to their 1000 bytes", "one of more"});
}

TEST_CASE("a chunk that unpacks to less than its size is refused") {
  const Refused refused;
  refused({.count = 1000, .chunk = 1000, .filters = deflated, .filled = false, .chunk_zero = packed("short")},
          {"a.h5:data", "chunks that unpack to their 1000 bytes", "one of fewer"});
}

TEST_CASE("chunks without filters that say that they have another size stay within theirs") {
  const TemporaryFolder folder;
  for (const int64_t stored : {900, 1000, 20000}) {
    CAPTURE(stored);
    const std::string ones(static_cast<size_t>(stored), 1);
    ChunkedFile{.count = 2000, .chunk = 1000, .filled = true, .chunk_zero = ones, .zero_at = 1000}.write(folder /
                                                                                                         "a.h5");
    at::Tensor expected = at::zeros({2000}, at::kLong);
    expected.slice(0, 0, 1000 + stored).fill_(1);
    require_equal(Hdf5File(folder / "a.h5").read_int("data"), expected, "data");
  }
}

TEST_CASE("damage to the index of the chunks is seen") {
  const TemporaryFolder folder;
  ChunkedFile{.count = 100000, .chunk = 10}.write(folder / "a.h5");
  const std::string bytes = read_text(folder / "a.h5");
  int damaged = 0;  // of the trees some are of names
  for (size_t at = bytes.find("TREE"); at != std::string::npos && damaged < 20; at = bytes.find("TREE", at + 1)) {
    write_text(folder / "a.h5", std::string(bytes).replace(at, 4, "tree"));
    require_error([&] { Hdf5File(folder / "a.h5").read_int("data"); }, {"a.h5"});
    ++damaged;
  }
  CHECK(damaged > 2);
}

TEST_CASE("damage to a chunk is seen") {
  const Refused refused;
  refused({.filters = deflated, .chunk_zero = packed(std::string(100, 1)).replace(5, 2, "xx")},
          {"a.h5:data", "damaged"});
  const auto summed = [](hid_t list) { H5Pset_fletcher32(list); };
  refused({.filters = summed, .chunk_zero = std::string(104, 1)}, {"a.h5:data", "damaged"});
  refused({.filters = summed, .chunk_zero = "abc"}, {"a.h5:data", "damaged"});
}

TEST_CASE("filters that could unpack to anything are refused") {
  const Refused refused;
  refused({.filters =
               [](hid_t list) {
                 H5Pset_deflate(list, 1);
                 H5Pset_deflate(list, 1);
               }},
          {"a.h5:data", "deflate (once)", "filter 1"});
  refused({.filters = [](hid_t list) { H5Pset_scaleoffset(list, H5Z_SO_INT, 0); }}, {"a.h5:data", "filter 6"});
}

}  // namespace geosft::test::test_hdf5_chunks
