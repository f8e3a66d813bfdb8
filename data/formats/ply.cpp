// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"

#include <array>
#include <cmath>
#include <sstream>

#include "data/data_error.h"
#include "data/formats/binary.h"
#include "data/formats/ply_header.h"
#include "data/formats/point_labels.h"
#include "data/formats/text_lines.h"

namespace geosft {
namespace {

// Thrown where the numbers of a file end too early.
struct EndOfNumbers {};

// Reads the numbers after the header in sequence. A double holds every PLY type exactly.
class TextValues {
 public:
  TextValues(std::string_view bytes, const PlyHeader& header, const std::string& file) : lines_(bytes, file) {
    lines_.skip(header.line_count);
  }
  double next(PlyType) {
    std::string_view word = lines_.word();
    while (word.empty() && lines_.next()) word = lines_.word();
    if (word.empty()) throw EndOfNumbers();
    return lines_.to_any_number(word, "a number");
  }
  size_t bytes_left() const { return lines_.bytes_left() + lines_.rest().size(); }
  // Returns whether anything but blanks is left, which it may skip.
  bool has_more() {
    std::string_view word = lines_.word();
    while (word.empty() && lines_.next()) word = lines_.word();
    return !word.empty();
  }

 private:
  TextLines lines_;
};

class BinaryValues {
 public:
  BinaryValues(std::string_view bytes, const PlyHeader& header)
      : bytes_(bytes), at_(header.size), big_endian_(header.encoding == PlyEncoding::big_endian) {}
  double next(PlyType type) {
    switch (type) {
      case PlyType::int8:
        return take<int8_t>();
      case PlyType::uint8:
        return take<uint8_t>();
      case PlyType::int16:
        return take<int16_t>();
      case PlyType::uint16:
        return take<uint16_t>();
      case PlyType::int32:
        return take<int32_t>();
      case PlyType::uint32:
        return take<uint32_t>();
      case PlyType::float32:
        return take<float>();
      case PlyType::float64:
        break;
    }
    return take<double>();
  }
  size_t bytes_left() const { return bytes_.size() - at_; }
  // Returns whether more is left than line breaks and padding, which some programs write.
  bool has_more() const { return bytes_.find_first_not_of(std::string_view("\0\r\n\x1a", 4), at_) != bytes_.npos; }

 private:
  template <class Number>
  double take() {
    if (bytes_left() < sizeof(Number)) throw EndOfNumbers();
    at_ += sizeof(Number);
    return load_number<Number>(bytes_, at_ - sizeof(Number), big_endian_);
  }
  std::string_view bytes_;
  size_t at_;
  bool big_endian_;
};

template <class Values>
class PlyBody {
 public:
  PlyBody(Values values, const std::string& file) : values_(std::move(values)), file_(file), builder_(file, "face") {}

  FileShape read(const PlyHeader& header) {
    for (const PlyElement& element : header.elements) {
      try {
        if (element.name == "vertex") {
          read_vertices(element);
        } else {
          read_others(element);
        }
      } catch (const EndOfNumbers&) {
        throw DataError(file_, counted(element.count, element.name) + ", as the header announces",
                        "the end of the file after " + std::to_string(done_) + ": it is cut off");
      }
    }
    if (values_.has_more()) {
      builder_.add_warning(
          "more follows than the header announces, and is ignored: its numbers of elements may be wrong");
    }
    return builder_.finish();
  }

 private:
  static std::string counted(int64_t count, const std::string& name) {
    const std::string words = name == "vertex" ? "vertices" : name == "face" ? "faces" : "elements \"" + name + "\"";
    return std::to_string(count) + " " + words;
  }

