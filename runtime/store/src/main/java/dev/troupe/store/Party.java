package dev.troupe.store;

/** One end of a message. */
public record Party(Kind kind, int number) {
    /** The kinds of ends. */
    public enum Kind {
        /** Holds segments. */
        SERVER,
        /** Pushes and pulls. */
        WORKER,
        /** Decides who serves. There is one. */
        MANAGER
    }

    static final Party MANAGER = new Party(Kind.MANAGER, 0);

    static Party server(int number) {
        return new Party(Kind.SERVER, number);
    }

    static Party worker(int number) {
        return new Party(Kind.WORKER, number);
    }

    /** A message on its way. */
    public record Sent(Party from, Party to, StoreMessage message) {
    }
}
