/** Tests of {@link dev.troupe.cli.launch}. */
package dev.troupe.cli.launch;
