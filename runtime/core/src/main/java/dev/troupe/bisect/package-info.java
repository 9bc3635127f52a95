/**
 * The digests of a run on disk, and the comparison of two runs: the first output in which they part.
 */
package dev.troupe.bisect;
