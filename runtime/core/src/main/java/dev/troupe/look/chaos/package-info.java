/**
 * Disturbed runs: faults drawn from a seed, and the comparison with the undisturbed run: the faults that struck, the time of
 * each recovery, and any difference in the end. The comparison reads the directories of the runs, so that the number of
 * their processes does not matter.
 */
package dev.troupe.look.chaos;
