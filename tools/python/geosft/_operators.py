# SPDX-License-Identifier: Apache-2.0
# Written by tools/python/generate.py.
import torch

from ._offsets import offsets_of, offsets_of_call
from ._tensors import check_flags, check_integers, check_numbers, check_optional_tensors, check_tensors

ops = torch.ops.geosft
__all__ = [
    "farthest_point_sampling",
    "gather_pairs",
    "graph_attention",
    "knn",
    "maxout_attention",
    "point_attention",
    "polynomial_attention",
    "primal_attention",
    "random_walk_pe",
    "sample_pairs",
    "sequence_attention",
    "softmax_pool",
]


def farthest_point_sampling(points, m, ptr=None, start=0):
    r"""Samples min(m, n_b) distinct packed rows of each item, int64. The first is row `start` of the item; each further one
    has the largest squared distance to the rows chosen so far. Ties go to the lowest row. A chosen row is never chosen
    again, even among duplicated points.
      points [N, 3] float32 or float64, finite; ptr int64 [B + 1]
      m >= 0; start >= 0 is relative to the item and must exist in every item that is not empty
    Distances are sums of (a - b)^2 in the tensor's dtype. The result is that of the plain O(n m) loop, index by index,
    but computed with a k-d tree of buckets as in QuickFPS (Han et al., IEEE TCAD 2023). A bucket is skipped if its
    bounding box is farther from the new row than all of its points are from the rows chosen before. Items are processed
    in parallel. On the CPU, squared distances that overflow are an error: points of an item may be at most 1.8e19 apart
    in float32, and 1.3e154 in float64, measured by the diagonal of their bounding box. Errors name the argument.

    Tracing (torch.compile, torch.export, fake tensors): without ptr the size of the result is min(m, N). With ptr it
    depends on the values of ptr and is an unbacked symbol, which torch.compile(fullgraph=True) takes, and without
    fullgraph needs torch._dynamo.config.capture_scalar_outputs for. A ptr on the meta device has no values: there is no
    result. With ptr on a GPU the call synchronizes to read that size, and cannot be captured in a CUDA graph; with ptr
    on the CPU, or none, it can.
    """
    check_tensors(points=points)
    check_integers(m=m, start=start)
    return ops.farthest_point_sampling(points, m, offsets_of(ptr, "ptr"), start)


def gather_pairs(x, top, partner, weight):
    r"""The sampled tokens (SFT section 4.2): weight[j] x[top[j]] + (1 - weight[j]) x[partner[j]].
      x [N, ...] floating; top, partner int64 [K], rows of x; weight [K] floating
      result [K, ...], of the wider of the two types
    Differentiable in x and weight. The gradient of a row that is sampled more than once is summed in a fixed order: the
    same bits every time, on a GPU too, unlike with LibTorch's own index operators. Errors name the
    argument. On a GPU the host does not wait to see top and partner: an index out of range counts as the nearest row,
    and gives wrong rows.
    """
    check_tensors(x=x, top=top, partner=partner, weight=weight)
    return ops.gather_pairs(x, top, partner, weight)


