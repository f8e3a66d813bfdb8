// SPDX-License-Identifier: Apache-2.0
// Reads and writes JPEG with libjpeg-turbo. Callers take read_picture, which knows PNG as well.
#pragma once

#include "data/formats/picture.h"

namespace geosft {

bool is_jpeg(std::string_view bytes);
// Reads as read_picture does, for JPEG alone.
ColourImage read_jpeg(std::string_view bytes, const std::string& file);

}  // namespace geosft
