/** Tests of {@link dev.troupe.cli.options}. */
package dev.troupe.cli.options;