def graph_attention(
    q, k, v, leak, rowptr, col, edge_attr, top, partner, weight, w_mul, b_mul, w_add, b_add, q_ptr=None, k_ptr=None,
    eps=1e-06
):
    r"""maxout_attention whose attention bias comes from the edges of a graph (SFT sections 4.3 and 4.4). Query i is node i.
    X_R[i, j] is the sum of edge_attr over the stored edges (i, j), 0 where there is none (duplicates add; self-loops are
    edges like others and none is implied). Key j stands for the nodes top[j] and partner[j] with weights p = weight[j]
    and 1 - p:
      R[i, j] = p T(X_R[i, top[j]]) + (1 - p) T(X_R[i, partner[j]])
    with T(x) = softplus(x w_mul + b_mul) for r_mul and T(x) = x w_add + b_add for r_add. Pairs without an edge share one
    constant per head: the work is O(edges touched + n k), the memory O(edges touched).

      q [Nq, h, c], k [Nk, h, c], v [Nk, h, cv], leak [Nk, h], eps: see maxout_attention
      rowptr int64 [Nq + 1], col int64 [E] in [0, Nq), in any order within a row: CSR of the packed graphs
      edge_attr [E, r]: all channels, the one that is 1 on every edge included
      top, partner int64 [Nk]: packed node rows within the item of key j; repeats and top = partner are allowed
      weight [Nk]
      w_mul, w_add [r, h], b_mul, b_add [h]
      q_ptr, k_ptr int64 [B + 1]: items of packed queries and keys, both or neither (then there is one item)
      result [Nq, h, cv]

    One dtype: float32, float64, or float16 and bfloat16, which are computed in float32. Differentiable once in all
    floating arguments. The result has the same bits on any number of threads. Wrong shapes, dtypes, indices or ptr: an
    error naming the argument.
    """
    check_tensors(
        q=q, k=k, v=v, leak=leak, rowptr=rowptr, col=col, edge_attr=edge_attr, top=top, partner=partner, weight=weight,
        w_mul=w_mul, b_mul=b_mul, w_add=w_add, b_add=b_add
    )
    check_numbers(eps=eps)
    return ops.graph_attention(
        q, k, v, leak, rowptr, col, edge_attr, top, partner, weight, w_mul, b_mul, w_add, b_add, offsets_of(q_ptr, "q_ptr"),
        offsets_of(k_ptr, "k_ptr"), eps
    )


def knn(points, queries, k, ptr=None, query_ptr=None):
    r"""The k nearest points of each query within its item: (index int64 [Q, k], dist2 [Q, k]).
      points [N, 3], queries [Q, 3]: float32 or float64, one dtype, finite; strided tensors are accepted
      k >= 1; if the item has fewer points, the remaining index is -1 and dist2 is +infinity
      ptr, query_ptr: int64 [B + 1], given both or neither
    index holds packed rows of `points`, sorted by distance and then by row; among equal distances the lowest rows are
    kept. A query that is itself a point finds itself. dist2 is the sum of (q - p)^2 in the tensor's dtype, in units of
    length squared. It is differentiable once in points and queries, and its bits do not depend on the number of threads.
    On the CPU, squared distances that overflow are an error: points and queries of an item may be at most 1.8e19 apart
    in float32, and 1.3e154 in float64, measured by the diagonal of their bounding box. Errors name the argument.

    Returns the tuple (index, dist2).
    """
    check_tensors(points=points, queries=queries)
    check_integers(k=k)
    return ops.knn(points, queries, k, offsets_of(ptr, "ptr"), offsets_of(query_ptr, "query_ptr"))


def maxout_attention(q, k, v, leak, r_mul=None, r_add=None, q_ptr=None, k_ptr=None, eps=1e-06):
    r"""Attention with the maxout score and the leaky relu probability (SFT section 4.3), per item and head:
      S[i, j] = r_mul[i, j] * sum_t max(q[i, t], k[j, t]) / sqrt(c) + r_add[i, j]
      out[i]  = sum_j relu(S[i, j]) v[j] / (sum_j (relu(S[i, j]) + softplus(leak[j])) + eps)
    A denominator of 0 (or below the smallest normal number) gives a row of zeros. Where q = k the gradient of the
    maximum goes to q. NaN in a query, key, value or leak reaches every row that depends on it.

      q [Nq, h, c], k [Nk, h, c], v [Nk, h, cv], leak [Nk, h] (before its softplus; -inf is allowed)
      r_mul, r_add [sum_b nq_b * nk_b, h], final values (r_mul past its softplus), item by item, row-major; 1 and 0 if
        absent. They are n x k: for terms that can be computed from O(n + k) numbers use point_attention,
        sequence_attention or graph_attention.
      q_ptr, k_ptr int64 [B + 1]: items of packed queries and keys, both or neither (then there is one item)
      result [Nq, h, cv]

    One dtype: float32, float64, or float16 and bfloat16, which are computed in float32. Differentiable once in q, k, v,
    leak, r_mul and r_add. The result has the same bits on any number of threads. Wrong shapes, dtypes or ptr: an error
    naming the argument.

    Memory, of this and the other attention operators: nothing n x k beyond r_*. What forward and backward keep beside
    results and gradients is the denominator [Nq, h] in float32 or float64 (1/c of q, 2/c of a half type) and copies of
    gradients that several threads add to (3 % of q, k and v and 2 MiB, or more where weights of an attention bias are
    large): a tenth of q, k and v and 2 MiB for heads of 15 channels, 29 of half types. Each thread has scratch beside:
    tiles and, for half types, the float32 gradients of the keys and values that it works on: of one item, and of a part
    of the heads where items are few.
    """
    check_tensors(q=q, k=k, v=v, leak=leak)
    check_optional_tensors(r_mul=r_mul, r_add=r_add)
    check_numbers(eps=eps)
    return ops.maxout_attention(q, k, v, leak, r_mul, r_add, offsets_of(q_ptr, "q_ptr"), offsets_of(k_ptr, "k_ptr"), eps)


