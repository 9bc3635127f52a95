/**
 * The JSON files of tokenizers, and what is wrong with them.
 */
package dev.troupe.tokenizer.file;
