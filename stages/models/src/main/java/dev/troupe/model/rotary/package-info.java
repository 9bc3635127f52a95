/**
 * What Llama and the families after it have in common: numbers, layers under their published names, and how a {@code
 * config.json} says them.
 */
package dev.troupe.model.rotary;
