/**
 * Troupe as a library: {@link dev.troupe.Troupe} trains, {@link dev.troupe.TrainingSpec} says what,
 * {@link dev.troupe.Checkpoint} reads the result. This package is the interface for programs; all others may change.
 */
package dev.troupe;
