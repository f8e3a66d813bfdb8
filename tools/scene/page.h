// SPDX-License-Identifier: Apache-2.0
// Writes a subject with all its colourings to one HTML file that a browser shows without a network.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "tools/experiment/html_report.h"
#include "tools/scene/camera.h"
#include "tools/scene/choices.h"
#include "tools/scene/contact_sheet.h"

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

// Largest sum of the scenes that a report holds, in bytes.
inline constexpr int64_t max_report_bytes = 100'000'000;

// Returns the subject in its usual colouring, for one of `count` places in a report: without the attention if that
// takes more than the place has, and nullopt if the rest does, too.
std::optional<PageScene> report_scene(const Subject& subject, int64_t count, int64_t max_bytes = max_report_bytes);

// Returns the page with the marks %TITLE%, %SCENE% and %ARRAYS%, in this order, in place of a scene.
std::string empty_page();

}  // namespace geosft::view
