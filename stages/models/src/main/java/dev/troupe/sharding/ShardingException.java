package dev.troupe.sharding;

/** A refused sharding plan, with the line at fault. */
public final class ShardingException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    private final int line;

    /** @param line from 1; 0 if the fault is in no line */
    ShardingException(int line, String sentence) {
        super(line == 0 ? sentence : "line " + line + ": " + sentence);
        this.line = line;
    }

    /** Returns the line at fault, from 1; 0 if it is in no line. */
    public int line() {
        return line;
    }
}
