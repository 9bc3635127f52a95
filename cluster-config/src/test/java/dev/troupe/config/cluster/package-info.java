/** Tests of the placement of ranks, and of a cluster's queries. */
package dev.troupe.config.cluster;
