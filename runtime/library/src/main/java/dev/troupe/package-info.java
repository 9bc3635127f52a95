/**
 * Troupe as a library: {@link dev.troupe.Troupe} trains a {@link dev.troupe.TrainingSpec}, {@link dev.troupe.Checkpoint}
 * reads the result, and {@link dev.troupe.TroupeGenerator} writes texts with it. This package is the interface for programs;
 * all others may change.
 */
@NullMarked
package dev.troupe;

import org.jspecify.annotations.NullMarked;
