/** The recorder of bits: digests of the outputs of each rank in a step, collected at the coordinator. */
package dev.troupe.rank.bits;
