/** A model of Troupe for Spring AI. It uses the library and Spring AI's interfaces alone. */
package dev.troupe.springai;
