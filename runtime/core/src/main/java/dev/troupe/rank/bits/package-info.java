/**
 * The recorder of bits: digests of the outputs of each rank in a step, collected at the coordinator, and the gradients of a
 * step in a file.
 */
package dev.troupe.rank.bits;
