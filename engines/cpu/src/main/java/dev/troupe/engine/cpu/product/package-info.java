/**
 * Matrix products by the library chosen for their form: cut into panels, and in oneDNN with a right side that is packed
 * once.
 */
package dev.troupe.engine.cpu.product;
