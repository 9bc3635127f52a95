/** Tests of {@link dev.troupe.engine.conformance.skipped}. */
package dev.troupe.engine.conformance.skipped;
