/**
 * Disturbed runs: faults drawn from a seed, and the comparison with the undisturbed run: the faults that struck, the time of
 * each recovery, and any difference in the end. The comparison reads the directories of the runs, so that the number of
 * their processes does not matter.
 *
 * <p>Imports the JDK, {@code dev.troupe.config.fault}, {@code dev.troupe.engine}, {@code dev.troupe.fault},
 * {@code dev.troupe.lines}, {@code dev.troupe.observe}, {@code dev.troupe.plan}, {@code dev.troupe.schedule},
 * {@code dev.troupe.weights}, {@code dev.troupe.weights.huggingface} and {@code com.fasterxml.jackson}.
 */
package dev.troupe.chaos;
