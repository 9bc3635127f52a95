/**
 * Troupe as a library: {@link dev.troupe.Troupe} trains a {@link dev.troupe.TrainingSpec}, {@link dev.troupe.Checkpoint}
 * reads the result. This package is the interface for programs; all others may change.
 */
@NullMarked
package dev.troupe;

import org.jspecify.annotations.NullMarked;
