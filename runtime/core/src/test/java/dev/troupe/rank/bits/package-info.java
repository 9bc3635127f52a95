/** Tests of {@link dev.troupe.rank.bits}. */
package dev.troupe.rank.bits;
