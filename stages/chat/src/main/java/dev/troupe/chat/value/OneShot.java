package dev.troupe.chat.value;

import java.util.Iterator;

/**
 * A Python iterator, such as the result of the filters {@code map} and {@code select}: its elements are computed as they are
 * taken, and they can be taken once.
 */
public record OneShot(Iterator<Object> elements) {
}
