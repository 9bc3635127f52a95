/** {@code troupe profile}: what the layers of a model take on a machine, and the ways between its nodes. */
package dev.troupe.cli.profile;
