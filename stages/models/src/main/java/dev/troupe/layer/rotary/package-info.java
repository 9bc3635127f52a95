/**
 * Halves of a block with rotary positions, heads that share keys and values, and gated units: the layers of Llama and the
 * families after it.
 */
package dev.troupe.layer.rotary;
