/**
 * The recorder of bits: digests of what each rank computes in a step, put together at the coordinator.
 */
package dev.troupe.bits;
