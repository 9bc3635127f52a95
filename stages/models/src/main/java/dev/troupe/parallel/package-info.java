/**
 * The division of a stage over ranks: the tensor-parallel group seen by layers, the part of each tensor that a rank holds,
 * and a rank's place among those with the same weights (ZeRO).
 */
package dev.troupe.parallel;
