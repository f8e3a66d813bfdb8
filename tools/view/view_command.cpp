// SPDX-License-Identifier: Apache-2.0
#include "tools/view/view_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "data/formats/shape_file.h"
#include "data/graphs/molecule_features.h"
#include "data/graphs/molecule_table.h"
#include "data/graphs/unlabelled_graphs.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/classification.h"
#include "tools/experiment/coloured_ply.h"
#include "tools/experiment/eval_options.h"
#include "tools/experiment/gnuplot.h"
#include "tools/experiment/graph_data.h"
#include "tools/experiment/graph_prediction.h"
#include "tools/experiment/input_files.h"
#include "tools/experiment/output_files.h"
#include "tools/experiment/run_folder.h"
#include "tools/experiment/scratch_folder.h"
#include "tools/experiment/segmentation.h"
#include "tools/experiment/zoo.h"
#include "tools/scene/cloud_gallery.h"
#include "tools/scene/contact_sheet.h"
#include "tools/scene/page.h"
#include "tools/scene/segment_gallery.h"
#include "tools/view/graph_gallery.h"

namespace geosft::view {
namespace {

constexpr const char* view_description =
    "Looks at clouds, meshes and graphs, and at what a trained model makes of them";
constexpr const char* view_footer =
    "Without --screenshot, --html, --turntable, --animation, --frame-rate or --ply a window opens; H shows its keys.";
constexpr const char* front_view = "0,0,1";
constexpr const char* animation_log = "animation.log";
constexpr int turn_milliseconds = 80, layer_milliseconds = 1200;  // of a frame

struct ViewOptions {
  std::vector<std::string> files, smiles, label_columns;
  std::string smiles_column, run, split = "test", colour, map = "viridis", layout = "automatic", size = "1280x960",
                                  view = "35,20,1", projection = "perspective", background;
  std::string screenshot, html, turntable_folder, animation, grid, ply, category;
  std::optional<int64_t> points, layer, head, query, component, test_every;
  int64_t item = 0, frames = 36;
  bool graph = false, beside = false, hydrogens = true, labels = false, surface = false, discs = false,
       frame_rate = false;
  FileOptions reading;
  bool drop_invalid_given = false;
  RunOverrides overrides;
  bool finds_parts = false;      // the run is one of geosft-segment
  at::Device device = at::kCPU;  // device of the model

  void add_to(CLI::App& app);
  // Inspects the RUN folder before anything is opened.
  void check_run();
  // Throws UsageError for an option that has no effect in combination with the others.
  void check_used(const CLI::App& app) const;
  Choices choices() const;
  Camera camera() const;
  std::unique_ptr<Gallery> gallery() const;

