// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/input_files.h"

#include <CLI/CLI.hpp>

#include <glob.h>
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "data/atomic_file.h"
#include "data/data_error.h"
#include "data/formats/point_columns.h"
#include "data/formats/shape_file.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/report_texts.h"
#include "tools/experiment/run_folder.h"

namespace geosft {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> sorted_names(std::vector<fs::path> files, const InputKind& kind) {
  if (kind.take_companions) kind.take_companions(files);
  std::vector<std::string> names(files.begin(), files.end());
  std::sort(names.begin(), names.end());
  return names;
}

// Collects what a search left out.
struct LeftOut {
  std::set<std::string> runs, others;

  void say() const {
    const auto say_of = [](const std::set<std::string>& paths, const char* what) {
      if (paths.empty()) return;
      std::cerr << *paths.begin() << ": " << what << ", left out"
                << (paths.size() > 1 ? " (and " + std::to_string(paths.size() - 1) + " more)" : "") << '\n';
    };
    say_of(runs, "a RUN folder");
    say_of(others, "a text without rows of three numbers");
  }
};

std::vector<std::string> files_below(const fs::path& folder, const InputKind& kind, LeftOut& left_out) {
  const auto is_set = [&](const fs::path& path) { return kind.is_set && kind.is_set(path); };
  const auto is_other = [&](const fs::path& file) { return kind.is_other && kind.is_other(file); };
  if (is_set(folder)) return {folder.string()};
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code unknown;
    const bool is_folder = at->is_directory(unknown), hidden = at->path().filename().string().starts_with('.');
    const bool is_run = is_folder && !hidden && RunFolder::holds_run(at->path());
    const bool found = !hidden && !is_run && (is_folder ? is_set(at->path()) : kind.is_file(at->path()));
    if (found && !is_folder && is_other(at->path())) {
      left_out.others.insert(at->path().string());
    } else if (found) {
      files.push_back(at->path());
    }
    if (is_run) left_out.runs.insert(at->path().string());
    if (is_folder && (hidden || is_run || found)) at.disable_recursion_pending();
  }
  if (error) throw DataError(folder.string(), "a folder that can be read", error.message());
  return sorted_names(std::move(files), kind);
}

std::vector<std::string> matches_of(const std::string& pattern, const InputKind& kind, LeftOut& left_out) {
  glob_t found{};
  const std::unique_ptr<glob_t, void (*)(glob_t*)> owner(&found, ::globfree);
  std::vector<fs::path> files;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; ++i) {
      const std::string path = found.gl_pathv[i];
      if (RunFolder::holds_run(path)) {
        left_out.runs.insert(path);
      } else if (fs::is_directory(path)) {
        const std::vector<std::string> below = files_below(path, kind, left_out);
        files.insert(files.end(), below.begin(), below.end());
      } else if (kind.is_file(path) && kind.is_other && kind.is_other(path)) {
        left_out.others.insert(path);
      } else if (kind.is_file(path)) {
        files.push_back(path);
      }
    }
  }
  if (files.empty()) {
    throw DataError(pattern, "a pattern of files that end in " + kind.endings, "no such file");
  }
  return sorted_names(std::move(files), kind);
}

bool is_digit(char letter) {
  return std::isdigit(static_cast<unsigned char>(letter)) != 0;
}

// Splits a text into numbers, such as 12 or 0.5, and the texts between them, in turns: the first is no number.
std::vector<std::string> words_and_numbers(const std::string& text) {
  std::vector<std::string> all(1);
  bool in_number = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool point = in_number && text[i] == '.' && i + 1 < text.size() && is_digit(text[i + 1]) &&
                       all.back().find('.') == std::string::npos;
    const bool number = is_digit(text[i]) || point;
    if (number != in_number) all.emplace_back();
    in_number = number;
    all.back() += text[i];
  }
  return all;
}

bool is_smaller(const std::string& number, const std::string& than) {
  return std::strtod(number.c_str(), nullptr) < std::strtod(than.c_str(), nullptr);
}

}  // namespace

InputFiles input_files(const std::vector<std::string>& given, const InputKind& kind) {
  InputFiles inputs{{}, given.size() > 1};
  std::set<std::string> known;
  LeftOut left_out;
  const auto add = [&](const std::vector<std::string>& files) {
    inputs.several = true;
    for (const std::string& file : files) {
      if (known.insert(file).second) inputs.files.push_back(file);
    }
  };
  for (const std::string& name : given) {
    std::error_code error;
    const bool folder = fs::is_directory(name, error);
    if (folder && !(kind.is_set && kind.is_set(name))) {
      const size_t before = left_out.runs.size();
      const std::vector<std::string> below = files_below(name, kind, left_out);
      if (below.empty()) {
        const bool runs = left_out.runs.size() > before;
        std::string found = runs ? "none in this folder outside of its RUN folders" : "none in this folder";
        if (!left_out.others.empty()) {
          found = "texts without rows of three numbers alone, such as " + *left_out.others.begin();
        }
        throw DataError(name, "files that end in " + kind.endings, found);
      }
      add(below);
    } else if (!folder && !fs::exists(name, error) && name.find_first_of("*?[") != std::string::npos) {
      add(matches_of(name, kind, left_out));
    } else {
      known.insert(name);
      inputs.files.push_back(name);
    }
  }
  left_out.say();
  return inputs;
}

InputFiles input_shape_files(const std::vector<std::string>& given) {
  const auto is_cloud = [](const fs::path& file) { return has_shape_extension(file) || has_converted_extension(file); };
  return input_files(given, {shape_extensions(), is_cloud, nullptr, take_companions, is_text_of_words});
}

