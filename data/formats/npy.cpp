// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"

#include <c10/util/Half.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "data/data_error.h"
#include "data/formats/binary.h"
#include "data/formats/point_columns.h"
#include "data/formats/point_labels.h"
#include "data/formats/text_lines.h"
#include "data/formats/zip_archive.h"

namespace geosft {
namespace {

constexpr std::string_view npy_magic = "\x93NUMPY";
constexpr int64_t max_npy_columns = 64;

struct NpyArray {
  char kind = ' ';  // f floating point, i signed, u unsigned
  size_t item_size = 0;
  bool big_endian = false;
  bool by_column = false;  // Fortran order
  std::vector<int64_t> shape;
  std::string_view data;
  std::string name;  // for messages

  double at(int64_t row, int64_t column) const;
};

template <class Number>
double loaded(const NpyArray& array, size_t offset) {
  return static_cast<double>(load_number<Number>(array.data, offset, array.big_endian));
}

double NpyArray::at(int64_t row, int64_t column) const {
  const int64_t index = by_column ? column * shape[0] + row : row * shape[1] + column;
  const size_t offset = static_cast<size_t>(index) * item_size;
  if (kind == 'f' && item_size == 2) {
    return static_cast<float>(c10::Half(load_number<uint16_t>(data, offset, big_endian), c10::Half::from_bits()));
  }
  if (kind == 'f') return item_size == 4 ? loaded<float>(*this, offset) : loaded<double>(*this, offset);
  const bool is_signed = kind == 'i';
  switch (item_size) {
    case 1:
      return is_signed ? loaded<int8_t>(*this, offset) : loaded<uint8_t>(*this, offset);
    case 2:
      return is_signed ? loaded<int16_t>(*this, offset) : loaded<uint16_t>(*this, offset);
    case 4:
      return is_signed ? loaded<int32_t>(*this, offset) : loaded<uint32_t>(*this, offset);
    default:
      return is_signed ? loaded<int64_t>(*this, offset) : loaded<uint64_t>(*this, offset);
  }
}

// Returns what follows 'key': in the header, a Python dictionary; empty if the key is absent.
std::string_view value_of(std::string_view header, const std::string& key) {
  for (const char quote : {'\'', '"'}) {
    const size_t at = header.find(quote + key + quote);
    if (at == std::string_view::npos) continue;
    std::string_view value = header.substr(at + key.size() + 2);
    const size_t begin = value.find_first_not_of(" \t\n:");
    return begin == std::string_view::npos ? std::string_view() : value.substr(begin);
  }
  return {};
}

void read_descr(std::string_view value, NpyArray& array) {
  const bool is_text = value.size() > 1 && (value[0] == '\'' || value[0] == '"');
  const std::string_view type =
      is_text ? value.substr(1, std::min(value.find(value[0], 1), value.size()) - 1) : std::string_view();
  const bool known_order = type.size() == 3 && std::string_view("<>|=").find(type[0]) != std::string_view::npos;
  const std::optional<int64_t> size = known_order ? parse_integer(type.substr(2)) : std::nullopt;
  const std::string sizes = !size ? "" : type[1] == 'f' ? "248" : type[1] == 'i' || type[1] == 'u' ? "1248" : "";
  if (sizes.find(size ? type[2] : ' ') == std::string::npos) {
    throw DataError(array.name, "an array of numbers such as '<f4'",
                    !is_text                    ? "a structured one"
                    : type.substr(0, 2) == "|O" ? "objects of Python"
                                                : "\"" + std::string(type.substr(0, 40)) + "\"");
  }
  array.kind = type[1];
  array.item_size = static_cast<size_t>(*size);
  array.big_endian = type[0] == '>';
}

void read_npy_shape(std::string_view value, NpyArray& array) {
  const size_t end = value.find(')');
  if (value.empty() || value[0] != '(' || end == std::string_view::npos) {
    throw DataError(array.name, "'shape': (…) in the header", "none");
  }
  std::string_view left = value.substr(1, end - 1);
  while (true) {
    const size_t begin = left.find_first_not_of(", ");
    if (begin == std::string_view::npos) return;
    left.remove_prefix(begin);
    const std::string_view word = left.substr(0, left.find_first_of(", L"));
    const std::optional<int64_t> size = parse_integer(word);
    if (!size || *size < 0) throw DataError(array.name, "sizes in 'shape'", "\"" + std::string(word) + "\"");
    array.shape.push_back(*size);
    left.remove_prefix(std::min(left.size(), word.size() + (left.substr(word.size()).starts_with('L') ? 1 : 0)));
  }
}

std::string npy_shape_text(const NpyArray& array) {
  std::string text = "[";
  for (size_t i = 0; i < array.shape.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(array.shape[i]);
  return text + "]";
}

// Throws DataError unless the sizes multiply to what the data hold. More data than that are ignored.
void check_npy_size(const NpyArray& array) {
  auto maximum = static_cast<int64_t>(array.data.size() / array.item_size);
  for (const int64_t size : array.shape) {
    if (size == 0) throw DataError(array.name, "at least one point", "shape " + npy_shape_text(array));
    maximum /= size;
  }
  if (maximum < 1) {
    throw DataError(array.name, "numbers for the shape " + npy_shape_text(array),
                    std::to_string(array.data.size()) + " bytes");
  }
}

NpyArray parse_npy(std::string_view bytes, const std::string& name) {
  NpyArray array;
  array.name = name;
  constexpr size_t fixed = 12;
  if (!bytes.starts_with(npy_magic) || bytes.size() < fixed) {
    throw DataError(name, "an array of NumPy, which begins with \\x93NUMPY", "something else");
  }
  const bool is_short = bytes[npy_magic.size()] == 1;
  const size_t begin = is_short ? fixed - 2 : fixed;
  const size_t length = is_short ? load_number<uint16_t>(bytes, 8) : load_number<uint32_t>(bytes, 8);
  if (length > bytes.size() - begin) {
    throw DataError(name, "a header of " + std::to_string(length) + " bytes", std::to_string(bytes.size() - begin));
  }
  const std::string_view header = bytes.substr(begin, length);
  array.data = bytes.substr(begin + length);
  read_descr(value_of(header, "descr"), array);
  array.by_column = value_of(header, "fortran_order").starts_with("True");
  read_npy_shape(value_of(header, "shape"), array);
  check_npy_size(array);
  return array;
}

// Reduces the array to two dimensions, one row for each point.
void make_rows(NpyArray& array) {
  while (array.shape.size() > 2 && array.shape[0] == 1) array.shape.erase(array.shape.begin());
  if (array.shape.size() == 2 && (array.shape[0] == 3 || array.shape[0] == 6) && array.shape[1] > max_npy_columns) {
    std::swap(array.shape[0], array.shape[1]);
    array.by_column = !array.by_column;
  }
  if (array.shape.size() == 2 && array.shape[1] >= 3 && array.shape[1] <= max_npy_columns) return;
  throw DataError(array.name, "one cloud of shape [N, C], with 3 to " + std::to_string(max_npy_columns) + " columns",
                  npy_shape_text(array));
}

void add_points(const NpyArray& array, bool may_have_normals, const std::string& said, FileShapeBuilder& builder) {
  const auto count = static_cast<size_t>(array.shape[1]);
  PointColumns columns = said.empty() ? numbered_columns(count) : said_columns(said, count, array.name);
  if (!may_have_normals) columns.has_normals = false;
  if (array.item_size == 8) builder.declare_double();
  if (!said.empty()) builder.set_names(column_names(said));
  PointRows rows(columns, count, builder);
  std::array<double, 6> value{};
  for (int64_t i = 0; i < array.shape[0]; ++i) {
    for (size_t c = 0; c < (columns.has_normals ? size_t{6} : size_t{3}); ++c) {
      value[c] = array.at(i, static_cast<int64_t>(columns.at[c]));
    }
    rows.add(value, 0);
    if (columns.label) builder.add_label(array.at(i, static_cast<int64_t>(*columns.label)));
  }
  rows.finish();
}

// Returns the array if it has a number for each of `count` points, and otherwise adds to `name` what it is. The class
// of a cloud may have the same name.
std::optional<NpyArray> label_array(std::string_view bytes, std::string& name, int64_t count) {
  try {
    NpyArray array = parse_npy(bytes, name);
    const std::string shape = npy_shape_text(array);
    if (array.shape.size() == 1) array.shape.push_back(1);
    if (array.shape == std::vector<int64_t>{count, 1}) return array;
    name += " of shape " + shape;
  } catch (const DataError&) {  // words or objects
    name += " without numbers";
  }
  return std::nullopt;
}

// Adds the labels of the points, if an array is named as they are and has a number for each point.
void add_labels(const ZipArchive& archive, const std::vector<std::string>& members, FileShapeBuilder& builder) {
  constexpr std::string_view ending = ".npy";
  std::vector<std::string> bytes, texts;  // of the arrays that are labels; the names of all
  std::vector<NpyArray> arrays;
  std::vector<std::string_view> names, others;
  bytes.reserve(members.size());
  texts.reserve(members.size());
  for (const std::string_view member : members) {
    std::string& name =
        texts.emplace_back(member.substr(0, member.size() - (member.ends_with(ending) ? ending.size() : 0)));
    std::optional<NpyArray> array;
    if (label_column({name})) {
      bytes.push_back(archive.read(std::string(member)));
      array = label_array(bytes.back(), name, builder.vertex_count());
    }
    (array ? names : others).push_back(name);
    if (array) arrays.push_back(*array);
  }
  if (const std::optional<size_t> found = label_column(names)) {
    const NpyArray& labels = arrays[*found];
    for (int64_t i = 0; i < labels.shape[0]; ++i) builder.add_label(labels.at(i, 0));
  }
  names.insert(names.end(), others.begin(), others.end());
  builder.set_names(names);
}

// Throws DataError unless the array has three columns, and as many rows as `count`, if it is not negative.
void check_three_columns(const NpyArray& array, int64_t count) {
  const bool fits = array.shape.size() == 2 && array.shape[1] == 3 && (count < 0 || array.shape[0] == count);
  if (fits) return;
  throw DataError(array.name, "shape [" + (count < 0 ? std::string("F") : std::to_string(count)) + ", 3]",
                  npy_shape_text(array));
}

// Returns the first of the names that a member has, with .npy; empty if there is none.
std::string member_of(const std::vector<std::string>& members, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const std::string member = std::string(name) + ".npy";
    if (std::find(members.begin(), members.end(), member) != members.end()) return member;
  }
  return {};
}

std::string points_member(const std::vector<std::string>& members, const std::string& file) {
  const std::string known = member_of(members, {"points", "pos", "xyz", "coords", "vertices", "verts", "pc", "pcd",
                                                "cloud", "point_cloud", "data", "arr_0"});
  if (!known.empty()) return known;
  if (members.size() == 1) return members[0];
  std::string names;
  for (const std::string& member : members) names += (names.empty() ? "" : ", ") + member;
  throw DataError(file, "an array \"points\", \"xyz\", \"vertices\" or the like",
                  names.empty() ? "no array" : names.substr(0, 200));
}

}  // namespace

FileShape read_npy(std::string_view bytes, const std::string& file, const std::string& columns) {
  NpyArray array = parse_npy(bytes, file);
  make_rows(array);
  FileShapeBuilder builder(file, "row");
  add_points(array, true, columns, builder);
  return builder.finish();
}

FileShape read_npz(std::string_view bytes, const std::string& file, const std::string& columns) {
  const ZipArchive archive(bytes, file);
  const std::vector<std::string> members = archive.members();
  const std::string points = points_member(members, file);
  const std::string normals = member_of(members, {"normals", "normal"});
  const std::string faces = member_of(members, {"faces", "triangles"});
  FileShapeBuilder builder(file, "face");
  const std::string point_bytes = archive.read(points);
  NpyArray array = parse_npy(point_bytes, file + ":" + points);
  make_rows(array);
  add_points(array, normals.empty(), columns, builder);
  if (columns.empty()) add_labels(archive, members, builder);
  if (!normals.empty()) {
    const std::string normal_bytes = archive.read(normals);
    const NpyArray of_points = parse_npy(normal_bytes, file + ":" + normals);
    check_three_columns(of_points, builder.vertex_count());
    for (int64_t i = 0; i < of_points.shape[0]; ++i) {
      builder.add_normal(of_points.at(i, 0), of_points.at(i, 1), of_points.at(i, 2));
    }
  }
  if (!faces.empty()) {
    const std::string face_bytes = archive.read(faces);
    const NpyArray corners = parse_npy(face_bytes, file + ":" + faces);
    check_three_columns(corners, -1);
    if (corners.kind == 'f') throw DataError(corners.name, "integers as corners", "floating-point numbers");
    for (int64_t i = 0; i < corners.shape[0]; ++i) {
      std::vector<int64_t> triangle;
      for (int64_t c = 0; c < 3; ++c) {
        // Larger numbers are no vertices, and could not be converted.
        triangle.push_back(static_cast<int64_t>(std::clamp(corners.at(i, c), -1.0, 1e15)));
      }
      builder.add_polygon(triangle, i + 1);
    }
  }
  return builder.finish();
}

}  // namespace geosft
