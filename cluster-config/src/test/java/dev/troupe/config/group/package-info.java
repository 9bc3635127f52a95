/** Tests of the grid of ranks and its groups. */
package dev.troupe.config.group;
