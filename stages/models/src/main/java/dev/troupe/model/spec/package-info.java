/**
 * The words a model is declared in: axes, shapes, splits, initial values, costs.
 */
package dev.troupe.model.spec;