 private:
  void check_source(const std::string& data) const;
  // Sets how the files of a dataset are read; what was not asked for stays, so that their samples lie in the cache.
  void read_dataset_into(CloudSettings& clouds) const {
    if (!reading.columns.empty()) clouds.columns = reading.columns;
    if (drop_invalid_given) clouds.drop_invalid = reading.drop_invalid;
  }
  // Throws UsageError for an option that says how files are read, and has no effect on the dataset.
  void check_reading(const std::string& data, FindReadOptionUse* find) const {
    if (files.empty()) refuse_unused_reading(reading.columns, drop_invalid_given && reading.drop_invalid, data, find);
  }
  std::unique_ptr<Gallery> clouds() const;
  std::unique_ptr<Gallery> segments() const;
  std::unique_ptr<Gallery> graphs() const;
  UnlabelledGraphs unlabelled(const std::optional<GraphRun>& trained) const;
};

void add_what(CLI::App& app, ViewOptions& options) {
  app.add_option("FILE", options.files,
                 "meshes or clouds: " + shape_extensions() +
                     "; with --graph one file of graphs, as geosft-graph predict takes it, such as *.smi");
  app.add_option("--smiles", options.smiles, "with --graph: a molecule; may be repeated")->allow_extra_args(false);
  app.add_option("--smiles-column", options.smiles_column, "column of SMILES of a CSV table");
  app.add_option("--label-columns", options.label_columns, "labels of a --data that is a CSV table, XYZ files or QM9")
      ->delimiter(',');
  app.add_option("--run", options.run, "RUN folder or checkpoint of the model to look into");
  app.add_option("--split", options.split, "of --data")->check(CLI::IsMember({"train", "test"}))->capture_default_str();
  app.add_option("--item", options.item, "item to begin with, from 0")->capture_default_str();
  app.add_flag("--graph", options.graph, "the data are graphs, and RUN one of geosft-graph");
  app.add_option(
         "--layout", options.layout,
         "layout of nodes: coordinates, depiction (of molecules with SMILES, in the plane), spring (force-directed) or "
         "spectral")
      ->check(CLI::IsMember({"automatic", "coordinates", "depiction", "spectral", "spring"}))
      ->capture_default_str();
  app.add_flag("--beside", options.beside, "beside each cloud a rotated copy, with the difference of the logits");
  app.add_option("--points", options.points, "that the model sees; without a RUN: that are sampled from a mesh")
      ->check(CLI::Range(1, 1 << 30));
  options.reading.add_to(app);
  app.get_option("--drop-invalid")
      ->description("leave out points without finite coordinates (default; of --data: as in training)");
  app.add_option("--test-every", options.test_every,
                 "folder of classes without train and test folders: one in so many files of a class is test; 0: all")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--category", options.category, "class of the shapes, for a RUN of geosft-segment that is told it");
}

void add_how(CLI::App& app, ViewOptions& options) {
  app.add_option(
      "--colour", options.colour,
      "height, normals, parts, true_parts, elements, importance, samples, attention, diversity or walks (default: what "
      "says most)");
  app.add_option("--layer", options.layer, "of the colouring, from 1; 0: the sampler of the model's head");
  app.add_option("--head", options.head, "of the attention, from 1; 0: their mean");
  app.add_option("--query", options.query, "point or node whose attention is shown (default: the most important)");
  app.add_option("--component", options.component, "of the random walks: after so many steps (default: 2)");
  app.add_option("--map", options.map, "colour map")
      ->check(CLI::IsMember({"viridis", "cividis"}))
      ->capture_default_str();
  app.add_option("--hydrogens", options.hydrogens, "of molecules: drawn or not")->capture_default_str();
  app.add_flag("--labels", options.labels, "write the symbols of atoms, or the numbers of nodes, over them");
  app.add_flag("--surface", options.surface, "draw the faces of a mesh, in the colours of the nearest points");
  app.add_flag("--discs", options.discs, "draw points with normals as discs along the surface");
  app.add_option("--view", options.view, "azimuth and elevation in degrees, distance")->capture_default_str();
  app.add_option("--projection", options.projection, "orthographic or perspective")
      ->check(CLI::IsMember({"orthographic", "perspective"}))
      ->capture_default_str();
  app.add_option("--size", options.size, "of the picture or window in pixels, each side from 16 to 8192")
      ->capture_default_str();
  app.add_option("--background", options.background, "white, black, grey or #RRGGBB (default: white)");
}

void add_output(CLI::App& app, ViewOptions& options) {
  as_output_file(app.add_option("--screenshot", options.screenshot, "draw to this PNG file, without a window"));
  as_output_file(
      app.add_option("--html", options.html, "write a page for a browser, with all colourings, layers and heads"));
  app.add_option("--turntable", options.turntable_folder,
                 "draw a turn to this folder, animated if ImageMagick is there");
  app.add_option("--frames", options.frames, "of the turn")->check(CLI::Range(1, 10000))->capture_default_str();
  as_output_file(
      app.add_option(
          "--animation", options.animation,
          "draw layer after layer of --colour samples, importance, attention or diversity: .gif, .webm or .mp4"))
      ->check(CLI::Validator(
          [](const std::string& file) {
            const std::string ending = std::filesystem::path(file).extension().string();
            return ending == ".gif" || ending == ".webm" || ending == ".mp4"
                       ? ""
                       : "expected a name that ends in .gif, .webm or .mp4, found '" + file + "'";
          },
          ""));
  app.add_option("--grid", options.grid,
                 "COLUMNSxROWS: a contact sheet of the items from --item on, for --screenshot and --html");
  app.add_flag("--frame-rate", options.frame_rate, "measure how fast the scene turns");
  as_output_file(app.add_option("--ply", options.ply, "write the coloured points, and the edges, for other viewers")
                     ->check(ply_name_error));
}

void ViewOptions::add_to(CLI::App& app) {
  app.set_version_flag("--version", version_text());
  app.footer(view_footer);
  add_what(app, *this);
  add_how(app, *this);
  add_output(app, *this);
  overrides.add_to(app, "dataset: furniture, or a folder (default, with a RUN: the one trained on)",
                   "of rotations and force-directed layouts");
}

void ViewOptions::check_run() {
  if (!run.empty() && !std::filesystem::exists(resolve_run(run))) throw UsageError("--run: there is no '" + run + "'");
  finds_parts = !run.empty() && !graph && is_run_of(Segmentation::program, run);
}

struct OptionUse {
  const char* option;
  bool used;
  const char* what_for;
};

void ViewOptions::check_used(const CLI::App& app) const {
  const bool pictured = !screenshot.empty() || !turntable_folder.empty() || !animation.empty() || frame_rate;
  const bool drawn = pictured || (ply.empty() && html.empty());
  const OptionUse uses[] = {
      {"--split", files.empty() && !graph, "clouds of a dataset"},
      {"--columns", !graph, "clouds, not for --graph"},
      {"--drop-invalid", !graph, "clouds, not for --graph"},
      {"--test-every", files.empty() && !graph && !finds_parts, "clouds of a folder of classes"},
      {"--smiles", graph, "--graph"},
      {"--smiles-column", graph, "--graph"},
      {"--label-columns", graph && files.empty() && smiles.empty(), "--graph with --data"},
      {"--points", !graph, "clouds, not for --graph"},
      {"--surface", !files.empty() && !graph, "a FILE with a mesh"},
      {"--category", finds_parts && !files.empty(), "a FILE with a --run of geosft-segment"},
      {"--discs", !graph, "clouds, not for --graph"},
      {"--layout", graph, "--graph"},
      {"--hydrogens", graph, "--graph"},
      {"--labels", graph, "--graph"},
      {"--beside", grid.empty() && animation.empty(), "one picture, not for --grid or --animation"},
      {"--grid", !screenshot.empty() || !html.empty(), "--screenshot and --html"},
      {"--turntable", grid.empty(), "one item, not for --grid"},
      {"--animation", grid.empty(), "one item, not for --grid"},
      {"--ply", grid.empty(), "one item, not for --grid"},
      {"--frame-rate", grid.empty(), "one item, not for --grid"},
      {"--votes", !run.empty(), "a --run"},
      {"--evaluation", !run.empty(), "a --run"},
      {"--frames", !turntable_folder.empty(), "--turntable"},
      {"--view", drawn || !html.empty(), "pictures, pages and windows, not for --ply alone"},
      {"--projection", drawn || !html.empty(), "pictures, pages and windows, not for --ply alone"},
      {"--background", drawn || !html.empty(), "pictures, pages and windows, not for --ply alone"},
      {"--size", drawn, "pictures and windows, not for --ply or --html alone"}};
  for (const auto& [option, used, what_for] : uses) {
    if (!used && app.count(option) > 0) throw UsageError(std::string(option) + " is for " + what_for);
  }
}

void ViewOptions::check_source(const std::string& data) const {
  if (files.empty() && data.empty()) {
    throw UsageError("nothing to look at: name a FILE, or a dataset with --data and --item, or a --run");
  }
  if (!files.empty() && !data.empty()) throw UsageError("either FILE or --data, not both");
  if (!run.empty() && files.empty()) overrides.require_recorded(data, run);
}

std::unique_ptr<Gallery> ViewOptions::segments() const {
  SegmentRun trained = load_segment_run(run);
  trained.model->to(device);
  if (!files.empty()) trained.settings.data.clear();
  overrides.apply(trained.settings.data, trained.settings.seed, trained.settings.evaluation);
  check_source(trained.settings.data);
  check_reading(trained.settings.data, SegmentSettings::kReadOptionUse);
  if (points && !files.empty()) trained.settings.clouds.points_per_mesh = *points;
  read_dataset_into(trained.settings.clouds);
  std::unique_ptr<PartDataset> dataset;
  if (files.empty())
    dataset =
        open_part_dataset(trained.settings.data, value_named<PartSplit>(split, "split"), trained.settings.reading());
  return std::make_unique<SegmentGallery>(std::vector<std::filesystem::path>(files.begin(), files.end()),
                                          std::move(dataset), std::move(trained),
                                          SegmentGalleryOptions{category, points, reading});
}

std::unique_ptr<Gallery> ViewOptions::clouds() const {
  std::optional<RunModel> trained;
  if (!run.empty()) trained = load_run_model(run);
  ClassifySettings settings = trained ? trained->settings : ClassifySettings{};
  settings.data = trained && files.empty() ? settings.data : "";
  overrides.apply(settings.data, settings.seed, settings.evaluation);
  read_dataset_into(settings.clouds);
  if (test_every) settings.clouds.test_every = *test_every;
  if (points) (trained ? settings.clouds.points : settings.clouds.points_per_mesh) = *points;
  if (trained) {
    trained->settings = settings;
    trained->model->to(device);
  }
  check_source(settings.data);
  const ShapeReadOptions reading_of_parts{settings.clouds.columns, settings.clouds.drop_invalid};
  const bool of_parts = files.empty() && !trained && has_part_labels(settings.data, reading_of_parts);
  check_reading(settings.data, of_parts ? SegmentSettings::kReadOptionUse : ClassifySettings::kReadOptionUse);
  std::unique_ptr<PointDataset> dataset;
  if (of_parts) {
    dataset = open_part_dataset(settings.data, value_named<PartSplit>(split, "split"), reading_of_parts);
  } else if (files.empty()) {
    dataset = open_dataset(settings, split == "train" ? Split::train : Split::test);
  }
  PointDatasetOptions of_files = settings.dataset();
  reading.apply(of_files);
  return std::make_unique<CloudGallery>(std::vector<std::filesystem::path>(files.begin(), files.end()),
                                        std::move(dataset), std::move(trained), of_files);
}

// Returns the graphs of a file, or molecules by their SMILES, without labels.
UnlabelledGraphs ViewOptions::unlabelled(const std::optional<GraphRun>& trained) const {
  if (files.size() + (smiles.empty() ? 0 : 1) > 1) throw UsageError("--graph takes one FILE, or --smiles");
  ItemSchema molecules;  // what is read without a model
  molecules.node_vocabulary = atom_vocabulary;
  molecules.edge_vocabulary = bond_vocabulary;
  const ItemSchema& schema = trained ? trained->schema : molecules;
  GraphReadOptions options = trained ? trained->settings.reading() : GraphReadOptions{};
  if (files.empty()) return unlabelled_molecules(smiles, schema, "--smiles", options);
  if (!smiles_column.empty()) options.smiles_column = smiles_column;
  const bool table = is_molecule_table(files.front(), options);
  if (trained || table || std::filesystem::is_directory(files.front())) {
    return read_unlabelled_graphs(files.front(), schema, options);
  }
  UnlabelledGraphs given = graph_file_format(files.front()).read(files.front(), options.directed);
  given.names.resize(static_cast<size_t>(given.packed.size()));
  return given;
}

std::unique_ptr<Gallery> ViewOptions::graphs() const {
  std::optional<GraphRun> trained;
  if (!run.empty()) trained = load_graph_run(run);
  GraphSettings settings = trained ? trained->settings : GraphSettings{};
  const bool given = !files.empty() || !smiles.empty();
  if (given) settings.data.clear();
  overrides.apply(settings.data, settings.seed, settings.evaluation);
  if (given && !settings.data.empty()) throw UsageError("either FILE and --smiles or --data, not both");
  if (!smiles_column.empty()) settings.molecules.smiles_column = smiles_column;
  if (!label_columns.empty()) {
    const std::string line = csv_line(label_columns);
    settings.molecules.label_columns = line.substr(0, line.size() - 1);
  }
  if (trained) {
    trained->settings = settings;
    trained->model->to(device);
  }
  GraphGalleryOptions options;
  options.layout = graph_layout_of(layout);
  options.seed = settings.seed;
  if (given) {
    UnlabelledGraphs read = unlabelled(trained);
    for (const std::string& warning : read.packed.warnings) std::cerr << warning << '\n';
    const std::string name = files.empty() ? "molecule" : std::filesystem::path(files.front()).filename().string();
    options.labelled = false;
    for (size_t i = 0; i < read.names.size(); ++i) {
      options.names.push_back(read.names[i].empty() ? name + " " + std::to_string(i) : read.names[i]);
    }
    if (trained) {
      warn_of_unlike_molecules(*trained, read.packed, files.empty() ? "--smiles" : files.front());
      take_graph_vectors(read.packed, settings.molecules, name);
      PackedItems items = unlabelled_items(*trained, read.packed);
      items.smiles = read.packed.smiles;
      read.packed = std::move(items);
    }
    return std::make_unique<GraphGallery>(std::move(read.packed), name, std::move(trained), options);
  }
  if (trained) overrides.require_recorded(settings.data, run);
  PackedItems set = trained ? open_run_graphs(*trained, settings) : open_encoded_graphs(settings);
  const std::string name = std::filesystem::path(settings.data).lexically_normal().filename().string();
  return std::make_unique<GraphGallery>(std::move(set), name, std::move(trained), options);
}

std::unique_ptr<Gallery> ViewOptions::gallery() const {
  return graph ? graphs() : finds_parts ? segments() : clouds();
}

Choices ViewOptions::choices() const {
  Choices chosen;
  if (!colour.empty()) chosen.colouring = colouring_of(colour);
  chosen.layer = layer;
  chosen.head = head;
  chosen.query = query;
  chosen.component = component;
  chosen.map = colour_map_of(map);
  chosen.surface = surface;
  chosen.discs = discs;
  chosen.hydrogens = hydrogens;
  chosen.labels = labels;
  if (!background.empty()) chosen.background = background_of(background);
  return chosen;
}

Camera ViewOptions::camera() const {
  Camera chosen = camera_of(view);
  chosen.orthographic = projection == "orthographic";
  return chosen;
}

std::string frame_name(size_t frame) {
  std::ostringstream name;
  name << "frame_" << std::setw(4) << std::setfill('0') << frame << ".png";
  return name.str();
}

// Runs ffmpeg on frame_0000.png and so on in `folder`. Returns its exit status as run_program does.
int run_ffmpeg(const std::filesystem::path& folder, size_t frames, int milliseconds, const std::string& name,
               const std::string& log) {
  std::vector<std::string> words = {
      "ffmpeg",         "-y",        "-framerate",          std::to_string(1000.0 / milliseconds), "-i",
      "frame_%04d.png", "-frames:v", std::to_string(frames)};
  const bool palette = name.ends_with(".gif");  // a GIF has 256 colours
  // Codecs take even sizes, and players know this layout of colours.
  words.insert(words.end(), {"-vf", palette ? "split[a][b];[a]palettegen[p];[b][p]paletteuse"
                                            : "crop=trunc(iw/2)*2:trunc(ih/2)*2,format=yuv420p"});
  words.push_back(name);
  return run_program(words, folder, log);
}

// Makes an animated picture of the first `frames` files (an earlier run may have left more) in `folder`: a GIF by
// ImageMagick or ffmpeg, a WebM or MP4 by ffmpeg. Returns what failed, or an empty text.
std::string animate(const std::filesystem::path& folder, size_t frames, int milliseconds, const std::string& name) {
  int status = -ENOENT;
  if (name.ends_with(".gif")) {
    std::vector<std::string> words = {"convert", "-delay", std::to_string(milliseconds / 10), "-loop", "0"};
    for (size_t frame = 0; frame < frames; ++frame) words.push_back(frame_name(frame));
    words.push_back(name);
    status = run_program(words, folder, animation_log);
  }
  if (status == -ENOENT) status = run_ffmpeg(folder, frames, milliseconds, name, animation_log);
  if (status == -ENOENT) {
    return name.ends_with(".gif") ? "neither ImageMagick's convert nor ffmpeg is installed" : "ffmpeg is not installed";
  }
  if (status != 0) return "see " + (folder / animation_log).string();
  std::filesystem::remove(folder / animation_log);
  return "";
}

// Returns the last line of a file that says something, or an empty text.
std::string last_line(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

// Renders the turntable. Returns a message for the user.
std::string draw_turn(const ViewOptions& options, const Scene& scene, Display& display) {
  const std::filesystem::path folder = options.turntable_folder;
  std::filesystem::create_directories(folder);
  const std::vector<Camera> cameras = turntable(options.camera(), options.frames);
  std::vector<std::filesystem::path> files;
  for (size_t frame = 0; frame < cameras.size(); ++frame) files.push_back(folder / frame_name(frame));
  display.render(scene, size_of(options.size), cameras, files);
  const std::string trouble = animate(folder, files.size(), turn_milliseconds, "turntable.gif");
  return std::to_string(options.frames) + " frames in " + folder.string() + "\n" +
         (trouble.empty() ? (folder / "turntable.gif").string() : "no animated picture: " + trouble) + "\n";
}

// Draws what the viewer shows, layer after layer, as one animated picture. Returns a message for the user.
std::string draw_layers(const ViewOptions& options, const Viewer& viewer, Display& display) {
  Choices choices = viewer.choices();
  std::vector<int64_t> layers = layers_of(viewer.subject(), choices.colouring);
  if (layers.empty()) {
    throw UsageError("--animation shows the layers of --colour importance, samples, attention or diversity, not " +
                     std::string(colouring_name(choices.colouring)));
  }
  if (layers.front() == 0) std::rotate(layers.begin(), layers.begin() + 1, layers.end());  // the head comes last
  const ScratchFolder folder;
  std::vector<Scene> scenes;
  std::vector<std::filesystem::path> files;
  for (const int64_t layer : layers) {
    choices.layer = layer;
    scenes.push_back(scene_of(viewer.subject(), choices));
    files.push_back(folder.path() / frame_name(files.size()));
  }
  display.render_frames(scenes, size_of(options.size), options.camera(), files);
  const std::filesystem::path target = options.animation;
  const std::string name = "layers" + target.extension().string();
  const std::string trouble = animate(folder.path(), files.size(), layer_milliseconds, name);
  if (!trouble.empty()) {
    const std::string said = last_line(folder.path() / animation_log);
    throw std::runtime_error("--animation: " + (said.empty() ? trouble : said));
  }
  std::filesystem::copy_file(folder.path() / name, target, std::filesystem::copy_options::overwrite_existing);
  return std::to_string(layers.size()) + " layers in " + target.string() + "\n";
}

// Draws and writes a contact sheet. Returns what is on it.
std::string draw_sheet(const ViewOptions& options, Gallery& gallery, Display& display,
                       const std::function<bool(const std::string&)>& given) {
  const ContactSheet sheet =
      contact_sheet(gallery, options.item, grid_of(options.grid), options.choices(), options.colour.empty());
  check_takes(sheet.choices.colouring, given);
  if (!options.html.empty()) write_sheet_page(sheet, options.camera(), options.html);
  if (!options.screenshot.empty())
    display.render_sheet(sheet, size_of(options.size), options.camera(), options.screenshot);
  std::string told;
  for (const std::string& line : sheet_lines(sheet)) told += line + "\n";
  return told;
}

std::string rates_text(const FrameRates& rates) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << rates.points << " points: " << rates.all
       << " frames/s; while it moves, " << rates.moving_points << " of them: " << rates.moving << " frames/s\n";
  return text.str();
}

}  // namespace

std::vector<Camera> turntable(const Camera& first, int64_t frames) {
  std::vector<Camera> cameras;
  for (int64_t frame = 0; frame < frames; ++frame) {
    Camera camera = first;
    camera.azimuth += 360.0 * static_cast<double>(frame) / static_cast<double>(frames);
    cameras.push_back(camera);
  }
  return cameras;
}

int run_view(int argc, const char* const* argv, Display& display) {
  CLI::App app{view_description};
  ViewOptions options;
  options.add_to(app);
  if (!parse_arguments(app, argc, argv, std::cout)) return 0;
  options.camera();  // checks it before anything is opened
  const PictureSize size = size_of(options.size);
  options.device = options.overrides.apply_runtime();
  options.check_run();
  options.check_used(app);
  options.drop_invalid_given = app.count("--drop-invalid") > 0;
  const auto given = [&](const std::string& option) { return app.count(option) > 0; };
  std::unique_ptr<Gallery> gallery = options.gallery();
  if (gallery->flat() && !given("--view")) options.view = front_view;
  const Camera camera = options.camera();
  if (!options.grid.empty()) {
    std::cout << draw_sheet(options, *gallery, display, given);
    return 0;
  }
  Viewer viewer(std::move(gallery), options.item, options.choices(), options.beside, /*usual=*/options.colour.empty());
  check_takes(viewer.colouring(), given);
  const Scene& scene = viewer.scene();
  const bool quiet = !options.screenshot.empty() || !options.html.empty() || !options.turntable_folder.empty() ||
                     !options.animation.empty() || options.frame_rate || !options.ply.empty();
  std::string told;
  for (const std::string& line : scene.lines) told += line + "\n";
  if (!options.ply.empty()) {
    const at::Tensor exact = scene.points.to(at::kDouble);
    const at::Tensor points = offset_from_origin(exact).defined() ? exact : exact.to(at::kFloat);
    write_coloured_ply(options.ply, {points, scene.colours, scene.values, scene.value_name, scene.edges});
  }
  if (!options.html.empty()) write_page(viewer.subject(), viewer.choices(), camera, options.html);
  if (!options.screenshot.empty()) display.render(scene, size, {camera}, {options.screenshot});
  if (!options.turntable_folder.empty()) told += draw_turn(options, scene, display);
  if (!options.animation.empty()) told += draw_layers(options, viewer, display);
  if (options.frame_rate) told += rates_text(display.measure(scene, size, camera));
  if (quiet) std::cout << told;
  if (!quiet) display.show(viewer, size, camera, [](const std::string& line) { std::cout << line << std::endl; });
  return 0;
}

}  // namespace geosft::view
