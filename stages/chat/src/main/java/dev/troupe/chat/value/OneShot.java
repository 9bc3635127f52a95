package dev.troupe.chat.value;

import java.util.Iterator;

/**
 * A Python iterator, such as the filters {@code map} and {@code select} make: its elements are computed as they are
 * taken, and they can be taken once.
 *
 * @param elements the elements that are left
 */
public record OneShot(Iterator<Object> elements) {
}
