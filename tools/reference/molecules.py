# SPDX-License-Identifier: Apache-2.0
"""Features of molecules as OGB's smiles2graph has them, from SMILES, without RDKit.

The rules below (valences, hybridisation, conjugation, aromaticity, the order of bonds, the sense of chirality) give
what RDKit 2026.9 gives for the molecules of tests/fixtures/molecule_features.smi, as a comparison has shown. Other
molecules may need more of its rules.

node_feat [n, 9]: element, chirality, degree, charge, hydrogens, radical electrons, hybridisation, aromatic, in a ring;
edge_feat [e, 3]: type, stereo, conjugated; both are places in the lists of feature values that OGB has.
"""

import pathlib
import re

from pt_file import Stored

SMILES = pathlib.Path(__file__).resolve().parents[2] / "tests/fixtures/molecule_features.smi"

ELEMENTS = {  # atomic number, outer electrons, usual valences (none: not limited)
    "*": (0, 0, ()),
    "H": (1, 1, (1,)),
    "B": (5, 3, (3,)),
    "C": (6, 4, (4,)),
    "N": (7, 5, (3,)),
    "O": (8, 6, (2,)),
    "F": (9, 7, (1,)),
    "Na": (11, 1, (1,)),
    "Si": (14, 4, (4,)),
    "P": (15, 5, (3, 5)),
    "S": (16, 6, (2, 4, 6)),
    "Cl": (17, 7, (1,)),
    "Fe": (26, 8, ()),
    "Cu": (29, 11, ()),
    "Br": (35, 7, (1,)),
    "I": (53, 7, (1,)),
    "U": (92, 6, ()),
}
METALS = {"Na", "Fe", "Cu", "U"}
TOKEN = re.compile(
    r"\[(?P<isotope>\d*)(?P<inside>[A-Z][a-z]?|[a-z]|\*)(?P<chiral>@{0,2})(?P<hydrogens>H\d*)?"
    r"(?P<charge>[+-]\d*)?\]|(?P<plain>Cl|Br|[BCNOPSFI*bcnops])|(?P<bond>[-=#/\\])|%(?P<two>\d\d)|(?P<ring>\d)"
    r"|(?P<other>[().])"
)
SINGLE, DOUBLE, TRIPLE, AROMATIC = 1, 2, 3, 1.5
SYMBOLS = {"-": SINGLE, "=": DOUBLE, "#": TRIPLE, "/": SINGLE, "\\": SINGLE}
SP, SP2, SP3, SP3D, SP3D2, MISC = range(6)


class Atom:
    def __init__(self, symbol, bracket, chiral="", hydrogens=0, charge=0):
        self.aromatic = symbol.islower()
        self.symbol = symbol.capitalize()
        self.number, self.outer, self.valences = ELEMENTS[self.symbol]
        self.bracket, self.chiral, self.hydrogens, self.charge = bracket, chiral, hydrogens, charge
        self.written = []  # neighbours in the order of the SMILES: bonds, "H" or ("ring", digit)
        self.bonds = []
        self.in_ring = False

    def degree(self):
        return len(self.bonds) + self.hydrogens

    def valence(self):
        """Sum of the orders of all bonds."""
        if self.aromatic:
            return self.valences[0] + self.charge
        return sum(bond.order for bond in self.bonds) + self.hydrogens


class Bond:
    def __init__(self, begin, end, order, mark=""):
        self.begin, self.end, self.order, self.mark = begin, end, order, mark
        self.in_ring = self.conjugated = False
        self.stereo = 0

    def other(self, atom):
        return self.end if atom is self.begin else self.begin


def parsed(smiles):
    """Atoms and bonds. Bonds that close rings come last, from the closing atom to the opening one, by the ring's digit,
    then in the order in which they are opened."""
    atoms, bonds, open_rings, closures, branches = [], [], {}, [], []
    last, mark, position = None, "", 0
    while position < len(smiles):
        found = TOKEN.match(smiles, position)
        if not found:
            raise ValueError(f"{smiles}: cannot read {smiles[position:position + 10]!r}")
        position = found.end()
        if symbol := found["plain"] or found["inside"]:
            hydrogens, charge = found["hydrogens"] or "", found["charge"] or ""
            atom = Atom(
                symbol,
                not found["plain"],
                found["chiral"] or "",
                int(hydrogens[1:] or 1) if hydrogens else 0,
                int(charge + "1" if len(charge) == 1 else charge or 0),
            )
            atoms.append(atom)
            if last:
                bond = Bond(last, atom, order_of(mark, last, atom), mark)
                bonds.append(bond)
                last.written.append(bond)
                atom.written.append(bond)
            if atom.bracket and atom.hydrogens:
                atom.written.append("H")
            last, mark = atom, ""
        elif found["bond"]:
            mark = found["bond"]
        elif digit := found["two"] or found["ring"]:
            opened = open_rings.pop(int(digit), None)
            if opened is None:
                place = ["ring", None]
                open_rings[int(digit)] = (last, place, mark, len(closures))
                closures.append(None)
                last.written.append(place)
            else:
                begin, place, earlier, index = opened
                bond = Bond(last, begin, order_of(mark or earlier, begin, last))
                place[1] = bond
                last.written.append(bond)
                closures[index] = (int(digit), index, bond)
            mark = ""
        elif found["other"] == "(":
            branches.append(last)
        elif found["other"] == ")":
            last = branches.pop()
        else:
            last = None
    if open_rings or branches:
        raise ValueError(f"{smiles}: a ring or a branch is left open")
    bonds += [bond for _, _, bond in sorted(closures, key=lambda closure: closure[:2])]
    for bond in bonds:
        bond.begin.bonds.append(bond)
        bond.end.bonds.append(bond)
    for atom in atoms:
        atom.written = [x[1] if isinstance(x, list) else x for x in atom.written]
    return atoms, bonds