def point_attention(q, k, v, leak, x, xs, m, ms, w_mul, b_mul, w_add, b_add, q_ptr=None, k_ptr=None, eps=1e-06):
    r"""maxout_attention whose attention bias comes from points (SFT sections 4.3 and 4.4): with
      X_R[i, j] = (|d|^2, m_i . ms_j, m_i . d, ms_j . d, (m_i x ms_j) . d),   d = xs_j - x_i,
      R_mul = softplus(X_R w_mul + b_mul),  R_add = X_R w_add + b_add
    as r_mul and r_add, computed inside and never stored n x k. The weights choose the channels, the first r of X_R:
    r = 1 without normals; with normals r = 2 (the paper's), r = 4 (with the angles of both normals to d) or r = 5. The
    fifth channel, a triple product, changes its sign under reflections; all are invariant to rotation and translation.

      q [Nq, h, c], k [Nk, h, c], v [Nk, h, cv], leak [Nk, h], eps: see maxout_attention
      x [Nq, 3], xs [Nk, 3] coordinates, in any unit (w_* take the inverse of that of each channel)
      m [Nq, 3], ms [Nk, 3] normals, both or neither, of any length
      w_mul, w_add [r, h], b_mul, b_add [h]
      q_ptr, k_ptr int64 [B + 1]: items of packed queries and keys, both or neither (then there is one item)
      result [Nq, h, cv]

    One dtype: float32, float64, or float16 and bfloat16, which are computed in float32. Differentiable once in all
    floating arguments. O(Nq + Nk) memory. The result has the same bits on any number of threads. Wrong shapes, dtypes or
    ptr: an error naming the argument. Numbers are not checked: a NaN among the keys of an item reaches all of its rows.
    """
    check_tensors(q=q, k=k, v=v, leak=leak, x=x, xs=xs, w_mul=w_mul, b_mul=b_mul, w_add=w_add, b_add=b_add)
    check_optional_tensors(m=m, ms=ms)
    check_numbers(eps=eps)
    return ops.point_attention(
        q, k, v, leak, x, xs, m, ms, w_mul, b_mul, w_add, b_add, offsets_of(q_ptr, "q_ptr"), offsets_of(k_ptr, "k_ptr"), eps
    )


