/** Tests of the reference engine: finite differences, values computed by hand, and its contract. */
package dev.troupe.engine.reference;
