// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/published_sets.h"

#include <algorithm>

#include "data/atomic_file.h"
#include "data/data_error.h"
#include "data/formats/text_lines.h"
#include "data/formats/zip_archive.h"
#include "data/read_file.h"
#include "data/safe_join.h"
#include "data/sha256.h"
#include "tools/experiment/arguments.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

// Removes a folder at the end unless it was renamed.
struct TemporaryFolder {
  fs::path path;
  explicit TemporaryFolder(fs::path folder) : path(std::move(folder)) {
    std::error_code error;
    fs::remove_all(path, error);
    fs::create_directories(path, error);
    if (error) throw DataError(path.string(), "a folder that can be made", error.message());
  }
  ~TemporaryFolder() {
    std::error_code error;
    fs::remove_all(path, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
};

void unpack(const fs::path& archive, const fs::path& folder) {
  const ZipArchive zip(archive);
  for (const std::string& member : zip.members()) {
    if (member.ends_with('/') || member.starts_with("__MACOSX/")) continue;
    const fs::path file = safe_join(folder, member, archive);
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    if (error) throw DataError(file.parent_path().string(), "a folder that can be made", error.message());
    write_file_atomically(file, zip.read(member, uint64_t{1} << 32));
  }
}

// Returns the folder, or the only folder in it if there is nothing beside that.
fs::path top_of(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) found.push_back(entry.path());
  return found.size() == 1 && fs::is_directory(found.front()) ? found.front() : folder;
}

void check_sums(const PublishedSet& set, const fs::path& folder) {
  for (const auto& [file, expected] : set.sums) {
    const std::string found = sha256(read_file(folder / file));
    if (found == expected) continue;
    throw DataError(set.url, file + " of SHA-256 " + expected + " (--any-version takes another)", found);
  }
}

}  // namespace

