// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace geosft {

// A function of a library of this project that nothing is linked with, as `library` lies beside this code; null where
// it does not, cannot be loaded, or has no such function.
void* function_beside(const std::string& library, const char* function);

}  // namespace geosft
