// SPDX-License-Identifier: Apache-2.0
// Names output files: options of the command line, and paths that are derived from input files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace CLI {
class Option;
class App;
}  // namespace CLI

namespace geosft {

// Returns the file that a path leads to: the last of its symbolic links, which need not exist. A link to a pipe or a
// device is returned itself.
std::filesystem::path linked_file(std::filesystem::path path);

// Returns why the file, or the one that it links to, cannot be written, judged by its folder; empty if it can.
std::string unwritable(const std::string& file);

// Says that the value of an option is a file to write: one that cannot be written is an error before a long computation
// begins, and refuse_overwritten_inputs knows the option. A link is replaced by the file that it leads to.
CLI::Option* as_output_file(CLI::Option* option);

// Throws UsageError where an output file of a parsed command line is one of its other arguments, in whatever spelling,
// or is already there in a folder among these that is no RUN, unless it is a picture, a page or JSON.
void refuse_overwritten_inputs(const CLI::App& app);

// An option with one output per input file. For one input it names the output file; for several it names a folder,
// which is created and holds STEM + `extension` per input; where two files have one STEM, below the folders that they
// have below the deepest folder of all, and in one folder by the names with their extensions. For the clouds of a
// dataset it holds NAME + `extension`, in the folders that the names have.
class OutputFiles {
 public:
  // `option_value` is that of `option`; empty: no outputs. `several`: it names a folder even for one file. `of_set`:
  // `files` are the names of the clouds of a dataset, each another, and it names a folder, too. Throws UsageError
  // naming `option` if an output would replace another one or an input, and if it cannot be written.
  OutputFiles(const std::string& option, const std::string& option_value, const std::vector<std::string>& files,
              const std::string& extension, bool several = false, bool of_set = false);
  bool requested() const { return !paths_.empty(); }
  const std::filesystem::path& operator[](size_t file) const { return paths_.at(file); }

 private:
  std::vector<std::filesystem::path> paths_;
};

}  // namespace geosft
