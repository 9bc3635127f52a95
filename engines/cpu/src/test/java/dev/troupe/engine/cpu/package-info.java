/** Tests of the cpu engine. */
package dev.troupe.engine.cpu;
