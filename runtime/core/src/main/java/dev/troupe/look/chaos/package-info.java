/**
 * Disturbed runs: faults drawn from a seed, and the comparison with the undisturbed run. It shows the faults that struck,
 * the time of each recovery, and any difference in the end. It reads the directories of the runs, so the number of processes
 * does not matter.
 */
package dev.troupe.look.chaos;
