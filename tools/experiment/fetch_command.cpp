// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>

#include "data/data_error.h"
#include "data/read_file.h"
#include "data/safe_join.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/experiment_commands.h"
#include "tools/experiment/gnuplot.h"
#include "tools/experiment/key_names.h"
#include "tools/experiment/published_sets.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

// Returns the last line of a log that has a text, without the name of the program in front.
std::string last_line(const fs::path& log) {
  std::string found;
  std::error_code error;
  if (!fs::exists(log, error)) return found;
  std::istringstream in(read_file(log));
  for (std::string line; std::getline(in, line);) {
    if (!trimmed(line).empty()) found = trimmed(line);
  }
  return found;
}

// Downloads `url` to `file`. Throws DataError naming the address, with what the program said.
void download(const std::string& url, const fs::path& file, const std::string& by_hand) {
  const fs::path folder = file.parent_path(), partial = file.filename().string() + ".partial";
  const std::string log = "." + file.filename().string() + ".log";
  std::error_code ignored;
  int status = run_program({"curl", "--fail", "--location", "--silent", "--show-error", "--retry", "2",
                            "--connect-timeout", "20", "--output", partial.string(), url},
                           folder, log);
  if (status == -ENOENT) {
    status =
        run_program({"wget", "--no-verbose", "--tries=3", "--timeout=20", "-O", partial.string(), url}, folder, log);
  }
  const std::string said = status == 0 ? "" : last_line(folder / log);
  fs::remove(folder / log, ignored);
  if (status == 0) return fs::rename(folder / partial, file);
  fs::remove(folder / partial, ignored);
  if (status == -ENOENT) throw DataError("cannot download " + url + ": neither curl nor wget is installed" + by_hand);
  throw DataError("cannot download " + url + ": " + (said.empty() ? "the download failed" : said) + by_hand);
}

struct FetchCommand {
  std::string program, name, folder = "datasets", mirror;
  bool any_version = false;

  int execute() const {
    if (name.empty()) {
      for (const PublishedSet& set : published_sets()) {
        if (set.program == program) std::cout << set.name << ": " << set.about << "; " << set.url << '\n';
      }
      return 0;
    }
    if (name == "furniture" && program == "geosft-classify") {
      throw UsageError("furniture is a package of Debian: apt-get install sweethome3d-furniture");
    }
    const PublishedSet* const set = find_published(program, name);
    if (set == nullptr) {
      std::string known;
      for (const std::string& one : published_names(program)) known += (known.empty() ? "" : ", ") + one;
      const std::string page = program.substr(program.find('-') + 1);
      throw UsageError("no set '" + name + "' to fetch" + nearest_hint(name, published_names(program)) +
                       "; known are " + known + "; tools/" + page + "/README.md says where others are from");
    }
    fetch(*set);
    return 0;
  }

  void fetch(const PublishedSet& set) const {
    const fs::path target = fs::path(folder) / set.name, archive = fs::absolute(folder) / (set.name + ".zip");
    if (path_exists(target)) {
      std::cerr << target.string() << " is there already\n";
    } else {
      std::error_code error;
      fs::create_directories(folder, error);
      if (error) throw DataError(folder, "a folder that can be made", error.message());
      const bool kept = path_exists(archive);
      if (!kept) {
        const std::string url = mirror.empty() ? set.url : mirror + "/" + fs::path(set.url).filename().string();
        std::cerr << "downloading " << url << '\n';
        download(url, archive, "; the same command unpacks " + archive.string() + " where you put that file there");
      }
      try {
        unpack_published(set, archive, folder, any_version);
      } catch (...) {
        if (!kept) fs::remove(archive, error);
        throw;
      }
      if (!kept) fs::remove(archive, error);
      if (set.sums.empty()) std::cerr << "no checksum of this set is known: it is as the server gave it\n";
    }
    std::cout << target.string() << '\n';
  }
};

}  // namespace

Command fetch_command(CLI::App& subcommand, const std::string& program) {
  auto command = std::make_shared<FetchCommand>();
  command->program = program;
  subcommand.add_option("NAME", command->name, "the set; without it, list those that can be fetched");
  subcommand.add_option("--to", command->folder, "folder to put it into, as a folder of its name")
      ->capture_default_str();
  subcommand.add_option("--mirror", command->mirror, "address (https://… or file://…) that has the same archive");
  subcommand.add_flag("--any-version", command->any_version, "take files of other checksums, too");
  return [command] { return command->execute(); };
}

}  // namespace geosft
