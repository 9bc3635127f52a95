/**
 * The libraries of matrix products, and what they and the processor can do here.
 */
package dev.troupe.engine.cpu.library;
