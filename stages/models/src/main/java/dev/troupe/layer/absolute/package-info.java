/**
 * Halves of a block of models with absolute positions, which the embedding adds: attention whose queries, keys and values
 * are one product, and an MLP with GELU, both between projections with biases; the layers of GPT-2.
 */
package dev.troupe.layer.absolute;