const std::vector<PublishedSet>& published_sets() {
  static const std::vector<PublishedSet> sets = {
      {"MUTAG",
       "geosft-graph",
       "https://www.chrsmrrs.com/graphkerneldatasets/MUTAG.zip",
       "188 molecules, 2 classes",
       {{"MUTAG_A.txt", "d9656ca7493f3445d737c711710bb36fd432dddd1c0ea32e1d4713c86ebd28e2"},
        {"MUTAG_graph_indicator.txt", "7d520a4d6c7961c0cdeabe076d8fe27e795b6d373485c9a2b744987e560a2056"},
        {"MUTAG_graph_labels.txt", "a1518ea39ba3426bd42f57396b9c4baffe68e9adc718caeeab0119c6591a5f2c"},
        {"MUTAG_node_labels.txt", "678f429965490e84dd27713017538c995fc05d1621beac910848b600015ee863"},
        {"MUTAG_edge_labels.txt", "4669ce755075ff86c3240709345745886400908fa637a49310459b9c267b3e56"}}},
      {"ENZYMES",
       "geosft-graph",
       "https://www.chrsmrrs.com/graphkerneldatasets/ENZYMES.zip",
       "600 proteins, 6 classes",
       {{"ENZYMES_A.txt", "5553c84f8f562f3e199dfd27192174f485e85c44c1357661098668937a739cbf"},
        {"ENZYMES_graph_indicator.txt", "95ba0fa47eba6f02e6b754a215dc66d5b49de3f45f57a128514301a8d7ed5f46"},
        {"ENZYMES_graph_labels.txt", "04743e08967e61e65cdacbb90f8df6ee53742b3d2e7b84675b85ebac70506856"},
        {"ENZYMES_node_labels.txt", "8263eb9b64efa231a5886343483ccfc0342f2407014763a8f738fd51c32ce770"},
        {"ENZYMES_node_attributes.txt", "305a8fc3b12f79fb844ef3374d6a3c8ceeb4887dd4f86bbfe37932c4c5434e7b"}}},
      {"NCI1",
       "geosft-graph",
       "https://www.chrsmrrs.com/graphkerneldatasets/NCI1.zip",
       "4,110 molecules, 2 classes",
       {{"NCI1_A.txt", "2c028eda59a5fe96e2265a63d9ac236901bd9a7dc658498be13cd704a703076d"},
        {"NCI1_graph_indicator.txt", "ffe5acfa754b057d5ce0dc725c5aadb631628161886cc040d38c719635257dc5"},
        {"NCI1_graph_labels.txt", "fae44681e70113f496256ae87eaac33b7836e3a97fe8e023933b84fde6a5c8a2"},
        {"NCI1_node_labels.txt", "dc0a22b6cbff0c939de00373e823977ba32b358f560e4288d7602f7b51407ee2"}}},
      {"PROTEINS_full",
       "geosft-graph",
       "https://www.chrsmrrs.com/graphkerneldatasets/PROTEINS_full.zip",
       "1,113 proteins with node values, 2 classes",
       {{"PROTEINS_full_A.txt", "4c4b33e272fc95cac6d27ed6d5d12b9a852c8610e91fff59f8f0dbdd5a20df67"},
        {"PROTEINS_full_graph_indicator.txt", "8d4ff1e852a5c28561e9bffb44cf9490bc552b13a3b6156dd12dc7f44e9afc4a"},
        {"PROTEINS_full_graph_labels.txt", "c0ef9810c440775252872318d0c8adc385588e14bc4c47a2c34aa96ee3c7cdcd"},
        {"PROTEINS_full_node_labels.txt", "f758e8ad3d6e3c026b50833d75f6f90735b94eb3345e4243707f495ca8afea8d"}}},
      {"PROTEINS", "geosft-graph", "https://www.chrsmrrs.com/graphkerneldatasets/PROTEINS.zip",
       "1,113 proteins, 2 classes"},
      {"PTC_MR", "geosft-graph", "https://www.chrsmrrs.com/graphkerneldatasets/PTC_MR.zip", "344 molecules, 2 classes"},
      {"DD", "geosft-graph", "https://www.chrsmrrs.com/graphkerneldatasets/DD.zip", "1,178 proteins, 2 classes"},
      {"IMDB-BINARY", "geosft-graph", "https://www.chrsmrrs.com/graphkerneldatasets/IMDB-BINARY.zip",
       "1,000 networks of actors, 2 classes"},
      {"COLLAB", "geosft-graph", "https://www.chrsmrrs.com/graphkerneldatasets/COLLAB.zip",
       "5,000 networks of authors, 3 classes"},
      {"BasicMotions",
       "geosft-sequence",
       "https://timeseriesclassification.com/aeon-toolkit/BasicMotions.zip",
       "40 + 40 series of 6 values, 4 classes",
       {{"BasicMotions_TRAIN.ts", "8dc43cc6306cb679c888c01e26f91772ac4441a916da43bac8b79734a538b9d6"},
        {"BasicMotions_TEST.ts", "79213102bc6fca1a398ad98ce1185dff0208fa3d1465e687f48288946b0ff8dc"}}},
      {"JapaneseVowels",
       "geosft-sequence",
       "https://timeseriesclassification.com/aeon-toolkit/JapaneseVowels.zip",
       "270 + 370 series of 12 values, 9 classes",
       {{"JapaneseVowels_TRAIN.ts", "68a430eabd919cc77f40b1f5f3bc0dcafacc1486bca9260785aeb7d262cc78cd"},
        {"JapaneseVowels_TEST.ts", "b3d41d6a0ca3bcad3afb9ca7d4365382aa51341e2e58bae2a574babdda5b9462"}}},
      {"UWaveGestureLibrary",
       "geosft-sequence",
       "https://timeseriesclassification.com/aeon-toolkit/UWaveGestureLibrary.zip",
       "120 + 320 series of 3 values, 8 classes",
       {{"UWaveGestureLibrary_TRAIN.ts", "e1d656037ceb880fe3d4ef7f83f2ee38459897ebaaada93527a17a86823bc92d"},
        {"UWaveGestureLibrary_TEST.ts", "734b30171297cc4c209485020466d83dabd2b7ecf76edc10957354f2557d0964"}}},
      {"modelnet40_ply_hdf5_2048", "geosft-classify",
       "https://shapenet.cs.stanford.edu/media/modelnet40_ply_hdf5_2048.zip",
       "ModelNet40, 2,048 points of each of 12,311 shapes"},
      {"shapenet_part_seg_hdf5_data", "geosft-segment",
       "https://shapenet.cs.stanford.edu/media/shapenet_part_seg_hdf5_data.zip",
       "ShapeNetPart, 2,048 points of each of 16,881 shapes, without normals"},
  };
  return sets;
}

std::vector<std::string> published_names(const std::string& program) {
  std::vector<std::string> names;
  for (const PublishedSet& set : published_sets()) {
    if (set.program == program) names.push_back(set.name);
  }
  return names;
}

const PublishedSet* find_published(const std::string& program, const std::string& name) {
  const auto& sets = published_sets();
  const auto found = std::find_if(sets.begin(), sets.end(), [&](const PublishedSet& set) {
    return set.program == program && lower_case(set.name) == lower_case(name);
  });
  return found == sets.end() ? nullptr : &*found;
}

void unpack_published(const PublishedSet& set, const fs::path& archive, const fs::path& folder, bool any_version) {
  const TemporaryFolder temporary(folder / ("." + set.name + ".unpacking"));
  unpack(archive, temporary.path);
  const fs::path top = top_of(temporary.path);
  if (!any_version) check_sums(set, top);
  fs::rename(top, folder / set.name);
}

std::string fetch_hint(const std::string& program, const fs::path& data) {
  const PublishedSet* const set = find_published(program, data.filename().string());
  if (set == nullptr || path_exists(data)) return "";
  const std::string fetch = "; `" + program + " fetch " + set->name;
  if (data.has_parent_path()) {
    const std::string other =
        data.filename() == set->name ? "" : ", for --data " + shell_word((data.parent_path() / set->name).string());
    return fetch + " --to " + shell_word(data.parent_path().string()) + "` downloads it" + other;
  }
  return fetch + "` downloads it, for --data datasets/" + set->name;
}

}  // namespace geosft
