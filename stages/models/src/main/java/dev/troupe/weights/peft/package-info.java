/** Low-rank adapters of a model: read and written as PEFT does, next to its weights, and merged into them. */
package dev.troupe.weights.peft;
