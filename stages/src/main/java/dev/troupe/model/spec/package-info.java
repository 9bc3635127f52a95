/**
 * The sizes of a model.
 *
 * <p>Imports the JDK.
 */
package dev.troupe.model.spec;
