/** The reference engine against finite differences, hand-computed values and its contract. */
package dev.troupe.engine.reference;