def polynomial_attention(q, k, v, degree, scale, causal=False, q_ptr=None, k_ptr=None, center=False):
    r"""Softmax attention in almost linear time: the exponential replaced by its Taylor polynomial ("Multi-Layer Transformers
    Gradient Can be Approximated in Almost Linear Time", the polynomial method), per item and head:
      A[i, j] = sum_{t <= degree} (scale q[i] . k[j])^t / t!,   out[i] = sum_j A[i, j] v[j] / sum_j A[i, j]
    A factorises over the m = binomial(c + degree, degree) monomials of q and k, so time is O((Nq + Nk) m cv) and memory
    O(Nq + Nk) and, for each item that uses them, m cv: nothing n x n, nothing n x m. Items that are so short that the
    pairs themselves are less work are evaluated pair by pair: the same function. Besides, a thread of the CPU works in
    68 m + 144 (c + cv) + 40,000 numbers at most, with `causal` (m + 16)(cv + 1) more. On a GPU, where kernels choose
    item by item wherever ptr is, sums take 2 (c + 3 degree + cv + 1) numbers a key (backward: or query) and m (cv + 1)
    besides, of each head, and what describes the monomials 5 m; heads of one channel beyond degree 2,096, and of two
    beyond 224, are evaluated pair by pair there. In C++ choose_polynomial_degree finds a degree.

      q [Nq, h, c], k [Nk, h, c], v [Nk, h, cv]
      degree >= 0, with at most 100,000 monomials; even ones keep A positive. Long items sum entries of sqrt(|scale|) q
        and k to the power of the degree: where those leave the range of the type (float32: 3e38), the result is NaN
      scale finite, of any sign (1 / sqrt(c) for usual attention)
      causal: query i of an item sees its keys 0 … i; items must have as many queries as keys
      center: keys minus the mean of their item, which softmax does not see but the polynomial's error does; not with
        causal, where the mean of all keys would leak the future
      q_ptr, k_ptr int64 [B + 1]: items of packed queries and keys, both or neither (then there is one item)
      result [Nq, h, cv]; zeros where the item has no keys

    One dtype: float32, float64, or float16 and bfloat16, which are computed in float32. Differentiable once in q, k and
    v: the exact gradient of this polynomial form. The result has the same bits on any number of threads. Wrong shapes,
    dtypes, scalars or ptr: an error naming the argument. The values of q, k and v are not checked.
    """
    check_tensors(q=q, k=k, v=v)
    check_integers(degree=degree)
    check_numbers(scale=scale)
    check_flags(causal=causal, center=center)
    return ops.polynomial_attention(
        q, k, v, degree, scale, causal, offsets_of(q_ptr, "q_ptr"), offsets_of(k_ptr, "k_ptr"), center
    )


def primal_attention(
    q, k, v, beta=None, pool=None, kernel='softmax', eps=1e-06, q_ptr=None, k_ptr=None, mask_rowptr=None, mask_col=None,
    scale=None
):
    r"""The attentions that follow from a support-vector regression of values on keys ("A Primal-Dual Framework for
    Transformers and Neural Networks", sections 2 and 3), per item and head:
      out[i] = sum_j w[i, j] v[j] / sum_j w[i, j]
      softmax: w[i, j] = exp(scale q[i] . k[j]);  linear: w[i, j] = phi(q[i]) . phi(k[j]) with phi = elu + 1, and eps is
      added to its sum
    over keys and values that are pooled and recentred first:
      pool (Attention-SH): head s averages each pool[s] consecutive rows of k and v of an item; the last group of an item
        may be shorter, and has as much say as the others
      beta (Attention-BN): q <- q - beta mu and k <- k - beta mu, mu the mean of the item's pooled keys of that head
    Memory is O(Nq + Nk) beside the result and the pairs of a mask; time of linear is too.

      q [Nq, h, c], k [Nk, h, c], v [Nk, h, cv]
      beta [] or [h]; none: 0
      pool h factors >= 1; none: 1
      kernel "softmax" or "linear"
      eps >= 0, of linear alone
      q_ptr, k_ptr int64 [B + 1]: items of packed queries and keys, both or neither (then there is one item)
      mask_rowptr, mask_col int64: with softmax, the keys that each query sees, as rows of a CSR matrix. mask_rowptr has
        Nq + 1 entries for one mask of all heads, which must then share a factor, or h Nq + 1 (row s Nq + i). Columns are
        rows of the packed pooled keys of the head, rising in a row, of the query's item.
      scale of softmax, finite; none: 1 / sqrt(c)
      result [Nq, h, cv]; zeros, with zero gradients, where a query sees no key or the sum is 0

    One dtype: float32, float64, or float16 and bfloat16, which the CPU computes in float32. Differentiable once in q, k,
    v and beta. The result has the same bits on any number of threads. Wrong shapes, dtypes, scalars or ptr: an error
    naming the argument. The values of q, k, v and beta are not checked. On a CPU softmax over whole items is LibTorch's
    scaled_dot_product_attention where they are large. On a GPU heads of at most 128 channels have kernels: the result
    has the same bits every time, the values of a mask, and of a ptr there, are not checked (pairs of rows that are not
    of one item count for nothing), and linear takes memory for c (cv + 1) numbers an item and every 256 keys. All else
    is composed of LibTorch's operations.
    """
    check_tensors(q=q, k=k, v=v)
    check_optional_tensors(beta=beta, mask_rowptr=mask_rowptr, mask_col=mask_col)
    check_numbers(eps=eps)
    return ops.primal_attention(
        q, k, v, beta, pool, kernel, eps, offsets_of(q_ptr, "q_ptr"), offsets_of(k_ptr, "k_ptr"), mask_rowptr, mask_col,
        scale
    )


