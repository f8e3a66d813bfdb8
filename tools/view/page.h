// SPDX-License-Identifier: Apache-2.0
// Writes a subject with all its colourings to one HTML file that a browser shows without a network.
#pragma once

#include <cstdint>
#include <filesystem>

#include "tools/view/camera.h"
#include "tools/view/choices.h"
#include "tools/view/contact_sheet.h"

namespace geosft::view {

// Largest page that is written, in bytes.
inline constexpr int64_t max_page_bytes = 200'000'000;

// Writes the points, edges, surface and parts of the subject and of its rotated copy, and from the trace the importance
// scores, samples, attention and diversity of every layer and head. The page opens with the chosen colouring and
// camera. Attention weights are rounded to 1/255 of the largest one of their row. Throws UsageError, with advice, if
// the page would exceed `max_bytes`, and as scene_of does for choices that the subject does not have; DataError if the
// file cannot be written.
void write_page(const Subject& subject, const Choices& choices, const Camera& camera, const std::filesystem::path& file,
                int64_t max_bytes = max_page_bytes);

// The same for the items of a contact sheet, which turn together, on one scale.
void write_sheet_page(const ContactSheet& sheet, const Camera& camera, const std::filesystem::path& file,
                      int64_t max_bytes = max_page_bytes);

}  // namespace geosft::view
