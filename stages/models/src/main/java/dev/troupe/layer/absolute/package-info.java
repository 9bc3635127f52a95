/**
 * Halves of a block of models with absolute positions, which the embedding adds: attention with one product for queries,
 * keys and values, and an MLP with GELU, both between projections with biases; the layers of GPT-2.
 */
package dev.troupe.layer.absolute;
