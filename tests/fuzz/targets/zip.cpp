// SPDX-License-Identifier: Apache-2.0
#include "data/formats/zip_archive.h"
#include "tests/data/zip_files.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

void read_zip(const std::string& input) {
  static const InputFolder folder({});
  test::write_text(folder / "input.zip", input);
  const ZipArchive archive(folder / "input.zip");
  archive.read("a", 1 << 20);
  archive.read("b/c", 1 << 20);
}

Inputs zip_seeds() {
  return {bytes_of_file([](const std::filesystem::path& file) {
    test::write_zip(file, {{"a", "short"}, {"b/c", std::string(300, 'x')}, {"b/d", ""}});
  })};
}

const Registration zip({"zip", read_zip, zip_seeds});

}  // namespace
}  // namespace geosft::fuzz
