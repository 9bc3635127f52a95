/** The digests of a run on disk, and the comparison of two runs: the first output that differs. */
package dev.troupe.look.bisect;