  void read_vertices(const PlyElement& element) {
    constexpr std::array<std::string_view, 6> names = {"x", "y", "z", "nx", "ny", "nz"};
    constexpr std::array<std::string_view, 3> long_names = {"normal_x", "normal_y", "normal_z"};  // PCL's
    constexpr size_t label_role = names.size() + 1;  // after the role of the properties that are ignored
    std::vector<size_t> role;
    std::vector<std::string> texts;
    texts.reserve(element.properties.size());
    std::vector<std::string_view> property_names;
    std::array<bool, names.size()> has{};
    for (const PlyProperty& property : element.properties) {
      role.push_back(std::find(names.begin(), names.end(), property.name) - names.begin());
      const auto other = std::find(long_names.begin(), long_names.end(), property.name) - long_names.begin();
      if (other < 3) role.back() = 3 + static_cast<size_t>(other);
      if (role.back() < names.size()) has[role.back()] = true;
      property_names.push_back(texts.emplace_back(property.name + (property.is_list ? " (a list)" : "")));
    }
    const std::optional<size_t> label = label_column(property_names);
    if (label) role[*label] = label_role;
    builder_.set_names(property_names);
    if (!(has[0] && has[1] && has[2])) throw DataError(file_, "vertices with properties x, y and z", "others");
    for (size_t p = 0; p < role.size(); ++p) {
      if (role[p] < 3 && element.properties[p].type == PlyType::float64) builder_.declare_double();
    }
    const bool has_normals = has[3] && has[4] && has[5];
    std::array<double, names.size() + 2> value{};
    for (done_ = 0; done_ < element.count; ++done_) {
      for (size_t p = 0; p < role.size(); ++p) {
        if (element.properties[p].is_list) {
          read_list(element.properties[p], done_ + 1, false);
        } else {
          value[role[p]] = values_.next(element.properties[p].type);
        }
      }
      builder_.add_vertex(value[0], value[1], value[2]);
      if (has_normals) builder_.add_normal(value[3], value[4], value[5]);
      if (label) builder_.add_label(value[label_role]);
    }
  }

  void read_others(const PlyElement& element) {
    for (done_ = 0; done_ < element.count; ++done_) {
      for (const PlyProperty& property : element.properties) {
        if (!property.is_list) {
          values_.next(property.type);
          continue;
        }
        const bool is_strip = element.name == "tristrips";
        const bool has_corners = (element.name == "face" || is_strip) &&
                                 (property.name == "vertex_indices" || property.name == "vertex_index");
        read_list(property, done_ + 1, has_corners);
        if (has_corners && is_strip) builder_.add_strip(list_, done_ + 1);
        if (has_corners && !is_strip) builder_.add_polygon(list_, done_ + 1);
      }
    }
  }

  // Keeps the numbers of the list if they are the corners of the face `number`.
  void read_list(const PlyProperty& property, int64_t number, bool has_corners) {
    const double length = values_.next(property.length_type);
    if (!(length >= 0 && length <= static_cast<double>(values_.bytes_left())) || length != std::floor(length)) {
      throw DataError(file_, "a list \"" + property.name + "\" that fits into the file",
                      "one of length " + std::to_string(length));
    }
    list_.clear();
    for (int64_t i = 0; i < static_cast<int64_t>(length); ++i) {
      const double value = values_.next(property.type);
      if (has_corners) list_.push_back(corner(value, number));
    }
  }

  int64_t corner(double value, int64_t number) const {
    if (std::abs(value) < 1e15 && value == std::floor(value)) return static_cast<int64_t>(value);
    std::ostringstream found;
    found << value << " in face " << number;
    throw DataError(file_, "whole numbers as corners", found.str());
  }

  Values values_;
  const std::string& file_;
  FileShapeBuilder builder_;
  std::vector<int64_t> list_;
  int64_t done_ = 0;  // of the present element
};

}  // namespace

FileShape read_ply(std::string_view bytes, const std::string& file) {
  const PlyHeader header = read_ply_header(bytes, file);
  if (header.encoding == PlyEncoding::text) return PlyBody(TextValues(bytes, header, file), file).read(header);
  return PlyBody(BinaryValues(bytes, header), file).read(header);
}

}  // namespace geosft
