/** The vocabulary of a model's declaration: axes, shapes, splits, initial values, costs. */
package dev.troupe.model.spec;
