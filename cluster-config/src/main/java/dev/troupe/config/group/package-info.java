/**
 * The coordinates of each rank in the grid of pipeline, data and tensor, and the process groups that follow from them.
 * Pure values, no configuration file.
 */
package dev.troupe.config.group;
