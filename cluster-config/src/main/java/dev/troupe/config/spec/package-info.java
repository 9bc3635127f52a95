/**
 * The checked values of a configuration, a record for each section. The names of schedules, engines and layouts are plain
 * text here; the modules that own them parse them.
 */
package dev.troupe.config.spec;
