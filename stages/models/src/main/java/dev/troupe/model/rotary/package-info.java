/**
 * The common parts of Llama and the families after it: numbers, layers under their published names, and the keys of a
 * {@code config.json}.
 */
package dev.troupe.model.rotary;
