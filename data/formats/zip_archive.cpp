// SPDX-License-Identifier: Apache-2.0
#include "data/formats/zip_archive.h"

#include <zip.h>

#include <algorithm>
#include <mutex>

#include "data/data_error.h"
#include "data/formats/compression.h"
#include "data/safe_join.h"

namespace geosft {
namespace {

struct CloseArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseMember {
  void operator()(zip_file_t* member) const { zip_fclose(member); }
};

std::string open_error(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

}  // namespace

struct ZipArchive::State {
  std::string file;
  uint64_t bytes = 0;  // size of the file
  std::unique_ptr<zip_t, CloseArchive> archive;
  std::mutex mutex;
};

ZipArchive::ZipArchive(const std::filesystem::path& file) : state_(std::make_unique<State>()) {
  int code = 0;
  state_->file = file.string();
  state_->archive.reset(zip_open(file.c_str(), ZIP_RDONLY, &code));
  if (!state_->archive) throw DataError(state_->file, "a zip file", open_error(code));
  state_->bytes = std::filesystem::file_size(file);
  check_names();
}

ZipArchive::ZipArchive(std::string_view bytes, const std::string& name) : state_(std::make_unique<State>()) {
  state_->file = name;
  state_->bytes = bytes.size();
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  if (source != nullptr) state_->archive.reset(zip_open_from_source(source, ZIP_RDONLY, &error));
  const std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  if (!state_->archive) {
    if (source != nullptr) zip_source_free(source);
    throw DataError(name, "a zip file", text);
  }
  check_names();
}

void ZipArchive::check_names() const {
  // Members are never extracted to disk; an archive with such names is rejected as malicious.
  for (zip_int64_t i = 0; i < zip_get_num_entries(state_->archive.get(), 0); ++i) {
    if (const char* name = zip_get_name(state_->archive.get(), static_cast<zip_uint64_t>(i), 0)) {
      safe_join({}, name, state_->file);
    }
  }
}

ZipArchive::~ZipArchive() = default;
ZipArchive::ZipArchive(ZipArchive&&) noexcept = default;

std::vector<std::string> ZipArchive::members() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<std::string> names;
  for (zip_int64_t i = 0; i < zip_get_num_entries(state_->archive.get(), 0); ++i) {
    if (const char* name = zip_get_name(state_->archive.get(), static_cast<zip_uint64_t>(i), 0))
      names.emplace_back(name);
  }
  return names;
}

std::string ZipArchive::read(const std::string& member, uint64_t limit) const {
  const std::lock_guard lock(state_->mutex);
  const std::string name = state_->file + ":" + member;
  zip_stat_t about;
  constexpr zip_uint64_t known = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
  if (zip_stat(state_->archive.get(), member.c_str(), 0, &about) != 0 || (about.valid & known) != known) {
    throw DataError(name, "a member of the zip file", zip_strerror(state_->archive.get()));
  }
  limit = std::min(limit, max_unpacked(std::min<uint64_t>(about.comp_size, state_->bytes)));
  const std::string at_most = "at most " + std::to_string(limit) + " bytes unpacked";
  if (about.size > limit) throw DataError(name, at_most, std::to_string(about.size));
  const std::unique_ptr<zip_file_t, CloseMember> stream(
      zip_fopen_index(state_->archive.get(), about.index, ZIP_FL_UNCHANGED));
  if (!stream) throw DataError(name, "a readable member", zip_strerror(state_->archive.get()));
  std::string bytes;
  // Read in pieces, because the size stated in the archive may be wrong.
  constexpr uint64_t piece = uint64_t{1} << 20;
  for (zip_int64_t got = 1; got > 0;) {
    const size_t have = bytes.size();
    bytes.resize(have + piece);
    got = zip_fread(stream.get(), bytes.data() + have, piece);
    if (got < 0) throw DataError(name, "undamaged data", zip_file_strerror(stream.get()));
    bytes.resize(have + static_cast<size_t>(got));
    if (bytes.size() > limit) throw DataError(name, at_most, "more");
  }
  if (bytes.size() != about.size) {
    throw DataError(name, std::to_string(about.size) + " bytes unpacked", std::to_string(bytes.size()));
  }
  return bytes;
}

}  // namespace geosft
