// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/output_files.h"

#include <c10/util/StringUtil.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <system_error>

#include "tools/experiment/arguments.h"

namespace geosft {
namespace fs = std::filesystem;

namespace {

void refuse_input(const std::string& option, const fs::path& output, const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    std::error_code absent;  // an absent output overwrites nothing
    if (fs::equivalent(output, file, absent)) {
      throw UsageError(option + ": " + output.string() + " is one of the files that are read: name another folder");
    }
  }
}

bool is_below(const fs::path& folder, const fs::path& above) {
  return std::mismatch(above.begin(), above.end(), folder.begin(), folder.end()).first == above.end();
}

void make_folder(const std::string& option, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (fs::is_directory(folder, error)) return;
  throw UsageError(option + ": of several files a folder is left, which " + folder.string() + " cannot be");
}

// Returns the folder of a file, as an absolute path.
fs::path absolute_folder(const std::string& file) {
  return fs::absolute(file).lexically_normal().parent_path();
}

// Returns the deepest folder that all files are in.
fs::path common_folder(const std::vector<std::string>& files) {
  fs::path common = absolute_folder(files.front());
  for (const std::string& file : files) {
    const fs::path folder = absolute_folder(file);
    while (common.has_relative_path() && !is_below(folder, common)) common = common.parent_path();
  }
  return common;
}

}  // namespace

std::string unwritable(const std::string& file) {
  const fs::path folder = fs::path(file).has_parent_path() ? fs::path(file).parent_path() : fs::path(".");
  std::error_code error;
  if (!fs::is_directory(folder, error)) return "there is no folder '" + folder.string() + "' for '" + file + "'";
  if (::access(folder.c_str(), W_OK) == 0) return "";
  return "the folder '" + folder.string() + "' cannot be written to: " + std::strerror(errno);
}

OutputFiles::OutputFiles(const std::string& option, const std::string& option_value,
                         const std::vector<std::string>& files, const std::string& extension, bool several) {
  if (option_value.empty()) return;
  if (files.size() == 1 && !several) {
    paths_ = {option_value};
    return;
  }
  const std::set<std::string> stems = [&] {
    std::set<std::string> all;
    for (const std::string& file : files) all.insert(fs::path(file).stem().string());
    return all;
  }();
  const fs::path top = stems.size() < files.size() ? common_folder(files) : fs::path();  // empty: no sub-folders
  std::map<fs::path, int> without_extension;  // how many files of a folder have this stem
  for (const std::string& file : files) ++without_extension[absolute_folder(file) / fs::path(file).stem()];
  std::map<fs::path, std::string> owners;
  for (const std::string& file : files) {
    const bool alone = without_extension.at(absolute_folder(file) / fs::path(file).stem()) == 1;
    const fs::path name = (alone ? fs::path(file).stem() : fs::path(file).filename()).string() + extension;
    const fs::path below = top.empty() ? fs::path() : absolute_folder(file).lexically_relative(top);
    const fs::path output = (below.empty() || below == "." ? fs::path(option_value) : option_value / below) / name;
    refuse_input(option, output, files);
    const auto [owner, is_new] = owners.emplace(output, file);
    if (!is_new) {
      throw UsageError(c10::str(option, ": ", owner->second, " and ", file, " would both leave ", output.string()));
    }
    paths_.push_back(output);
  }
  for (const fs::path& output : paths_) make_folder(option, output.parent_path());
}

}  // namespace geosft
