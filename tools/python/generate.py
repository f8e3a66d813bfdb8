# SPDX-License-Identifier: Apache-2.0
"""Writes geosft/_operators.py, geosft/_operators.pyi and REFERENCE.md: python3 generate.py LIBGEOSFT_OPS [--check]

Signatures of operators are those of the schemas that the library registers, their docstrings the comments of the C++
declarations; the reference page is made of the docstrings of the package. With --check nothing is written: the exit
status says whether the files are what they should be.
"""

import ast
import pathlib
import re
import sys
import textwrap

import torch

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
LICENCE = "# SPDX-License-Identifier: Apache-2.0\n"
SIZED_BY_PTR = ("geosft::sample_pairs",)  # the size of its results depends on the values of ptr
TYPES = {"Tensor": "Tensor", "int": "int", "float": "float", "bool": "bool", "str": "str", "List[int]": "Sequence[int]",
         "Generator": "Generator"}


def python_type(kind):
    text = str(kind)
    optional = re.fullmatch(r"Optional\[(.*)\]", text)
    return f"{TYPES[optional[1]]} | None" if optional else TYPES[text]


def is_offsets(argument):
    """Whether it is the optional offsets of packed items, which functions of Python take as a sequence of integers, too."""
    return re.fullmatch(r"(\w+_)?ptr", argument.name) is not None and str(argument.type) == "Optional[Tensor]"


def parameter(argument, typed):
    kind = "Tensor | Sequence[int] | None" if is_offsets(argument) else python_type(argument.type)
    text = argument.name + (f": {kind}" if typed else "")
    if not argument.has_default_value():
        return text
    return f"{text} = {argument.default_value!r}" if typed else f"{text}={argument.default_value!r}"


def wrapped(begin, words, end):
    """`begin(words)end` in lines of 120 columns."""
    line = f"{begin}({', '.join(words)}){end}"
    if len(line) <= 120:
        return line
    inside = textwrap.fill(", ".join(word.replace(" ", "\0") for word in words), 116, break_long_words=False, break_on_hyphens=False)
    inside = inside.replace("\0", " ")
    return f"{begin}(\n{textwrap.indent(inside, '    ')}\n){end}"


def head(schema, typed, end):
    name = schema.name.split("::")[1]
    return wrapped(f"def {name}", [parameter(argument, typed) for argument in schema.arguments], end)


def given(argument, schema):
    """What a function of Python gives to the operator for an argument."""
    if not is_offsets(argument):
        return argument.name
    return f'{"offsets_of_call" if schema.name in SIZED_BY_PTR else "offsets_of"}({argument.name}, "{argument.name}")'


def checks(schema):
    """The lines that check the types of arguments, so that errors do not show the operator's schema."""
    lines = []
    for kind, check in (("Tensor", "check_tensors"), ("Optional[Tensor]", "check_optional_tensors"), ("int", "check_integers"),
                        ("float", "check_numbers"), ("bool", "check_flags")):
        names = [one.name for one in schema.arguments if str(one.type) == kind and not is_offsets(one)]
        if names:
            lines.append(wrapped(check, [f"{name}={name}" for name in names], ""))
    return "".join(f"{textwrap.indent(line, '    ')}\n" for line in lines)


def result_type(schema):
    results = [python_type(value.type) for value in schema.returns]
    return results[0] if len(results) == 1 else f"tuple[{', '.join(results)}]"


def declaration_comment(name):
    """The comment above the operator's declaration, without its slashes."""
    declared = re.compile(rf"((?:^//.*\n)+)^(?:at::Tensor|std::tuple<[^;{{]*?>)\s+{name}\(", re.MULTILINE)
    for folder in ("geometry", "graph", "models/ops"):
        for header in sorted((ROOT / folder).glob("*.h")):
            found = declared.search(header.read_text())
            if found:
                return re.sub(r"^// ?", "", found[1], flags=re.MULTILINE).strip()
    raise LookupError(f"no header declares {name} below a comment")


def docstring(schema, name):
    results = [value.name for value in schema.returns]
    returns = f"\n\nReturns the tuple ({', '.join(results)})." if len(results) > 1 else ""
    return ONLY_IN_CPP.sub("", declaration_comment(name)) + returns


def indented(text):
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines()).strip()


def function(schema):
    name = schema.name.split("::")[1]
    call = wrapped(f"return ops.{name}", [given(argument, schema) for argument in schema.arguments], "")
    text = indented(docstring(schema, name))
    return f'{head(schema, False, ":")}\n    r"""{text}\n    """\n{checks(schema)}{textwrap.indent(call, "    ")}\n'


def stub(schema):
    return head(schema, True, f" -> {result_type(schema)}: ...") + "\n"


# The pages of the reference: a module, and where its public names are defined; None: in the files that it imports from.
MODULES = {"geosft": ("runs.py", ["read_cloud", "read_graphs", "read_sequences", "load", "from_pretrained", "pretrained_names", "TrainedRun", "TrainedClassifier", "TrainedSegmenter",
                                  "TrainedGraphModel"]),
           "geosft.nn": ("nn/__init__.py", None), "geosft.pyg": ("pyg.py", None), "geosft.export": ("export.py", None)}
REFERENCE_HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Written by tools/python/generate.py. -->
# Reference of the Python package

