/** The pulse of a rank, by which a hang is noticed: it counts kernels, pieces of files and collectives that end. */
package dev.troupe.rank.pulse;
