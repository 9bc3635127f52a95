/**
 * The values of a configuration by key: read from their sources, checked for type and range, and written as a file again.
 */
package dev.troupe.config.value;
