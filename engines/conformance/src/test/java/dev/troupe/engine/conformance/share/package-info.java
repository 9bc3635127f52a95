/** Tests of {@link dev.troupe.engine.conformance.share}. */
package dev.troupe.engine.conformance.share;
