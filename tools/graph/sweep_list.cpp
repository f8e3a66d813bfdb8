// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/sweep_list.h"

#include "tools/experiment/key_names.h"
#include "tools/experiment/toml_document.h"

namespace geosft {
namespace {

class ListReader {
 public:
  explicit ListReader(const std::filesystem::path& file) : file_(file), source_(file.string()) {}

  SweepList read() const {
    SweepList list;
    for (const auto& [key, node] : parse_toml(read_toml_text(file_), source_)) {
      const std::string name(key.str());
      if (name == "configs") {
        for (const std::string& path : texts(name, node)) list.configs.push_back(file_.parent_path() / path);
      } else if (name == "set") {
        list.set = texts(name, node);
      } else if (name == "vary") {
        list.vary = texts(name, node);
      } else if (name == "variations") {
        list.variations = changes(node);
      } else {
        refuse(name, node, {"configs", "set", "vary", "variations"});
      }
    }
    return list;
  }

 private:
  [[noreturn]] void refuse(const std::string& key, const toml::node& node,
                           const std::vector<std::string>& known) const {
    fail_toml(source_, node, "unknown key '" + key + "'" + nearest_hint(key, known));
  }

  [[noreturn]] void expect(const std::string& what, const toml::node& node) const {
    fail_toml(source_, node, "expected " + what + ", found " + (node.is_table() ? "a table" : toml_text(node)));
  }

  std::vector<std::string> texts(const std::string& key, const toml::node& node) const {
    const std::string expected = "a list of texts as '" + key + "'";
    const toml::array* list = node.as_array();
    if (!list) expect(expected, node);
    std::vector<std::string> all;
    for (const toml::node& element : *list) {
      if (!element.is_string()) expect(expected, element);
      all.push_back(element.as_string()->get());
    }
    return all;
  }

  std::vector<NamedChange> changes(const toml::node& node) const {
    const toml::array* list = node.as_array();
    if (!list) expect("tables [[variations]]", node);
    std::vector<NamedChange> all;
    for (const toml::node& element : *list) {
      if (!element.is_table()) expect("tables [[variations]]", element);
      all.push_back(change(*element.as_table()));
    }
    return all;
  }

  NamedChange change(const toml::table& table) const {
    NamedChange found;
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (name == "set") {
        found.set = texts(name, node);
      } else if (name == "name") {
        found.name = node.value_or(std::string());
      } else {
        refuse(name, node, {"name", "set"});
      }
    }
    if (found.name.empty()) fail_toml(source_, table, "expected a text as 'name' of a variation, found none");
    return found;
  }

  const std::filesystem::path& file_;
  std::string source_;
};

}  // namespace

SweepList read_sweep_list(const std::filesystem::path& file) {
  return ListReader(file).read();
}

}  // namespace geosft
