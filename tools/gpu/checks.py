# SPDX-License-Identifier: Apache-2.0
"""Compares the operators on a GPU with those on the CPU, which have their own tests against golden cases.

A check takes `small` (sizes for compute-sanitizer) and returns its result as text, or raises.
"""

import attention_checks as attention
import operator_checks as operators
import polynomial_checks as polynomial
import primal_checks as primal
from autocast_checks import check_autocast
from large_checks import check_large
from wrong_checks import check_operator_ptr

CHECKS = {
    "attention: CPU against CUDA": attention.check_agreement,
    "attention: half types as float32": attention.check_halves,
    "attention: gradients": attention.check_gradients,
    "attention: determinism": attention.check_determinism,
    "attention: results are written": attention.check_written,
    "attention: CUDA graph": attention.check_graph,
    "attention: some gradients alone": attention.check_not_requested,
    "attention: wrong offsets": attention.check_ptr,
    "offsets on the CPU": attention.check_host_ptr,
    "polynomial_attention: CPU against CUDA": polynomial.check_polynomial,
    "polynomial_attention: one item": polynomial.check_polynomial_alone,
    "polynomial_attention: gradients": polynomial.check_polynomial_gradients,
    "polynomial_attention: determinism": polynomial.check_polynomial_determinism,
    "polynomial_attention: CUDA graph": polynomial.check_polynomial_graph,
    "polynomial_attention: wrong offsets": polynomial.check_polynomial_ptr,
    "primal_attention: CPU against CUDA": primal.check_primal,
    "primal_attention: columns that are no keys": primal.check_primal_columns,
    "primal_attention: gradients": primal.check_primal_gradients,
    "primal_attention: determinism": primal.check_primal_determinism,
    "primal_attention: CUDA graph": primal.check_primal_graph,
    "primal_attention: wrong offsets": primal.check_primal_ptr,
    "other operators: CPU against CUDA": operators.check_operators,
    "other operators: gradients": operators.check_operator_gradients,
    "other operators: determinism": operators.check_operator_determinism,
    "other operators: CUDA graph": operators.check_operator_graphs,
    "sample_pairs: CPU against CUDA": operators.check_pairs,
    "gather_pairs: CPU against CUDA": operators.check_gather,
    "softmax_pool: CPU against CUDA": operators.check_pool,
    "dropout: CPU against CUDA": operators.check_dropout,
    "farthest_point_sampling: CPU against CUDA": operators.check_farthest,
    "augment_clouds: CPU against CUDA": operators.check_augmentation,
    "knn: CPU against CUDA": operators.check_knn,
    "random_walk_pe: CPU against CUDA": operators.check_walks,
    "all operators: inside autocast": check_autocast,
    "calls of more than 2^31 elements": check_large,
    # Last: what leaves its arrays may end the GPU's context.
    "other operators: wrong offsets": check_operator_ptr,
}
