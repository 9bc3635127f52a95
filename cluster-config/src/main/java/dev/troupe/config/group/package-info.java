/**
 * The coordinates of each rank in the grid of pipeline, data and tensor, and the process groups that follow from them.
 * Pure values, no configuration file.
 *
 * <p>Imports the JDK.
 */
package dev.troupe.config.group;
