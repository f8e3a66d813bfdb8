// SPDX-License-Identifier: Apache-2.0
// Defines the error of operators that are given NaN or infinity.
#pragma once

#include <c10/util/Exception.h>

#include <string>

namespace geosft {

// Thrown by an operator that is given NaN or infinity where it needs finite numbers, typically the first error of a
// diverged training run. In Python it is a RuntimeError like the other errors.
class NonFiniteError : public c10::Error {
 public:
  explicit NonFiniteError(const std::string& message)
      : c10::Error(c10::SourceLocation{__func__, __FILE__, static_cast<uint32_t>(__LINE__)}, message) {}
};

}  // namespace geosft
