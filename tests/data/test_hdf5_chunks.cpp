// SPDX-License-Identifier: Apache-2.0
#include "data/hdf5_chunks.h"

#include <hdf5.h>
#include <zlib.h>

#include <catch2/catch.hpp>

#include "data/hdf5_file.h"
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
    const hsize_t first = 0;
    if (!chunk_zero.empty()) H5Dwrite_chunk(data, H5P_DEFAULT, 0, &first, chunk_zero.size(), chunk_zero.data());
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
  // One chunk of noise, which does not become smaller: it is unpacked twice.
  const at::Tensor noise = at::randint(0, 256, {900000}, generator(1), at::kByte);
  geosft::write_hdf5(folder / "b.h5", {{"data", noise}});
  require_equal(Hdf5File(folder / "b.h5").read_int("data"), noise.to(at::kLong), "noise");
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
