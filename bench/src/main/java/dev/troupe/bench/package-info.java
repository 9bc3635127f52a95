/**
 * The questions that {@code bench/} answers, one main class for each, and what they share: sizes, one measured run,
 * tables. May import every module of Troupe and picocli.
 */
package dev.troupe.bench;
