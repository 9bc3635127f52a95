/** Commands of texts and whole models on one rank: tokens, loss, generated text, export. */
package dev.troupe.cli.model;
