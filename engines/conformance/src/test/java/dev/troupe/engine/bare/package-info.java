/** An engine without kernels, and the conformance suite on it. */
package dev.troupe.engine.bare;
