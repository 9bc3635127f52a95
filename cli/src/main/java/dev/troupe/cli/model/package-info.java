/** Commands that use a whole model on one rank: to measure it and to let it write. */
package dev.troupe.cli.model;