def random_walk_pe(rowptr, col, steps, weight=None):
    r"""Exact return probabilities of a random walk after 1, 2, …, steps steps: [N, steps]; column t - 1 is the diagonal of
    RW^t with RW = A D^-1.
      rowptr   int64 [N + 1], col int64 [E] in any order within a row: CSR of the graph. A packed batch is one
               block-diagonal graph. Self-loops count once, duplicate edges as often as they are stored
      weight   [E] float32 or float64, finite and not negative; default 1. A_ij is the sum of the weights of the edges
               i -> j, D_i the sum of row i; if D_i = 0, 1 / D_i counts as 0
      steps    >= 1
    On the CPU, another weight is an error, as is a sum D_i that is, or whose inverse is, beyond the range of its type.
    On a GPU, where the host reads no values, the nodes whose walks it can affect get NaN. The dtype is that of weight,
    float32 without. Not differentiable. The bits do not depend on the number of threads.

    Only half the powers are computed: (RW^(a+b))_ii = sum_j (RW^a)_ij (RW^b)_ji. On a symmetric graph the second factor
    follows from the first (D_i (P^b)_ij = D_j (P^b)_ji, P = D^-1 A), so steps / 2 propagations from each node suffice;
    asymmetric graphs need steps / 2 in each direction. Patches of 16 neighbouring nodes in float32, 8 in float64, are
    propagated together over the rows that their walks reach. In large graphs whose walks diverge too quickly for that,
    each node is propagated alone. No N x N matrix: memory is O(N + E), plus O(N) per thread. Errors name the argument.
    """
    check_tensors(rowptr=rowptr, col=col)
    check_optional_tensors(weight=weight)
    check_integers(steps=steps)
    return ops.random_walk_pe(rowptr, col, steps, weight)


