/**
 * Halves of a block of models with absolute positions, which the embedding adds: attention with one product for queries,
 * keys and values, and an MLP with GELU, both with biased projections, as in GPT-2.
 */
package dev.troupe.layer.absolute;
