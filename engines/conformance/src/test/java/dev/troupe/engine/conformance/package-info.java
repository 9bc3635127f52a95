/** The reference engine as the first subject of the conformance tests. */
package dev.troupe.engine.conformance;
