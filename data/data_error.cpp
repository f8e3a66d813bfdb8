// SPDX-License-Identifier: Apache-2.0
#include "data/data_error.h"

namespace geosft {
namespace {

std::string broken_text(const std::vector<std::string>& messages) {
  if (messages.size() == 1) return messages.front();
  std::string text = std::to_string(messages.size()) + " broken files: ";
  for (size_t i = 0; i < messages.size() && i < max_named_files; ++i) text += (i > 0 ? "; " : "") + messages[i];
  if (messages.size() > max_named_files) text += "; and " + std::to_string(messages.size() - max_named_files) + " more";
  return text;
}

}  // namespace

BrokenFiles::BrokenFiles(std::vector<std::string> messages)
    : DataError(broken_text(messages)), messages_(std::move(messages)) {}

}  // namespace geosft
