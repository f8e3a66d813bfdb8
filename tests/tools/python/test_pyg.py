# SPDX-License-Identifier: Apache-2.0
"""geosft.pyg in a training loop of PyTorch Geometric; left out where that is not installed. With the data set MUTAG below
the folder that the environment variable GEOSFT_DATA names, else with rings and paths that are made here."""

import os
import pathlib
import sys
import tempfile
import unittest

import geosft
import torch

try:
    from geosft import pyg
except ImportError as error:
    if "torch_geometric" not in str(error):
        raise
    print(f"left out: {error}")
    sys.exit(0)

from geosft import nn
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import global_mean_pool
from torch_geometric.transforms import AddRandomWalkPE


def numbers(file, separator=None):
    return torch.tensor([[int(word) for word in line.replace(",", " ").split()] for line in file.read_text().splitlines()])


def mutag(folder):
    """The molecules of MUTAG, as PyTorch Geometric has them but for one-hot features."""
    edges, item = numbers(folder / "MUTAG_A.txt").T - 1, numbers(folder / "MUTAG_graph_indicator.txt").squeeze(1) - 1
    label = (numbers(folder / "MUTAG_graph_labels.txt").squeeze(1) > 0).long()
    atoms, bonds = numbers(folder / "MUTAG_node_labels.txt"), numbers(folder / "MUTAG_edge_labels.txt")
    molecules = []
    for graph in range(len(label)):
        nodes, links = item == graph, item[edges[0]] == graph
        begin = int(nodes.nonzero()[0])
        molecules.append(Data(x=atoms[nodes], edge_index=edges[:, links] - begin, edge_attr=bonds[links], y=label[graph:graph + 1]))
    return molecules


def rings_and_paths():
    made = []
    for graph in range(60):
        size = 5 + graph % 7
        places = torch.arange(size if graph % 2 else size - 1)
        ends = torch.stack((places, (places + 1) % size))
        edges = torch.cat((ends, ends.flip(0)), 1)
        made.append(Data(x=torch.randint(7, (size, 1)), edge_index=edges, edge_attr=torch.randint(4, (edges.shape[1], 1)),
                         y=torch.tensor([graph % 2])))
    return made


def molecules():
    torch.manual_seed(1)
    folder = pathlib.Path(os.environ.get("GEOSFT_DATA", "")) / "tu" / "MUTAG"
    found = mutag(folder) if "GEOSFT_DATA" in os.environ and folder.is_dir() else rings_and_paths()
    return [pyg.AddRandomWalkPE(8)(one) for one in found]


class Net(torch.nn.Module):
    """A model of PyTorch Geometric with SamplingConv where others have a GINEConv."""

    def __init__(self):
        super().__init__()
        self.atoms, self.bonds = torch.nn.Embedding(7, 24), torch.nn.Embedding(4, 4)
        self.walks = torch.nn.Linear(8, 24)
        self.convs = torch.nn.ModuleList(pyg.SamplingConv(24, heads=4, num_samples=6, edge_dim=4, layer=True) for _ in range(2))
        self.out = torch.nn.Linear(24, 2)

    def forward(self, batch):
        x = self.atoms(batch.x.squeeze(1)) + self.walks(batch.node_encoding)
        for conv in self.convs:
            x = conv(x, batch.edge_index, self.bonds(batch.edge_attr.squeeze(1)), batch.batch)
        return self.out(global_mean_pool(x, batch.batch))


