/** Tests of collectives: what every implementation must do, and what each must besides. */
package dev.troupe.collective;
