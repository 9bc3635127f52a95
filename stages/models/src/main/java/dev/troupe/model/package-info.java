/** Model declarations: a list of layers with their parameters, the families that make such lists, and initial weights. */
package dev.troupe.model;
