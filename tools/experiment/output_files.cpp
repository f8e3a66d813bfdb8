// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/output_files.h"

#include <c10/util/StringUtil.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <system_error>

#include "tools/experiment/arguments.h"
#include "tools/experiment/run_folder.h"

namespace geosft {
namespace fs = std::filesystem;

namespace {

constexpr const char* output_check = "output file";  // the name of the check of as_output_file

bool is_same_file(const fs::path& output, const fs::path& file) {
  std::error_code absent;  // an absent output overwrites nothing
  return fs::is_regular_file(output, absent) && fs::equivalent(output, file, absent);
}

void refuse_input(const std::string& option, const fs::path& output, const std::vector<std::string>& files,
                  const char* instead) {
  for (const std::string& file : files) {
    if (!is_same_file(output, file)) continue;
    throw UsageError(option + ": " + output.string() + " is one of the files that are read: name another " + instead);
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

bool is_output_file(const CLI::Option& option) {
  try {
    return const_cast<CLI::Option&>(option).get_validator(output_check) != nullptr;
  } catch (const CLI::OptionNotFound&) {
    return false;
  }
}

// Returns whether `folder`, a dataset to read, has the file already, as one of its own it seems.
bool holds_input(const fs::path& folder, const fs::path& file) {
  constexpr std::array<const char*, 7> never_read = {".png", ".svg", ".html", ".json", ".gif", ".webm", ".mp4"};
  std::error_code absent;
  if (!fs::is_directory(folder, absent) || RunFolder::holds_run(folder) || !fs::is_regular_file(file, absent))
    return false;
  if (std::find(never_read.begin(), never_read.end(), file.extension()) != never_read.end()) return false;
  return is_below(fs::canonical(file).parent_path(), fs::canonical(folder));
}

}  // namespace

CLI::Option* as_output_file(CLI::Option* option) {
  const auto resolve = [](std::string& file) {
    std::string reason = unwritable(file);
    if (reason.empty()) file = linked_file(file).string();
    return reason;
  };
  return option->transform(CLI::Validator(resolve, "", output_check));
}

void refuse_overwritten_inputs(const CLI::App& app) {
  const std::vector<const CLI::Option*> options = app.get_options();
  for (const CLI::Option* option : options) {
    if (option->empty() || !is_output_file(*option)) continue;
    const std::string name = option->get_name(), file = option->results().front();
    for (const CLI::Option* other : options) {
      if (other == option) continue;
      for (const std::string& argument : other->results()) {
        if (is_same_file(file, argument)) {
          throw UsageError(name + ": " + file + " is one of the files that are read: name another file");
        }
        if (holds_input(argument, file)) {
          throw UsageError(name + ": " + file + " is a file of " + argument + ", which is read: name another file");
        }
      }
    }
  }
  for (const CLI::App* subcommand : app.get_subcommands()) refuse_overwritten_inputs(*subcommand);
}

fs::path linked_file(fs::path path) {
  constexpr int max_links = 40;  // as in Linux
  std::error_code error;
  if (fs::is_other(fs::status(path, error))) return path;
  for (int links = 0; links < max_links && fs::is_symlink(path, error); ++links) {
    const fs::path next = fs::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / next;  // which is `next` if that is absolute
  }
  return path;
}

std::string unwritable(const std::string& file) {
  if (file == "-") return "'-' is not the standard output here: name a file";
  std::error_code error;
  if (fs::is_other(fs::status(file, error))) {
    if (::access(file.c_str(), W_OK) == 0) return "";
    return "'" + file + "' cannot be written to: " + std::strerror(errno);
  }
  for (const char* open : {"/dev/std", "/dev/fd/", "/proc/"}) {  // of a file that is open already
    if (file.starts_with(open)) return "'" + file + "' is not a file of its own: name another file";
  }
  const auto folder_of = [](const fs::path& one) { return one.has_parent_path() ? one.parent_path() : fs::path("."); };
  const fs::path place = linked_file(file);
  for (const fs::path& one : {fs::path(file), place}) {
    if (RunFolder::holds_run(folder_of(one)) && RunFolder::open(folder_of(one)).keeps(one.filename())) {
      return "'" + file + "' is a file of the RUN itself: name another file";
    }
  }
  const fs::path folder = folder_of(place);
  if (!fs::is_directory(folder, error)) return "there is no folder '" + folder.string() + "' for '" + file + "'";
  if (::access(folder.c_str(), W_OK) == 0) return "";
  return "the folder '" + folder.string() + "' cannot be written to: " + std::strerror(errno);
}

OutputFiles::OutputFiles(const std::string& option, const std::string& option_value,
                         const std::vector<std::string>& files, const std::string& extension, bool several,
                         bool of_set) {
  if (option_value.empty()) return;
  const auto written_file = [&](const fs::path& output) {
    if (const std::string reason = unwritable(output.string()); !reason.empty()) {
      throw UsageError(option + ": " + reason);
    }
    return linked_file(output);
  };
  const auto make_folders = [&] {
    for (fs::path& output : paths_) {
      make_folder(option, output.parent_path());
      output = written_file(output);
    }
  };
  if (of_set) {
    for (const std::string& name : files) paths_.push_back(fs::path(option_value) / (name + extension));
    make_folders();
    return;
  }
  if (files.size() == 1 && !several) {
    refuse_input(option, option_value, files, "file");
    paths_ = {written_file(option_value)};
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
    refuse_input(option, output, files, "folder");
    const auto [owner, is_new] = owners.emplace(output, file);
    if (!is_new) {
      throw UsageError(c10::str(option, ": ", owner->second, " and ", file, " would both leave ", output.string()));
    }
    paths_.push_back(output);
  }
  make_folders();
}

}  // namespace geosft
