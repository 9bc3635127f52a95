/** Tests of where ranks are placed, and of what a cluster answers. */
package dev.troupe.config.cluster;
