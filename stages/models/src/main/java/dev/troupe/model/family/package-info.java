/** The list of families. */
package dev.troupe.model.family;
