package dev.troupe.stage;

/** The ends of a tied token table that a stage has. */
public enum TiedEnd {
    /** Neither, or the model's head has a matrix of its own. */
    NONE,
    /** The embedding; another stage has the head with a copy of the table. */
    EMBEDDING,
    /** The head, with a copy of the table; another stage has the embedding. */
    HEAD,
    /** Both, on one table. */
    BOTH
}
