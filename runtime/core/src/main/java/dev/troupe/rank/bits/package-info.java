/** The recorder of bits: digests of the outputs of each rank in a step, put together at the coordinator. */
package dev.troupe.rank.bits;
