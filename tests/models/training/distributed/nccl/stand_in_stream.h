// SPDX-License-Identifier: Apache-2.0
// What a stream of the pretended device is to the stand-in for NCCL.
#pragma once

#include <functional>

namespace geosft::test {

struct StandInStream {
  virtual ~StandInStream() = default;
  // Done after what came before, beside the caller.
  virtual void add(std::function<void()> task) = 0;
};

}  // namespace geosft::test
