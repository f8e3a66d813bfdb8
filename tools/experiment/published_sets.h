// SPDX-License-Identifier: Apache-2.0
// Published datasets that `fetch` downloads: where they are, and checksums of their files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace geosft {

struct PublishedSet {
  std::string name;     // of the set, and of its folder
  std::string program;  // the tool that it is for
  std::string url;      // of a zip archive
  std::string about;    // one line
  struct FileSum {
    std::string file, sha256;
  };
  std::vector<FileSum> sums = {};  // of unpacked files; empty: none is known
};

const std::vector<PublishedSet>& published_sets();

// Returns the names of the sets for a program, in the order of the table.
std::vector<std::string> published_names(const std::string& program);

// Returns the set of that name (in any case) for a program; null if there is none.
const PublishedSet* find_published(const std::string& program, const std::string& name);

// Unpacks the archive of a set into `folder` / NAME, without a single folder around all files, and checks the sums.
// Nothing is left if that fails. Throws DataError for a broken archive, and for other files than the sums are of unless
// `any_version`.
void unpack_published(const PublishedSet& set, const std::filesystem::path& archive,
                      const std::filesystem::path& folder, bool any_version);

// Returns "; `geosft-graph fetch MUTAG --to 'datasets/tu'` downloads it" if nothing is at `data` and its last
// part is the name of a set; else an empty string.
std::string fetch_hint(const std::string& program, const std::filesystem::path& data);

}  // namespace geosft
