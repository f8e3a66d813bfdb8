// SPDX-License-Identifier: Apache-2.0
#include "models/training/distributed/nccl/nccl_library.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <type_traits>

#include "tests/environment.h"
#include "tests/support.h"
#if GEOSFT_HAS_NCCL_HEADER
#include <nccl.h>
#endif

namespace geosft::test::test_nccl_library {

namespace {

// The number that LibTorch's copy of NCCL's declarations, a header that comes with every LibTorch, gives to a name.
int libtorch_number(const std::string& name) {
  std::ifstream file(GEOSFT_LIBTORCH_NCCL);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  std::smatch found;
  INFO(GEOSFT_LIBTORCH_NCCL << ": " << name);
  REQUIRE(std::regex_search(text, found, std::regex("\\b" + name + "( =)? ([0-9]+)")));
  return std::stoi(found[2]);
}

}  // namespace

TEST_CASE("NCCL's numbers are those of LibTorch's copy of its header", "[nccl]") {
  CHECK(sizeof(nccl::UniqueId) == static_cast<size_t>(libtorch_number("NCCL_UNIQUE_ID_BYTES")));
  CHECK(static_cast<int>(nccl::Result::success) == libtorch_number("Success"));
  CHECK(static_cast<int>(nccl::Result::in_progress) == libtorch_number("InProgress"));
  CHECK(static_cast<int>(nccl::DataType::int64) == libtorch_number("Int64"));
  CHECK(static_cast<int>(nccl::DataType::float32) == libtorch_number("Float32"));
  CHECK(static_cast<int>(nccl::DataType::float64) == libtorch_number("Float64"));
  CHECK(static_cast<int>(nccl::Reduction::sum) == libtorch_number("Sum"));
}

#if GEOSFT_HAS_NCCL_HEADER
namespace {

// Whether a call passes the one as it passes the other.
template <class Own, class Theirs>
constexpr bool passed_alike =
    sizeof(Own) == sizeof(Theirs) && std::is_pointer_v<Own> == std::is_pointer_v<Theirs>&& std::is_class_v<Own> ==
                                         std::is_class_v<Theirs>;

template <class R, class... Own, class S, class... Theirs>
constexpr bool called_alike(R (*)(Own...), S (*)(Theirs...)) {
  if constexpr (sizeof...(Own) != sizeof...(Theirs)) {
    return false;
  } else {
    return passed_alike<R, S> && (passed_alike<Own, Theirs> && ...);
  }
}

}  // namespace

TEST_CASE("NCCL's functions are called as its header says", "[nccl]") {
  const nccl::Library own{};
  CHECK(called_alike(own.get_unique_id, &ncclGetUniqueId));
  CHECK(called_alike(own.comm_init_rank, &ncclCommInitRank));
  CHECK(called_alike(own.all_reduce, &ncclAllReduce));
  CHECK(called_alike(own.comm_get_async_error, &ncclCommGetAsyncError));
  CHECK(called_alike(own.comm_abort, &ncclCommAbort));
  CHECK(called_alike(own.comm_destroy, &ncclCommDestroy));
  CHECK(called_alike(own.get_error_string, &ncclGetErrorString));
  CHECK(called_alike(own.get_last_error, &ncclGetLastError));
  CHECK(sizeof(nccl::UniqueId) == NCCL_UNIQUE_ID_BYTES);
  CHECK((static_cast<int>(nccl::Result::success) == ncclSuccess));
  CHECK((static_cast<int>(nccl::Result::in_progress) == ncclInProgress));
  CHECK((static_cast<int>(nccl::DataType::int64) == ncclInt64));
  CHECK((static_cast<int>(nccl::DataType::float32) == ncclFloat32));
  CHECK((static_cast<int>(nccl::DataType::float64) == ncclFloat64));
  CHECK((static_cast<int>(nccl::Reduction::sum) == ncclSum));
}
#else
TEST_CASE("NCCL's functions are called as its header says", "[nccl]") {
  leave_out_here("no nccl.h: the functions that are declared of NCCL are not compared");
}
#endif

TEST_CASE("a missing library, and one that is not NCCL, is an error", "[nccl]") {
  require_error([] { nccl::load_library("libgeosft_nowhere.so"); }, {"NCCL cannot be loaded", "libgeosft_nowhere.so"});
  require_error([] { nccl::load_library("libm.so.6"); }, {"no function ncclGetUniqueId"});
}

}  // namespace geosft::test::test_nccl_library