class InPyTorchGeometric(unittest.TestCase):
    def setUp(self):
        torch.set_num_threads(1)
        self.molecules = molecules()

    def train(self, model, forward, epochs=2):
        """The mean loss of each epoch."""
        torch.manual_seed(2)
        loader = DataLoader(self.molecules, batch_size=16, shuffle=True)
        optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
        losses = []
        for _ in range(epochs):
            total = 0.0
            for batch in loader:
                loss = torch.nn.functional.cross_entropy(forward(batch), batch.y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += float(loss.detach()) * batch.num_graphs
            losses.append(total / len(self.molecules))
        return losses

    def test_two_epochs_of_a_model_with_the_convolution(self):
        torch.manual_seed(3)
        model = Net()
        losses = self.train(model, model)
        self.assertLess(losses[1], losses[0])
        self.assertLess(losses[1], 0.69)  # that of guessing

    def test_two_epochs_of_the_graph_model(self):
        torch.manual_seed(3)
        model = nn.GraphModel(2, 24, 4, 6, depth=2, node_vocabulary=[7], edge_vocabulary=[4], encoding=8)
        losses = self.train(model, lambda batch: model(pyg.from_data(batch)))
        self.assertLess(losses[1], losses[0])

    def test_predictions_do_not_depend_on_the_batch(self):
        model = Net().eval()
        some = self.molecules[:5]
        torch.testing.assert_close(model(Batch.from_data_list(some)), torch.cat([model(Batch.from_data_list([one])) for one in some]))

    def test_the_transform_computes_what_that_of_pytorch_geometric_does(self):
        for one in self.molecules[:10]:
            theirs = AddRandomWalkPE(8, "walks")(one.clone()).walks
            torch.testing.assert_close(one.node_encoding, theirs, rtol=1e-5, atol=1e-6)
        plain = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=3, edge_weight=torch.tensor([2.0, 2.0]))
        self.assertEqual(pyg.AddRandomWalkPE(2, None)(plain).x.tolist(), [[0, 1], [0, 1], [0, 0]])

    def test_a_batch_is_packed_graphs(self):
        batch = Batch.from_data_list(self.molecules[:3])
        graphs = pyg.from_data(batch)
        self.assertTrue(torch.equal(graphs.ptr, batch.ptr))
        self.assertTrue(torch.equal(graphs.node_categories, batch.x))
        source = torch.repeat_interleave(graphs.rowptr.diff())
        stored = {(int(a), int(b), int(c)) for a, b, c in zip(source, graphs.col, graphs.edge_categories)}
        self.assertEqual(stored, {(int(a), int(b), int(c)) for (a, b), c in zip(batch.edge_index.T, batch.edge_attr)})
        self.assertEqual(pyg.from_data(self.molecules[0]).ptr.tolist(), [0, self.molecules[0].num_nodes])
        values = pyg.from_data(Data(x=torch.rand(3, 2), edge_index=torch.tensor([[0], [1]]), edge_weight=torch.tensor([1.0])))
        self.assertEqual((values.node_values.shape, values.node_categories), ((3, 2), None))
        named = pyg.from_data(batch, node_categories="x", edge_categories="edge_attr")
        self.assertTrue(torch.equal(named.edge_categories, graphs.edge_categories))

    def test_graphs_of_a_batch_without_ptr_stay_apart(self):
        batch = Batch.from_data_list(self.molecules[:3])
        by_hand = Data(x=batch.x, edge_index=batch.edge_index, edge_attr=batch.edge_attr, batch=batch.batch)
        self.assertEqual(pyg.from_data(by_hand).ptr.tolist(), batch.ptr.tolist())
        x = torch.randn(batch.num_nodes, 8)
        conv, points = pyg.SamplingConv(8, heads=2, num_samples=4).eval(), pyg.SamplingPointConv(8, heads=2, num_samples=4).eval()
        self.assertTrue(torch.equal(conv(x, batch.edge_index, batch=batch.batch, ptr=batch.ptr), conv(x, batch.edge_index, ptr=batch.ptr)))
        other, pos = batch.ptr.clone(), torch.rand(batch.num_nodes, 3)
        other[1] += 1
        by_hand.ptr = other
        for call in (lambda: pyg.from_data(by_hand), lambda: conv(x, batch.edge_index, batch=batch.batch, ptr=other.tolist()),
                     lambda: points(x, pos, batch.batch, ptr=other)):
            with self.assertRaisesRegex(ValueError, f"ptr and batch must name the same graphs, but row {other[1] - 1} is of graph 0 by ptr and 1 by batch"):
                call()

    def test_graphs_are_written_as_a_dataset(self):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary) / "sets" / "MUTAG"
            pyg.write_tu(self.molecules, folder)
            for one, again in zip(self.molecules, mutag(folder), strict=True):
                for name in ("x", "edge_index", "edge_attr", "y"):
                    self.assertTrue(torch.equal(getattr(one, name), getattr(again, name)), name)
            with self.assertRaises(FileExistsError):
                pyg.write_tu(self.molecules, folder)
            edges, values = torch.tensor([[0, 1], [1, 0]]), torch.tensor([[0.1, 2.0], [3.0, -1e-9]])
            pyg.write_tu([Data(x=values, edge_index=edges, y=torch.tensor([1.5]))], pathlib.Path(temporary) / "two")
            read = (pathlib.Path(temporary) / "two/two_node_attributes.txt").read_text()
            self.assertTrue(torch.equal(torch.tensor([[float(word) for word in line.split(",")] for line in read.splitlines()]), values))
            one = torch.tensor([1])
            alone = Data(x=values[:1], edge_index=edges[:, :0], edge_attr=torch.zeros(0, 3), y=torch.tensor([1]))
            pair = Data(x=values, edge_index=edges, edge_attr=torch.ones(2, 3), y=torch.tensor([0]))
            pyg.write_tu([alone, pair], pathlib.Path(temporary) / "atoms")
            self.assertEqual((pathlib.Path(temporary) / "atoms/atoms_edge_attributes.txt").read_text(), "1.0, 1.0, 1.0\n" * 2)
            for words, graphs in (("at least one", []),
                                  ("graph 1 has y of integers, where those before it have y of integers, x of floating numbers: all graphs",
                                   [Data(x=values, edge_index=edges, y=one), Data(edge_index=edges, num_nodes=2, y=one)]),
                                  ("graph 1: x of floating numbers has 1 columns, graph 0 has 2",
                                   [Data(x=values, edge_index=edges, y=one), Data(x=values[:, :1], edge_index=edges, y=one)]),
                                  ("graph 1 has", [Data(x=values, edge_index=edges, y=one), Data(x=values, edge_index=edges)]),
                                  ("graph 0: it must be Data.*from_networkx", [{"x": values}]),
                                  ("graph 0: x must be finite", [Data(x=values / 0, edge_index=edges, y=one)]),
                                  ("graph 0: y must be one class", [Data(x=values, edge_index=edges, y=torch.tensor([1, 0]))]),
                                  ("graph 0: x must be a tensor", [Data(x=[1, 2], edge_index=edges, y=one, num_nodes=2)]),
                                  ("graph 0: it must have nodes", [Data(edge_index=edges[:, :0], y=one, num_nodes=0)]),
                                  ("graph 0: edge_index must name", [Data(x=values, edge_index=edges + 1, y=one)])):
                with self.assertRaisesRegex((ValueError, TypeError), words):
                    pyg.write_tu(graphs, pathlib.Path(temporary) / "bad")
            with self.assertWarnsRegex(UserWarning, "not kind, length: .*group_node_attrs"):
                pyg.write_tu([Data(edge_index=edges, num_nodes=2, kind=one.repeat(2), length=values[0])] * 2, pathlib.Path(temporary) / "given")
            self.assertEqual(sorted(path.name for path in (pathlib.Path(temporary) / "given").iterdir()),
                             ["given_A.txt", "given_graph_indicator.txt"])
            self.assertEqual(sorted(path.name for path in pathlib.Path(temporary).iterdir()), ["atoms", "given", "sets", "two"])
        with self.assertRaisesRegex(TypeError, r"data must be a Data or a Batch .*, got builtins\.list; Batch\.from_data_list"):
            pyg.from_data(self.molecules)
        with self.assertRaisesRegex(TypeError, r"data must be a Data or a Batch of PyTorch Geometric, got my_project\.Data"):
            pyg.from_data(type("Data", (), {"__module__": "my_project"})())

    def test_the_convolution_compiles_in_one_graph(self):
        batch = Batch.from_data_list(self.molecules[:4])
        x, edge_attr = torch.randn(batch.num_nodes, 6), torch.rand(batch.num_edges, 3)
        conv = pyg.SamplingConv(6, 8, heads=2, num_samples=4, edge_dim=3).eval()
        compiled = torch.compile(conv, fullgraph=True, backend="aot_eager")
        for given in ({"batch": batch.batch}, {"ptr": batch.ptr}):
            torch.testing.assert_close(compiled(x, batch.edge_index, edge_attr, **given), conv(x, batch.edge_index, edge_attr, **given))
        points, pos = pyg.SamplingPointConv(6, 8, heads=2, num_samples=4).eval(), torch.rand(batch.num_nodes, 3)
        compiled = torch.compile(points, fullgraph=True, backend="aot_eager")
        for given in ({"batch": batch.batch}, {"ptr": batch.ptr}):
            torch.testing.assert_close(compiled(x, pos, **given), points(x, pos, **given))

    def test_points(self):
        x, pos = torch.randn(11, 16), torch.rand(11, 3)
        normals = torch.nn.functional.normalize(torch.randn(11, 3), dim=1)
        batch = torch.tensor([0] * 7 + [1] * 4)
        for relative in ("paper", "angles"):
            conv = pyg.SamplingPointConv(16, heads=2, num_samples=4, normals=True, relative=relative).eval()
            both = conv(x, pos, batch, normals)
            torch.testing.assert_close(both[:7], conv(x[:7], pos[:7], None, normals[:7]))

    def test_channels_are_given_as_to_layers_of_pytorch_geometric(self):
        x, edges, pos = torch.randn(6, 16), torch.tensor([[0, 1, 2], [1, 2, 0]]), torch.rand(6, 3)
        for layer in (False, True):
            conv = pyg.SamplingConv(16, 24, heads=3, num_samples=2, layer=layer).eval()
            self.assertEqual((conv.in_channels, conv.out_channels, conv.heads), (16, 24, 3))
            self.assertEqual(conv(x, edges).shape, (6, 24))
            points = pyg.SamplingPointConv(16, 24, 3, 2, layer=layer)
            self.assertEqual(points(x, pos).shape, (6, 24))
        by_hand = conv.mix(conv.lin(x), pyg._csr(edges, 6, None, x), [0, 6])
        self.assertTrue(torch.equal(conv(x, edges), by_hand))
        self.assertIsNone(pyg.SamplingConv(16).lin)
        first = conv.lin.weight.clone()
        conv.reset_parameters()
        self.assertFalse(torch.equal(conv.lin.weight, first))
        for words, made in (("out_channels 30", dict(out_channels=30)), ("in_channels", dict(in_channels=-1)), ("heads", dict(heads=0))):
            with self.assertRaisesRegex(ValueError, words):
                pyg.SamplingConv(**{"in_channels": 16, **made})
        with self.assertRaisesRegex(TypeError, r"^SamplingConv\(\) got an unexpected keyword argument 'num_heads'; did you mean 'heads'"):
            pyg.SamplingConv(16, num_heads=2)

    def test_bad_arguments_are_named(self):
        one = self.molecules[0]
        conv = pyg.SamplingConv(16, heads=2, edge_dim=3)
        plain = pyg.SamplingConv(16, heads=2)
        points, pos = pyg.SamplingPointConv(16, heads=2), torch.rand(one.num_nodes, 3)
        pos[1, 2] = float("nan")
        x, graphs = torch.randn(one.num_nodes, 16), torch.zeros(one.num_nodes, dtype=torch.int64)
        with self.assertRaisesRegex(TypeError, "x must be a tensor, got list"):
            plain(x.tolist(), one.edge_index)
        for words, call in (("edge_attr", lambda: conv(x, one.edge_index)),
                            ("batch", lambda: conv(x, one.edge_index, torch.rand(one.num_edges, 3), torch.zeros(2, dtype=torch.int64))),
                            ("edge_attr must be given: .* edge_dim=3", lambda: conv(x, one.edge_index)),
                            ("edge_attr, the third argument.*batch=", lambda: plain(x, one.edge_index, graphs)),
                            ("edge_attr, the third argument.*batch=", lambda: conv(x, one.edge_index, graphs)),
                            ("edge_attr must be None", lambda: plain(x, one.edge_index, torch.rand(one.num_edges, 3))),
                            (r"edge_attr must have shape \[\d+, 3\], got \[\d+\]", lambda: conv(x, one.edge_index, torch.rand(one.num_edges))),
                            ("edge_attr must be finite", lambda: conv(x, one.edge_index, torch.full((one.num_edges, 3), float("inf")))),
                            ("edge 0, .* joins graphs 0 and 1", lambda: plain(x, torch.tensor([[0, 0], [1, 2]]), ptr=[0, 1, one.num_nodes])),
                            ("edge 1, .* joins graphs 0 and 1", lambda: plain(x, torch.tensor([[0, 0], [1, 2]]), batch=(torch.arange(one.num_nodes) > 1).long())),
                            ("pos must be finite.*row 1", lambda: points(x, pos)),
                            ("ascending", lambda: pyg.ptr_of(torch.tensor([1, 0]), 2)),
                            ("edge_index", lambda: pyg.from_data(Data(x=x))),
                            ("nothing", lambda: pyg.from_data(one, node_values="nothing")),
                            ("walk_length", lambda: pyg.AddRandomWalkPE(0))):
            with self.assertRaisesRegex(ValueError, words):
                call()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