All that is public, with the text of `help()`: operators, loaded models, layers and models, PyTorch Geometric, exports.
README.md has the tutorial.
"""
OF_OPERATORS = """Functions of `geosft`, with the text of their C++ headers. They are `torch.ops.geosft.<name>`, too. N, K, h, … are sizes, and
`ptr` holds the offsets of packed items. The functions take a sequence of integers for `ptr`, too.
"""
ONLY_IN_CPP = re.compile(r"\s*\(see ptr_on_device\)")  # a function that Python does not have


def public(node):
    return isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_")


def definitions(file, names):
    """The public definitions of a file of the package, in the order of `names`, or of the file."""
    tree = ast.parse((FOLDER / "geosft" / file).read_text())
    imported = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.level == 1]
    if file.endswith("__init__.py"):
        return [one for node in imported for one in definitions(f"{file.rpartition('/')[0]}/{node.module}.py", [a.name for a in node.names])]
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    for node in classes.values():
        node.init = init_of(node, classes)
    found = {node.name: node for node in tree.body if public(node)}
    return [found[name] for name in found if names is None or name in names]


def init_of(node, classes):
    """The __init__ of a class, or of the first of its bases in the same file that has one; None if there is none."""
    own = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
    bases = [classes[base.id] for base in node.bases if isinstance(base, ast.Name) and base.id in classes]
    return next((found for found in [*own, *(init_of(base, classes) for base in bases)] if found), None)


def arguments_of(given):
    """The arguments of a definition, a text for each: "name: type = value", and "*" before those that are named only."""
    def text(one, default=None, stars=""):
        value = "" if default is None else (" = " if one.annotation else "=") + ast.unparse(default)
        return stars + ast.unparse(one) + value

    placed = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(placed) - len(given.defaults)) + given.defaults
    words = [text(one, default) for one, default in zip(placed, defaults)]
    if given.vararg is not None or given.kwonlyargs:
        words.append("*" if given.vararg is None else text(given.vararg, stars="*"))
    words += [text(one, default) for one, default in zip(given.kwonlyargs, given.kw_defaults)]
    return words + ([text(given.kwarg, stars="**")] if given.kwarg is not None else [])


def call_of(node, name, method):
    """The signature of a function, or of what makes an object."""
    arguments = arguments_of(node.args)
    if method and arguments[:1] == ["self"]:
        arguments = arguments[1:]
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None and node.name != "__init__" else ""
    return wrapped(name, arguments, returns)


def entry(node, prefix, level):
    """The lines of a definition and, of a class, its public methods."""
    if isinstance(node, ast.FunctionDef):
        static = any(isinstance(one, ast.Name) and one.id in ("staticmethod", "property") for one in node.decorator_list)
        method = prefix.count(".") > 0 and prefix.rpartition(".")[2][:1].isupper()
        signature = call_of(node, node.name, method and not static)
        members = []
    else:
        signature = call_of(node.init, node.name, True) if node.init else f"class {node.name}"
        members = [one for one in node.body if public(one) and ast.get_docstring(one)]
    text = ast.get_docstring(node) or ""
    lines = [f"{'#' * level} {prefix}.{node.name}", "", "```text", signature, *["", text] * bool(text), "```", ""]
    for member in members:
        lines += entry(member, f"{prefix}.{node.name}", level + 1)
    return lines


def operator_entry(schema):
    """The lines of an operator."""
    name = schema.name.split("::")[1]
    signature = wrapped(name, [parameter(argument, True) for argument in schema.arguments], f" -> {result_type(schema)}")
    return [f"### geosft.{name}", "", "```text", signature, "", docstring(schema, name), "```", ""]


def reference(schemas):
    lines = [REFERENCE_HEAD, "## Operators", "", OF_OPERATORS]
    for schema in schemas:
        lines += operator_entry(schema)
    for module, (file, names) in MODULES.items():
        text = ast.get_docstring(ast.parse((FOLDER / "geosft" / file).read_text()))
        lines += [f"## {module}", "", *(text.splitlines() if module == "geosft.nn" else [text.split("\n\n")[0]]), ""]
        for node in definitions(file, names):
            lines += entry(node, module, 3)
    return "\n".join(lines)


def files():
    schemas = [s for s in torch._C._jit_get_all_schemas() if s.name.startswith("geosft::") and "::_" not in s.name]
    schemas.sort(key=lambda schema: schema.name)
    names = "".join(f'    "{schema.name.split("::")[1]}",\n' for schema in schemas)
    written = "# Written by tools/python/generate.py.\n"
    top = f"{LICENCE}{written}import torch\n\nfrom ._offsets import offsets_of, offsets_of_call\nfrom ._tensors import check_flags, check_integers, check_numbers, check_optional_tensors, check_tensors\n\nops = torch.ops.geosft\n__all__ = [\n{names}]\n"
    stub_top = (f"{LICENCE}{written}from collections.abc import Sequence\n\nfrom torch import Generator, Tensor\n\n"
                f"__all__ = [\n{names}]\n")
    return {"geosft/_operators.py": "\n\n".join([top, *map(function, schemas)]),
            "geosft/_operators.pyi": "\n".join([stub_top, *map(stub, schemas)]), "REFERENCE.md": reference(schemas)}


def main():
    torch.ops.load_library(sys.argv[1])
    outdated = [name for name, text in files().items()
                if not (FOLDER / name).exists() or (FOLDER / name).read_text() != text]
    if "--check" in sys.argv:
        for name in outdated:
            print(f"tools/python/{name} is not what library, headers and docstrings say: run tools/python/generate.py")
        return 1 if outdated else 0
    for name in outdated:
        (FOLDER / name).write_text(files()[name])
    return 0


if __name__ == "__main__":
    sys.exit(main())
