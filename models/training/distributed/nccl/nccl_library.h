// SPDX-License-Identifier: Apache-2.0
// Declares the functions of NVIDIA's NCCL 2 that are used, by their ABI: LibTorch for CUDA ships the library but not
// its header.
#pragma once

#include <cstddef>
#include <string>

namespace geosft::nccl {

struct Group;  // ncclComm

struct UniqueId {
  char bytes[128];
};

enum class Result : int { success = 0, in_progress = 7 };
enum class DataType : int { int64 = 4, float32 = 7, float64 = 8 };
enum class Reduction : int { sum = 0 };

// Named as in nccl.h; `stream` is a cudaStream_t.
struct Library {
  Result (*get_unique_id)(UniqueId* id);
  Result (*comm_init_rank)(Group** group, int size, UniqueId id, int rank);
  Result (*all_reduce)(const void* from, void* to, size_t count, DataType type, Reduction by, Group* group,
                       void* stream);
  Result (*comm_get_async_error)(Group* group, Result* error);
  Result (*comm_abort)(Group* group);
  Result (*comm_destroy)(Group* group);
  const char* (*get_error_string)(Result result);
  const char* (*get_last_error)(Group* group);
};

// `name` is a file, or a name for dlopen to search. The library stays loaded. Throws std::runtime_error if it cannot be
// loaded or lacks a function.
Library load_library(const std::string& name);

// Returns the error message of a result.
std::string error_message(const Library& library, Result result, Group* group);

// Throws std::runtime_error with `what` and the error message unless the result is a success.
void require_success(const Library& library, Result result, Group* group, const std::string& what);

}  // namespace geosft::nccl
