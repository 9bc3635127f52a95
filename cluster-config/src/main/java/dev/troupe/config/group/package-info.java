/**
 * Where each rank stands: the grid of pipeline, data and tensor, and the process groups that follow from it. Pure
 * values, no configuration file. Imports the JDK only.
 */
package dev.troupe.config.group;
