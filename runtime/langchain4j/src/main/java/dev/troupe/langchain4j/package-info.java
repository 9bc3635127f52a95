/** A model of Troupe for LangChain4j. It uses the library and LangChain4j's core alone. */
package dev.troupe.langchain4j;
