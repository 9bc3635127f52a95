/** Tests of collectives: common to every implementation, and special to each. */
package dev.troupe.collective;