def sample_pairs(score, k, ptr=None, noise=False, random_partner=False, tau=1.0, generator=None, seeds=None):
    r"""Samples k' pairs of tokens from every item of a packed batch: `top` are the tokens of the largest scores z',
    `partner` come from the others, and the sampled token is weight * x[top] + (1 - weight) * x[partner] with
        weight = softplus(z'[top])^(1/tau) / (softplus(z'[top])^(1/tau) + softplus(z'[partner])^(1/tau)).
    In an item of one token, top and partner are that token, and weight is 1.

      score           [N], finite; z' = score, plus Gumbel(0, 1) noise when `noise` is set. float32, float64, or float16
                      and bfloat16, which are computed in float32
      k               samples asked for, >= 1; an item of n tokens gives k' = min(k, n / 2), 1 if n = 1, 0 if it is empty
      ptr             int64 [B + 1], items of the packed batch; none: one item
      random_partner  partners are uniform over the tokens that are not in `top`, in random order; otherwise they are the
                      tokens of ranks k' + 1 ... 2k'
      tau             temperature, > 0 and finite
      generator       source of the seeds when `seeds` is absent; none: the default generator. Used only if the call is
                      random
      seeds           int64 [B]: noise and partners of an item are a function of its seed and the row within the item

    Returns top and partner (int64 [K], rows of the packed tokens; items in turn, descending z', ties to the lower row),
    weight ([K], differentiable in score) and sample_ptr (int64 [B + 1]). Errors name the argument.

    Traced (torch.compile, torch.export, fake tensors) without ptr K follows from N; with ptr it depends on the values of
    ptr and is an unbacked symbol, which torch.compile(fullgraph=True) takes, and without fullgraph needs
    torch._dynamo.config.capture_scalar_outputs for. A `generator` cannot be traced: give seeds. Meta tensors have no
    values: with a ptr on the meta device there is no result. With ptr on a GPU the call waits for it to read K, and
    cannot be captured in a CUDA graph; with ptr on the CPU, or none, it can, if a random one is
    given seeds.

    torch.func.vmap calls the operators row by row. Random calls without seeds obey its randomness: "different", "same",
    or an error. The other transforms (grad, vjp, jvp, jacrev) are refused by an error that names the operator.

    Returns the tuple (top, partner, weight, sample_ptr).
    """
    check_tensors(score=score)
    check_optional_tensors(seeds=seeds)
    check_integers(k=k)
    check_numbers(tau=tau)
    check_flags(noise=noise, random_partner=random_partner)
    return ops.sample_pairs(score, k, offsets_of_call(ptr, "ptr"), noise, random_partner, tau, generator, seeds)


def sequence_attention(q, k, v, leak, s, ss, w_mul, b_mul, w_add, b_add, q_ptr=None, k_ptr=None, eps=1e-06):
    r"""maxout_attention whose attention bias comes from position encodings (SFT sections 4.3 and 4.4): with
      X_R[i, j, t] = s[i, t] ss[j, t]
      R_mul = softplus(X_R w_mul + b_mul),  R_add = X_R w_add + b_add
    as r_mul and r_add: two matrix products per head, computed inside and never stored n x k.

      q [Nq, h, c], k [Nk, h, c], v [Nk, h, cv], leak [Nk, h], eps: see maxout_attention
      s [Nq, ds], ss [Nk, ds], ds >= 1: sinusoids (or anything else) of queries and keys
      w_mul, w_add [ds, h], b_mul, b_add [h]
      q_ptr, k_ptr int64 [B + 1]: items of packed queries and keys, both or neither (then there is one item)
      result [Nq, h, cv]

    One dtype: float32, float64, or float16 and bfloat16, which are computed in float32. Differentiable once in all
    floating arguments. O(Nq + Nk) memory. The result has the same bits on any number of threads. Wrong shapes, dtypes or
    ptr: an error naming the argument.
    """
    check_tensors(q=q, k=k, v=v, leak=leak, s=s, ss=ss, w_mul=w_mul, b_mul=b_mul, w_add=w_add, b_add=b_add)
    check_numbers(eps=eps)
    return ops.sequence_attention(
        q, k, v, leak, s, ss, w_mul, b_mul, w_add, b_add, offsets_of(q_ptr, "q_ptr"), offsets_of(k_ptr, "k_ptr"), eps
    )


def softmax_pool(x, u, ptr=None):
    r"""Pools the rows of each item with softmax weights, sum_i w_i x_i with w = softmax(x u): the aggregation of tokens
    before the last linear map (SFT section 5).

      x [N, d], u [d], d >= 1
      ptr int64 [B + 1]: items of packed rows; None: one item
      result [B, d], zeros for an empty item

    One dtype: float32, float64, or float16 and bfloat16, which are computed in float32. Differentiable once in x and u.
    The result has the same bits on any number of threads. Working memory is a row of d numbers for every 512 rows of an
    item, one at least, and for half types a copy of x in float32. Wrong shapes, dtypes or ptr: an error naming the
    argument.
    """
    check_tensors(x=x, u=u)
    return ops.softmax_pool(x, u, offsets_of(ptr, "ptr"))
