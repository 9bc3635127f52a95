/** The JSON files of tokenizers, and their defects. */
package dev.troupe.tokenizer.file;
