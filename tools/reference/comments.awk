# SPDX-License-Identifier: Apache-2.0
# Doxygen's input filter: comments as this project writes them become Doxygen's. Those in front of a declaration are of
# the declaration, those behind one too, those at the top of a file are of the file. Indented lines are formulas and
# shapes, which stay as they are.
function escaped(text) { gsub(/[\\@#<>&$%"~`]/, "\\\\&", text); gsub(/::/, "\\::", text); return text }

# Prints the lines kept: as they are, or as a comment of Doxygen's.
function flush_comment(documents,    i, verbatim, indented, body) {
  if (top && kept) { print "/** \\file" } else if (documents && kept) { print "/**" }
  for (i = 0; i < kept; i++) {
    if (!top && !documents) { print line[i]; continue }
    body = line[i]; sub(/^ *\/\/ ?/, "", body); gsub(/\*\//, "* /", body); gsub(/\/\*/, "/ *", body)
    indented = body ~ /^  +[^ ]/ || (verbatim && body == "")
    if (indented && !verbatim) print "\\verbatim"
    if (!indented && verbatim) print "\\endverbatim"
    verbatim = indented
    print verbatim ? body : escaped(body)
  }
  if (verbatim) print "\\endverbatim"
  if (kept && (top || documents)) print "*/"
  kept = 0
}

FNR == 1 { top = 1 }
/SPDX-License-Identifier/ { next }
# The rest of a comment that began behind a declaration.
behind && /^ *\/\// && match($0, /\/\//) == behind { sub(/^ *\/\/ ?/, ""); print "///< " escaped($0); next }
{ behind = 0 }
/^ *\/\// { line[kept++] = $0; next }
{ flush_comment($0 !~ /^ *$/) }
/^#pragma once/ { top = 0 }
/[;,] +\/\/ / && !/^ *(return|#)/ {
  behind = match($0, /\/\/ /)
  print substr($0, 1, behind - 1) "///< " escaped(substr($0, behind + 3))
  next
}
{ print }
