/** Tests of the pulse of a rank. */
package dev.troupe.rank.pulse;
