/** Tests of {@link dev.troupe.cli.report}. */
package dev.troupe.cli.report;
