/** The share of the tests that a build takes. */
package dev.troupe.engine.conformance.share;
