package dev.troupe.data;

import java.lang.foreign.MemorySegment;
import java.util.stream.IntStream;

/** Tokens 0, 1, 2, ... */
public final class CountingTokens {
    private CountingTokens() {
    }

    public static Tokens of(int count) {
        return new Tokens("counting", MemorySegment.ofArray(IntStream.range(0, count).toArray()), Integer.BYTES);
    }
}
