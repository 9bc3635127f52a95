/** Models as files of GGUF, the format of llama.cpp, under the names that a family declares. */
package dev.troupe.weights.gguf;
