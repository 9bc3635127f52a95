package dev.troupe.collective;

/** The collectives of a group. The code is sent, so it never changes. */
public enum Collective {
    ALL_REDUCE("all-reduce", 1), REDUCE_SCATTER("reduce-scatter", 2), ALL_GATHER("all-gather", 3), BROADCAST(
            "broadcast", 4), BARRIER("barrier", 5), EXCHANGE("exchange", 6), ALL_TO_ALL("all-to-all", 7);

    private final String word;
    private final int code;

    Collective(String word, int code) {
        this.word = word;
        this.code = code;
    }

    public String word() {
        return word;
    }

    public int code() {
        return code;
    }
}
