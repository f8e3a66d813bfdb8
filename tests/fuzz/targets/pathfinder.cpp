// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/pathfinder.h"
#include "data/formats/png.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

void read_pathfinder_folder(const std::string& input) {
  static const InputFolder folder({"metadata/0.npy", "imgs/0/a.png"});
  test::write_text(folder / "imgs/0/b.png", png_bytes({2, 2, {1, 2, 3, 4}}));
  read_pathfinder(folder.fill(input));
}

const Registration pathfinder({"pathfinder", read_pathfinder_folder, [] {
                                 return Inputs{
                                     joined({"imgs/0 b.png 0 1\nimgs/0 b.png 1 0 x 2\n"}),
                                     joined({"imgs/0 a.png 0 1\nimgs/0 b.png 1 0\n", png_bytes({2, 2, {9, 8, 7, 6}})})};
                               }});

}  // namespace
}  // namespace geosft::fuzz
