package dev.troupe.liveness;

/** How the process of a node ended. */
public enum End {
    /** It said so. */
    IN_ORDER,
    /** Its connection closed without a word, and nobody has its port any more, or a process that was started since. */
    WITHOUT_A_WORD
}
