// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace geosft {

// The version of the library that is loaded, "major.minor.patch". Libraries of one major.minor replace one another.
const char* version();

}  // namespace geosft
