/**
 * A run from its specification to its end: what is planned and checked before anything starts, where files go, and the
 * actor system that carries it out.
 */
package dev.troupe.run;
