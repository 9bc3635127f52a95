/** The speed of a run's page in a browser. */
package dev.troupe.bench.page;