def order_of(mark, begin, end):
    return SYMBOLS[mark] if mark else AROMATIC if begin.aromatic and end.aromatic else SINGLE


def add_hydrogens(atom):
    """Outside brackets: as many as reach the next usual valence. A lower-case atom uses one more than it has bonds."""
    if not atom.bracket and atom.valences:
        used = len(atom.bonds) + 1 if atom.aromatic else sum(bond.order for bond in atom.bonds)
        atom.hydrogens = next((valence - used for valence in atom.valences if valence >= used), 0)


def mark_rings(atoms, bonds):
    """A spanning tree, and for each bond outside it the cycle that it closes."""
    parent, depth, tree = {}, {}, set()
    for root in atoms:
        if root in depth:
            continue
        depth[root], pending = 0, [root]
        while pending:
            atom = pending.pop()
            for bond in atom.bonds:
                other = bond.other(atom)
                if other not in depth:
                    depth[other], parent[other] = depth[atom] + 1, bond
                    tree.add(bond)
                    pending.append(other)
    for bond in bonds:
        if bond in tree:
            continue
        a, b = bond.begin, bond.end
        cycle = [bond]
        while a is not b:
            if depth[a] < depth[b]:
                a, b = b, a
            cycle.append(parent[a])
            a = parent[a].other(a)
        for member in cycle:
            member.in_ring = member.begin.in_ring = member.end.in_ring = True


def smallest_ring(bond, longest=7):
    """The bonds of a shortest cycle through `bond`; none if it is longer than that."""
    paths, seen = [(bond.begin, [bond])], {bond.begin}
    for atom, path in paths:
        if atom is bond.end:
            return path
        if len(path) < longest:
            for step in atom.bonds:
                other = step.other(atom)
                if step.in_ring and step is not bond and other not in seen:
                    seen.add(other)
                    paths.append((other, path + [step]))
    return []


def pi_electrons(atom, ring):
    """What an atom gives to an aromatic ring; None if it cannot be in one."""
    doubles = [bond for bond in atom.bonds if bond.order == DOUBLE]
    if len(doubles) == 1:
        if doubles[0] in ring:
            return 1
        return 0 if doubles[0].other(atom).symbol in ("O", "N", "S") else None
    return 2 if not doubles and atom.symbol in ("N", "O", "S") and atom.degree() <= 3 else None


def find_aromatic_rings(bonds):
    """Rings written with double bonds are aromatic if they have 6 pi electrons."""
    rings = [smallest_ring(bond) for bond in bonds if bond.in_ring and bond.order != AROMATIC]
    aromatic = []
    for ring in rings:
        members = {atom for bond in ring for atom in (bond.begin, bond.end)}
        electrons = [pi_electrons(atom, ring) for atom in members]
        if ring and None not in electrons and sum(electrons) == 6:
            aromatic += ring
    for bond in aromatic:
        bond.order = AROMATIC
        bond.begin.aromatic = bond.end.aromatic = True


def radical_electrons(atom):
    """Electrons that an octet (of hydrogen: a pair) lacks; metals have none."""
    if not atom.bracket or atom.symbol in METALS or atom.symbol == "*":
        return 0
    return max(0, (2 if atom.symbol == "H" else 8) - atom.outer - atom.valence() + atom.charge)


def may_conjugate(atom):
    """Whether the atom has electrons for a pi system. Of the heavier elements of groups 15 and 16, only those of group
    16 at the end of a chain may."""
    if not atom.valences or atom.valences[0] == 1 or atom.degree() > 3:
        return False
    if atom.number > 10 and (atom.outer == 5 or atom.outer == 6 and atom.degree() > 1):
        return False
    pairs = max(0, atom.outer - atom.valences[0] - atom.charge)
    return atom.valences[0] - atom.degree() + pairs - radical_electrons(atom) > 0


