// SPDX-License-Identifier: Apache-2.0
// Finds the coordinates and normals among the columns of a table of points.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/formats/file_shape.h"

namespace geosft {

// Columns of x, y, z and, if has_normals, of the components of a normal.
struct PointColumns {
  std::array<size_t, 6> at = {0, 1, 2, 3, 4, 5};
  bool has_normals = false;
  std::optional<size_t> label = {};  // the column of labels (data/formats/point_labels.h)
  // Tells whether the columns were assumed from their number alone: values decide what is a normal, and what is
  // doubtful.
  bool numbered = false;
};

// Finds columns by name, in any case: x, y, z; nx, ny, nz or normal_x, normal_y, normal_z; a label. Returns nothing
// unless x, y and z are there.
std::optional<PointColumns> named_columns(const std::vector<std::string_view>& names);

// Splits "x,y,z,r,g,b" into names, which may have blanks, as "x [mm]" has, or quotes around them.
std::vector<std::string_view> column_names(std::string_view columns, char delimiter = ',');

// Returns the columns that the option --columns names, for rows of `count` numbers. Throws DataError, naming `file`,
// for another number of names or without x, y and z.
PointColumns said_columns(const std::string& columns, size_t count, const std::string& file);

// Returns what is wrong with the value of the option --columns; empty if nothing is, or without a value.
std::string columns_error(const std::string& columns);

// Returns the columns of a row without names: x y z and, of 6 columns or more, perhaps a normal.
PointColumns numbered_columns(size_t count);

// Adds the points of a table without names to `builder`, row by row.
class PointRows {
 public:
  PointRows(const PointColumns& columns, size_t column_count, FileShapeBuilder& builder)
      : columns_(columns), column_count_(column_count), builder_(builder) {}

  // `value`: x, y, z and, if there are, the columns of the normal; NaN for what is no number.
  void add(const std::array<double, 6>& value, int64_t place);
  // Warns of a column without a name that is read as x, and counts the rows: an index before x, y and z. Then decides
  // what columns 4 to 6 are if only their number is known. They are normals if all have length 1 or 0. In a
  // table of 6 columns they are otherwise colours, with a warning, if they lie in 0 … 255 or are integers in 0 … 65535;
  // anything else throws DataError, naming the option --columns. In a wider table they are ignored, with a warning.
  void finish();

 private:
  bool are_normals();
  void warn_of_index() const;
  [[noreturn]] void fail_between(const double* value, size_t point) const;

  PointColumns columns_;
  size_t column_count_;
  FileShapeBuilder& builder_;
  std::vector<double> directions_;
  int64_t rows_ = 0, counted_ = 0;  // added, and those of them with the first coordinate of the row before, plus 1
  double first_coordinate_ = 0;     // of the last row
};

}  // namespace geosft
