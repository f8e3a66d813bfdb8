# SPDX-License-Identifier: Apache-2.0
"""Writes geosft/_operators.py and geosft/_operators.pyi: python3 generate.py LIBGEOSFT_OPS [--check]

Signatures are those of the schemas that the library registers, docstrings the comments of the C++ declarations. With
--check nothing is written: the exit status says whether the files are what they should be.
"""

import pathlib
import re
import sys
import textwrap

import torch

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
LICENCE = "# SPDX-License-Identifier: Apache-2.0\n"
TYPES = {"Tensor": "Tensor", "int": "int", "float": "float", "bool": "bool", "str": "str", "List[int]": "Sequence[int]",
         "Generator": "Generator"}


def python_type(kind):
    text = str(kind)
    optional = re.fullmatch(r"Optional\[(.*)\]", text)
    return f"{TYPES[optional[1]]} | None" if optional else TYPES[text]


def parameter(argument, typed):
    text = argument.name + (f": {python_type(argument.type)}" if typed else "")
    if not argument.has_default_value():
        return text
    return f"{text} = {argument.default_value!r}" if typed else f"{text}={argument.default_value!r}"


def wrapped(begin, words, end):
    """`begin(words)end` in lines of 120 columns."""
    line = f"{begin}({', '.join(words)}){end}"
    if len(line) <= 120:
        return line
    inside = textwrap.fill(", ".join(word.replace(" ", "\0") for word in words), 116).replace("\0", " ")
    return f"{begin}(\n{textwrap.indent(inside, '    ')}\n){end}"


def head(schema, typed, end):
    name = schema.name.split("::")[1]
    return wrapped(f"def {name}", [parameter(argument, typed) for argument in schema.arguments], end)


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
    lines = (declaration_comment(name) + returns).splitlines()
    return "\n".join(f"    {line}".rstrip() for line in lines).strip()


def function(schema):
    name = schema.name.split("::")[1]
    call = wrapped(f"return ops.{name}", [argument.name for argument in schema.arguments], "")
    text = docstring(schema, name)
    return f'{head(schema, False, ":")}\n    r"""{text}\n    """\n{textwrap.indent(call, "    ")}\n'


def stub(schema):
    return head(schema, True, f" -> {result_type(schema)}: ...") + "\n"


def files():
    schemas = [s for s in torch._C._jit_get_all_schemas() if s.name.startswith("geosft::") and "::_" not in s.name]
    schemas.sort(key=lambda schema: schema.name)
    names = "".join(f'    "{schema.name.split("::")[1]}",\n' for schema in schemas)
    written = "# Written by tools/python/generate.py.\n"
    top = f"{LICENCE}{written}import torch\n\nops = torch.ops.geosft\n__all__ = [\n{names}]\n"
    stub_top = (f"{LICENCE}{written}from collections.abc import Sequence\n\nfrom torch import Generator, Tensor\n\n"
                f"__all__ = [\n{names}]\n")
    return {"_operators.py": "\n\n".join([top, *map(function, schemas)]),
            "_operators.pyi": "\n".join([stub_top, *map(stub, schemas)])}


def main():
    torch.ops.load_library(sys.argv[1])
    outdated = [name for name, text in files().items()
                if not (FOLDER / "geosft" / name).exists() or (FOLDER / "geosft" / name).read_text() != text]
    if "--check" in sys.argv:
        for name in outdated:
            print(f"tools/python/geosft/{name} is not what library and headers say: run tools/python/generate.py")
        return 1 if outdated else 0
    for name in outdated:
        (FOLDER / "geosft" / name).write_text(files()[name])
    return 0


if __name__ == "__main__":
    sys.exit(main())
