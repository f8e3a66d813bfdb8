// SPDX-License-Identifier: Apache-2.0
// The files that a command reads: named one by one, by folder or by pattern, and how they are read.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "data/points/point_dataset.h"

namespace CLI {
class App;
}

namespace geosft {

struct InputFiles {
  std::vector<std::string> files;
  bool several;         // more than one file is, or could have been, named
  bool of_set = false;  // they are the names of the clouds of a dataset
};

// What a command reads: files, told by their endings, and folders that are one input each.
struct InputKind {
  std::string endings;  // such as "*.ply, *.obj", for messages
  bool (*is_file)(const std::filesystem::path& file);
  bool (*is_set)(const std::filesystem::path& folder) = nullptr;  // nullptr: none
  // Removes and returns files that belong to others; nullptr: there are none.
  std::vector<std::filesystem::path> (*take_companions)(std::vector<std::filesystem::path>& files) = nullptr;
  // Returns whether a file with such an ending is something else, which a search leaves out; nullptr: none is.
  bool (*is_other)(const std::filesystem::path& file) = nullptr;
};

// Replaces each folder by the files of this kind below it at any depth, and each pattern (*, ? or [...], where no file
// has this name) by the files and folders that match it; both sorted, without hidden files, repetitions and files that
// belong to others. RUN folders and files that are something else, below a folder or of a pattern, are left
// out, and a line on stderr says so. Folders that are one input, and other names, are kept, whether or not there is
// such a file. Throws DataError naming a folder or pattern without a file of this kind.
InputFiles input_files(const std::vector<std::string>& given, const InputKind& kind);

// Returns the same, of shape files, and of files in formats that must be converted first: reading them says by what.
InputFiles input_shape_files(const std::vector<std::string>& given);

// Calls each(i) for 0 <= i < count. A DataError is printed to stderr as one line, "TOOL: error: …", and passed to
// `failed`, and the next file follows; with `fail_fast` it is thrown. Returns the exit code: 1 if there was an error,
// otherwise 0.
int for_each_file(const char* tool, size_t count, bool fail_fast, const std::function<void(size_t)>& each,
                  const std::function<void(size_t, const std::string& error)>& failed = {});

// Returns the notes on a file without its name in front.
std::vector<std::string> notes_alone(const std::string& file, const std::vector<std::string>& notes);

// Prints notes on files: of notes that differ only in the file and in numbers the first, and in the end one line on all
// others, with the range of their numbers.
class FileNotes {
 public:
  // Takes the notes on a file; each begins with its name, as `FILE: `.
  void add(const std::string& file, const std::vector<std::string>& notes);
  // Prints how many more files have each note: "3 more files: has no normals", and "2 more files, each: of its 4275 to
  // 4568 points 4096 are taken at random"; or of `item`s, which are no files.
  void finish(const std::string& item = "file") const;

 private:
  struct Kind {
    std::vector<std::string> low, high;  // the words and numbers of the other notes: their smallest and largest values
    size_t more = 0;
  };
  std::map<std::string, Kind> kinds_;  // by the text without numbers
};

// Formats a line of a CSV file (RFC 4180): fields with commas, quotes or line breaks are quoted.
std::string csv_line(const std::vector<std::string>& fields);

// Predictions for input files, which are printed as they come, collected for a CSV file whose last column are errors.
class PredictionTable {
 public:
  // Collects nothing without a file. `item` names what is predicted, in messages.
  PredictionTable(std::string file, std::vector<std::string> columns, std::string item = "file");
  bool requested() const { return !file_.empty(); }
  // Adds the row of a prediction.
  void add(std::vector<std::string> row);
  // Predicts file by file, as for_each_file does; of one that fails the table has its name and the error, and with
  // `json` an object of these is printed. Then writes the table. If a signal arrives (install_interrupt_handler), it
  // has the files that are done, and Interrupted is thrown; the same holds where standard output cannot be written, and
  // its std::ios_base::failure.
  int predict(const char* tool, const std::vector<std::string>& files, bool fail_fast,
              const std::function<void(size_t)>& each, bool json = false);

 private:
  std::string file_;
  std::vector<std::string> columns_;
  std::string item_;
  std::string rows_;
};

struct FileOptions {
  std::string columns = {};        // of tables of text, such as "x,y,z,r,g,b"; empty: by header and values
  bool drop_invalid = true;        // leave out points without finite coordinates; otherwise they are an error
  bool estimated_normals = false;  // of all files, also of those that have others

  // Adds --columns and --drop-invalid; or --columns alone.
  void add_to(CLI::App& subcommand);
  void add_columns_to(CLI::App& subcommand);
  // Throws UsageError if `columns` are given and none of the files has columns that can be named. Returns how many of
  // the files have none, as a line; empty if all have some, or without `columns`.
  std::string columns_note(const std::vector<std::string>& files) const;
  void apply(PointDatasetOptions& options) const {
    options.columns = columns;
    options.drop_invalid = drop_invalid;
  }
};

}  // namespace geosft