int for_each_file(const char* tool, size_t count, bool fail_fast, const std::function<void(size_t)>& each,
                  const std::function<void(size_t, const std::string& error)>& failed) {
  int code = 0;
  for (size_t i = 0; i < count; ++i) {
    try {
      each(i);
    } catch (const DataError& error) {
      if (fail_fast) throw;
      const std::string text = error.what(), line = text.substr(0, text.find('\n'));
      std::cout << std::flush;  // in the order of the files where both are one terminal
      std::cerr << std::string(tool) + ": error: " + line + "\n" << std::flush;
      if (failed) failed(i, line);
      code = 1;
    }
  }
  return code;
}

void FileNotes::add(const std::string& file, const std::vector<std::string>& notes) {
  const std::vector<std::string> texts = notes_alone(file, notes);
  for (size_t i = 0; i < notes.size(); ++i) {
    const std::string &note = notes[i], &text = texts[i];
    const std::vector<std::string> words = words_and_numbers(text);
    std::string kind;
    for (size_t at = 0; at < words.size(); ++at) kind += at % 2 == 0 ? words[at] : "0";
    const auto [known, is_new] = kinds_.try_emplace(kind);
    if (is_new) {
      std::cerr << note << '\n';
      continue;
    }
    auto& [low, high, more] = known->second;
    if (++more == 1) low = high = words;
    for (size_t at = 1; at < words.size(); at += 2) {
      if (is_smaller(words[at], low[at])) low[at] = words[at];
      if (is_smaller(high[at], words[at])) high[at] = words[at];
    }
  }
}

std::vector<std::string> notes_alone(const std::string& file, const std::vector<std::string>& notes) {
  std::vector<std::string> texts;
  for (const std::string& note : notes) {
    texts.push_back(note.starts_with(file + ": ") ? note.substr(file.size() + 2) : note);
  }
  return texts;
}

void FileNotes::finish(const std::string& item) const {
  for (const auto& [kind, notes] : kinds_) {
    if (notes.more == 0) continue;
    std::string text;
    for (size_t at = 0; at < notes.low.size(); ++at) {
      text += notes.low[at] == notes.high[at] ? notes.low[at] : notes.low[at] + " to " + notes.high[at];
    }
    std::cerr << notes.more << " more " << item << (notes.more == 1 ? "" : "s, each") << ": " << text << '\n';
  }
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) line += ',';
    if (fields[i].find_first_of(",\"\r\n") == std::string::npos) {
      line += fields[i];
      continue;
    }
    line += '"';
    for (const char c : fields[i]) line += c == '"' ? std::string("\"\"") : std::string(1, c);
    line += '"';
  }
  return line + "\n";
}

PredictionTable::PredictionTable(std::string file, std::vector<std::string> columns, std::string item)
    : file_(std::move(file)), columns_(std::move(columns)), item_(std::move(item)) {
  columns_.emplace_back("error");
}

void PredictionTable::add(std::vector<std::string> row) {
  if (!requested()) return;
  row.emplace_back();
  rows_ += csv_line(row);
}

int PredictionTable::predict(const char* tool, const std::vector<std::string>& files, bool fail_fast,
                             const std::function<void(size_t)>& each, bool json) {
  size_t done = 0;
  const auto write = [&] {
    if (requested()) write_file_atomically(file_, csv_line(columns_) + rows_);
  };
  const auto next = [&](size_t i) {
    throw_if_interrupted(("between two " + item_ + "s").c_str());
    done = i;
    each(i);
    done = i + 1;
  };
  const auto failed = [&](size_t i, const std::string& error) {
    if (json) std::cout << json_line({{"file", files[i]}, {"error", error}});
    std::vector<std::string> row(columns_.size());
    row.front() = files[i];
    row.back() = error;
    rows_ += csv_line(row);
    done = i + 1;
  };
  int code = 0;
  try {
    code = for_each_file(tool, files.size(), fail_fast, next, failed);
  } catch (const Interrupted& stop) {
    write();
    throw Interrupted(std::string(stop.what()) + ": " + std::to_string(done) + " of " + std::to_string(files.size()) +
                      " " + item_ + "s are done" + (requested() ? ", and in " + file_ : ""));
  } catch (...) {  // of fail_fast, or where nobody reads standard output any more, as after `| head`
    write();
    throw;
  }
  write();
  return code;
}

void FileOptions::add_columns_to(CLI::App& subcommand) {
  subcommand
      .add_option("--columns", columns,
                  "of tables of text or NumPy, such as x,y,z,r,g,b or x,y,z,nx,ny,nz (default: by header and values)")
      ->check(columns_error);
}

std::string FileOptions::columns_note(const std::vector<std::string>& files) const {
  if (columns.empty()) return "";
  const auto first = std::ranges::find_if_not(files, [](const std::string& file) { return has_columns(file); });
  const auto others = std::ranges::count_if(files, [](const std::string& file) { return !has_columns(file); });
  if (others == 0) return "";
  if (static_cast<size_t>(others) == files.size()) {
    throw UsageError("--columns is for tables of text and NumPy arrays: " + *first +
                     " is none, and says itself what it holds");
  }
  return "--columns is for tables of text and NumPy arrays, which " + std::to_string(others) + " of " +
         std::to_string(files.size()) + " files are not, such as " + *first;
}

void FileOptions::add_to(CLI::App& subcommand) {
  add_columns_to(subcommand);
  subcommand.add_flag("--drop-invalid,!--no-drop-invalid", drop_invalid,
                      "leave out points without finite coordinates (default)");
}

}  // namespace geosft
