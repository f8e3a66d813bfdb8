// SPDX-License-Identifier: Apache-2.0
// Reads shape files: of any supported format, and of each one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/formats/file_shape.h"
#include "data/points/shape.h"

namespace geosft {

// Returns whether the name ends in one of shape_extensions(), case-insensitively, possibly with .gz after it.
bool has_shape_extension(const std::filesystem::path& file);
// Returns whether the columns of files with this extension can be named (ShapeReadOptions).
bool has_columns(const std::filesystem::path& file);
// Returns whether files with this extension can hold a cloud. Only those of STL cannot: OBJ, OFF and glTF without faces
// are clouds.
bool can_hold_cloud(const std::filesystem::path& file);
// Returns whether the labels of the points of files with this extension are read: PLY, PCD, LAS, tables of text and
// arrays of NumPy.
bool can_hold_labels(const std::filesystem::path& file);
// Returns whether a file that may be a table of points is a text without a row of three numbers in its first 64 KB,
// such as notes or a log; false if it cannot be read, and for an empty one.
bool is_text_of_words(const std::filesystem::path& file);
// Returns whether the name ends in the extension of a format that is not read, but that other programs convert.
bool has_converted_extension(const std::filesystem::path& file);
// Removes and returns those among `files` that belong to others, and are no shapes: .bin files beside .gltf files,
// which are buffers and not laser scans, and NAME_labels.txt beside a shape NAME, such as NAME.off, whose parts it
// names.
std::vector<std::filesystem::path> take_companions(std::vector<std::filesystem::path>& files);
// Returns ".ply, .obj, .off, .stl, … or .csv": the extensions of all formats, for messages.
std::string shape_extensions();

struct ShapeReadOptions {
  // Names of the columns of tables (text, NumPy), such as "x,y,z,r,g,b"; empty: they are found by header and values.
  std::string columns = {};
  bool drop_invalid = false;  // drop the points of clouds without finite coordinates; otherwise they are an error
};

// Parses `bytes`, which may be compressed by gzip, in the format given by the extension of `file`. Throws DataError.
// For a format that is not read but known, it names a program that converts it.
FileShape parse_shape(std::string_view bytes, const std::string& file, const ShapeReadOptions& options = {});

// Samples `points` points with face normals uniformly by area from the surface of a mesh, using `seed`. Returns a cloud
// unchanged, with its normals. Coordinates far from the origin get an offset (set_points). `file` is for messages;
// label and name are left empty. Throws DataError for a mesh without area.
Shape to_cloud(const FileShape& shape, int64_t points, uint64_t seed, const std::string& file);

// Reads glTF 2.0 meshes and clouds: .gltf with its buffers, and .glb.
// Returns the triangles (lists, strips and fans) of all nodes of the default scene, in world coordinates, or the points
// (with their normals, if all have some) if there are no triangles. Lines, materials, textures, skins, morph targets
// and animations are ignored. Buffers are in the file, in data URIs, or in files of the same folder. Throws DataError
// for a broken file, for sparse accessors, and for compressed or instanced meshes (Draco, meshopt,
// EXT_mesh_gpu_instancing).
FileShape read_gltf(std::string_view bytes, const std::string& file);

// Reads the laser scans of KITTI and of datasets in its format.
// Reads float32 numbers without a header: x, y, z and intensity of each point, and in files *.pcd.bin (nuScenes) the
// laser's ring as well. Intensity and ring are ignored. Throws DataError for a size that is no multiple of a point and
// for coordinates beyond 100 km, which no scan has, and for a negative intensity if the size also fits another number
// of columns.
FileShape read_kitti_bin(std::string_view bytes, const std::string& file);

// Follows the name of a compressed LAS file in messages.
constexpr const char* laz_converters = "`pdal translate IN.laz OUT.las` or `laspy decompress IN.laz` converts it";

// Reads LAS clouds of airborne and terrestrial laser scanners: the coordinates of versions 1.0 to 1.4 with point data
// record formats 0 to 10: X, Y and Z times the scale plus the offset of the header, in double precision, and as labels
// the classification. Everything else (intensity, colours, waveforms) is ignored, and no point is left out. Throws
// DataError for a broken file and for compressed records (LAZ), naming a converter.
FileShape read_las(std::string_view bytes, const std::string& file);

// Reads a cloud from a NumPy array (NPY) [N, C] of numbers (float16, 32 or 64, or integers, of either byte order, in C
// or Fortran order): one point per row, with the columns of data/formats/point_columns.h. Leading dimensions of size 1
// are dropped, and [3, N] and [6, N] are transposed where N is above 64. `columns` names the columns, such as
// "x,y,z,r,g,b" (option --columns), one of labels (label_column) among them. Throws DataError for other arrays, such as
// structured ones and objects.
FileShape read_npy(std::string_view bytes, const std::string& file, const std::string& columns = {});

// Reads a cloud or a mesh from an archive of arrays (NPZ). The points are the first of points, pos, xyz, coords,
// vertices, verts, pc, pcd, cloud, point_cloud, data and arr_0, or its only array. Arrays normals or normal [N, 3], and
// faces or triangles [F, 3], are read with it, and one of labels (label_column) [N] or [N, 1]; others are ignored.
// Throws DataError as above and if no array is known by name.
FileShape read_npz(std::string_view bytes, const std::string& file, const std::string& columns = {});

// Reads vertices and faces of Wavefront OBJ; everything else (materials, groups, texture coordinates) is ignored.
// Accepts corners `v`, `v/vt`, `v//vn`, `v/vt/vn`, counted from 1 or, if negative, from the last vertex so far.
// Polygons are split into triangles, and faces with fewer than 3 corners are left out with a warning. A backslash
// continues a line. Without faces the vertices are a cloud, whose normals are the `vn` if there are as many. A vertex
// of a mesh has the mean direction of the `vn` of its corners, 0 if they have none; numbers of normals that there are
// not are ignored. Throws DataError, with the line, for anything else.
FileShape read_obj(std::string_view text, const std::string& file);

// Reads OFF meshes, including those of ModelNet.
// Format: "OFF", then the numbers of vertices, faces and edges (in ModelNet often on the first line, even without a
// blank: "OFF123 456 0"), then the vertices, then the faces "n i1 … in [colour]", each on a line of its own or, if
// there are fewer lines than that, with line breaks anywhere. COFF, NOFF, CNOFF, … are accepted, also in lower case,
// but colours and normals are ignored. A file without faces is a cloud. What follows the faces is ignored. Throws
// DataError, with the line, for anything else.
FileShape read_off(std::string_view text, const std::string& file);

// Reads PCD clouds of the Point Cloud Library, versions 0.5 to 0.7: ascii, binary, binary_compressed.
// Reads the fields x, y, z and, if present, normal_x, normal_y, normal_z or nx, ny, nz, and a label (label_column);
// other fields are ignored.
// Points may be NaN, as holes of organised clouds are. Throws DataError for a broken file.
FileShape read_pcd(std::string_view bytes, const std::string& file);

// Reads PLY meshes and clouds: text, binary little endian, binary big endian.
// Reads vertices (x, y, z), their normals (nx, ny, nz or normal_x, …) and labels (label_column) if present, and faces
// (vertex_indices or vertex_index; polygons are split into triangles) or triangle strips (tristrips). Other properties
// and elements are ignored. Throws DataError for a broken file.
FileShape read_ply(std::string_view bytes, const std::string& file);

// Reads STL meshes, binary and text.
// Returns three vertices per triangle, as stored; the facet normals of the file are ignored. A file whose size matches
// its binary triangle count is binary, even if it begins with "solid"; another one that begins so is text, whose
// keywords may be in any case and on any line. Bytes after the last facet are ignored. Throws DataError for a broken
// file.
FileShape read_stl(std::string_view bytes, const std::string& file);

// Reads clouds from tables of text: XYZ, TXT, ASC, PTS, CSV.
// Reads one point per line. Fields are separated by blanks, commas or semicolons; with semicolons a comma is a decimal
// one. '#' begins a comment. Lines before the first point may name the columns, tell the number of points, or hold
// anything else. A column may be named as that of labels (label_column). Without names the columns are x, y, z and
// those of data/formats/point_columns.h; other columns are ignored. Throws DataError, with the line, for a varying
// number of columns and for coordinates that are not finite numbers; and, naming --columns, for more than three columns
// whose names say no x, y and z.
// `columns` names the columns of all rows, such as "x,y,z,r,g,b" (option --columns); names in the file are then
// ignored.
FileShape read_xyz(std::string_view text, const std::string& file, const std::string& columns = {});

}  // namespace geosft
