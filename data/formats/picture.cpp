// SPDX-License-Identifier: Apache-2.0
#include "data/formats/picture.h"

#include "data/data_error.h"
#include "data/formats/jpeg.h"
#include "data/formats/png.h"
#include "data/formats/text_lines.h"

namespace geosft {

ColourImage read_picture(std::string_view bytes, const std::string& file) {
  if (is_jpeg(bytes)) return read_jpeg(bytes, file);
  if (bytes.starts_with("\x89PNG")) return read_colour_png(bytes, file);
  throw DataError(file, "a JPEG or a PNG", bytes.empty() ? "an empty file" : "neither");
}

bool is_picture_name(const std::string& name) {
  const std::string lower = lower_case(name);
  return lower.ends_with(".jpg") || lower.ends_with(".jpeg") || lower.ends_with(".png");
}

}  // namespace geosft
