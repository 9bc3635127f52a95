package dev.troupe.look.model;

/**
 * The receiver of a text. All calls come from the thread that computes every text, so they must not wait. One that throws an
 * exception ends its own text only.
 */
public interface TextListener {
    /** Receives each token but one that ends the text. */
    void piece(TextPiece piece);

    /** Receives the end; the last call, unless the text failed. */
    void end(TextEnd end);

    /** Receives the failure of a text; the last call. */
    void failed(RuntimeException failure);
}
