package dev.troupe.schedule.simulator;

/** A queue of numbers, first in, first out, without an object per element. */
final class LongQueue {
    private long[] elements = new long[4];
    private int first;
    private int size;

    boolean isEmpty() {
        return size == 0;
    }

    void add(long element) {
        if (size == elements.length) {
            long[] larger = new long[2 * size];
            for (int i = 0; i < size; i++) {
                larger[i] = elements[(first + i) % size];
            }
            elements = larger;
            first = 0;
        }
        elements[(first + size) % elements.length] = element;
        size++;
    }

    long remove() {
        long element = elements[first];
        first = (first + 1) % elements.length;
        size--;
        return element;
    }
}
