/** Files: the JSON files of tokenizers with their defects, files that are written as a whole, and hashes of content. */
package dev.troupe.tokenizer.file;
