/**
 * The pulse of a rank, by which a hang is noticed: kernels that end, bytes that move, collectives in which the rank waits.
 */
package dev.troupe.rank.pulse;
