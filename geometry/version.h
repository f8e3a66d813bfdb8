// SPDX-License-Identifier: Apache-2.0
// Tells the version of the library.
#pragma once

namespace geosft {

// Returns the version of the loaded library, "major.minor.patch". Libraries with the same major.minor are
// interchangeable.
const char* version();

}  // namespace geosft
