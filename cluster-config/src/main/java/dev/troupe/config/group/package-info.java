/**
 * Where each rank stands: the grid of pipeline, data and tensor, and the process groups that follow from it. Pure values,
 * no configuration file.
 *
 * <p>Imports the JDK.
 */
package dev.troupe.config.group;
