/**
 * A disturbed run beside the undisturbed one: which faults struck, what it took to go on, and whether anything in the end
 * is different. Reads what runs leave in their directories, so that it does not matter in how many processes they ran.
 *
 * <p>Imports the JDK, {@code dev.troupe.config.fault}, {@code dev.troupe.fault}, {@code dev.troupe.machine},
 * {@code dev.troupe.plan}, {@code dev.troupe.schedule}, {@code dev.troupe.weights} and {@code com.fasterxml.jackson}.
 */
package dev.troupe.chaos;
