/** Tests of the ND4J engine; they may import the conformance suite. */
package dev.troupe.engine.nd4j;