def find_conjugation(atoms, bonds):
    """A multiple bond and a bond beside it are conjugated where all three atoms may be."""
    for bond in bonds:
        bond.conjugated = bond.order == AROMATIC
    for atom in atoms:
        if not (may_conjugate(atom) and 2 <= atom.degree() <= 3):
            continue
        for first in atom.bonds:
            if first.order < AROMATIC or not may_conjugate(first.other(atom)):
                continue
            for second in atom.bonds:
                if second is not first and may_conjugate(second.other(atom)):
                    first.conjugated = second.conjugated = True


def hybridisation(atom):
    """By the number of neighbours and lone pairs; a lone pair beside a conjugated bond does not count."""
    if atom.number < 2 or atom.number >= 89:
        return MISC
    free = atom.outer - atom.valence() - atom.charge
    radicals = radical_electrons(atom)
    orbitals = int(atom.degree() + radicals + max(0, free - radicals) // 2)
    if orbitals == 4 and atom.degree() <= 3 and any(bond.conjugated for bond in atom.bonds):
        orbitals = 3
    return {2: SP, 3: SP2, 4: SP3, 5: SP3D, 6: SP3D2}.get(orbitals, MISC)


def odd_permutation(before, after):
    places = [after.index(x) for x in before]
    return sum(a > b for i, a in enumerate(places) for b in places[i + 1 :]) % 2


def chirality(atom):
    """1 clockwise, 2 counterclockwise, seen from the first bond, in the order of the bonds and then a hydrogen. @ means
    counterclockwise in the order in which the neighbours are written."""
    if not atom.chiral:
        return 0
    if len(atom.written) != 4:
        raise ValueError("chirality of an atom without four neighbours")
    order = atom.bonds + ["H"] * (len(atom.bonds) == 3)
    return 2 - (odd_permutation(atom.written, order) ^ (atom.chiral == "@@"))


def find_stereo(bonds):
    """1 Z, 2 E, for a double bond between two atoms that each have one more neighbour. A mark before the double bond,
    and one behind it, says whether the path goes up (/) or down: E where both go the same way."""
    for bond in bonds:
        if bond.order != DOUBLE:
            continue
        marks = [[b for b in atom.bonds if b is not bond] for atom in (bond.begin, bond.end)]
        if not all(any(b.mark in ("/", "\\") for b in side if b.mark) for side in marks):
            continue
        if any(len(side) != 1 for side in marks) or bond.in_ring:
            raise ValueError("stereo of a double bond with several neighbours")
        (before,), (behind,) = marks
        if before.end is not bond.begin or behind.begin is not bond.end:
            raise ValueError("stereo of a double bond that is not in the middle of its chain")
        bond.stereo = 2 if before.mark == behind.mark else 1


def features(smiles):
    """node_feat, edge_index and edge_feat: lists of rows."""
    atoms, bonds = parsed(smiles)
    for atom in atoms:
        add_hydrogens(atom)
    mark_rings(atoms, bonds)
    find_aromatic_rings(bonds)
    find_conjugation(atoms, bonds)
    find_stereo(bonds)
    index = {atom: i for i, atom in enumerate(atoms)}
    nodes = [
        [
            atom.number - 1 if atom.number else 118,
            chirality(atom),
            atom.degree(),
            atom.charge + 5,
            atom.hydrogens,
            int(radical_electrons(atom)),
            hybridisation(atom),
            int(atom.aromatic),
            int(atom.in_ring),
        ]
        for atom in atoms
    ]
    ends, edges = [], []
    for bond in bonds:
        ends += [(index[bond.begin], index[bond.end]), (index[bond.end], index[bond.begin])]
        edges += [[{SINGLE: 0, DOUBLE: 1, TRIPLE: 2, AROMATIC: 3}[bond.order], bond.stereo, int(bond.conjugated)]] * 2
    return nodes, [list(row) for row in zip(*ends)] or [[], []], edges


def fixture():
    """The tensors of molecule_features.pt: `i.<name>` of line i of the SMILES."""
    lines = SMILES.read_text().splitlines()
    table = {"count": Stored("int64", (), [len(lines)])}
    for i, smiles in enumerate(lines):
        nodes, ends, edges = features(smiles)
        for name, shape, rows in (
            ("edge_index", (2, len(edges)), ends),
            ("edge_feat", (len(edges), 3), edges),
            ("node_feat", (len(nodes), 9), nodes),
        ):
            table[f"{i}.{name}"] = Stored("int64", shape, [x for row in rows for x in row])
    return table
