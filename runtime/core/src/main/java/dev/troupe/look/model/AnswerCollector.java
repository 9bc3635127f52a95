package dev.troupe.look.model;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;

/**
 * A listener that makes one answer of all pieces of a text.
 *
 * <p>Thread rule: {@link #await} on any thread.
 */
final class AnswerCollector implements TextListener {
    private final Consumer<String> shown;
    private final CompletableFuture<WrittenAnswer> answer = new CompletableFuture<>();
    private final WrittenAnswer.Builder written = new WrittenAnswer.Builder();

    /**
     * Collects a text.
     *
     * @param shown receives each piece, on the thread that writes
     */
    AnswerCollector(Consumer<String> shown) {
        this.shown = shown;
    }

    @Override
    public void piece(TextPiece piece) {
        written.add(piece);
        show(piece.text());
    }

    @Override
    public void end(TextEnd end) {
        show(end.rest());
        answer.complete(written.end(end));
    }

    private void show(String piece) {
        if (!piece.isEmpty()) {
            shown.accept(piece);
        }
    }

    @Override
    public void failed(RuntimeException failure) {
        answer.completeExceptionally(failure);
    }

    /** Waits for the end of the text. */
    WrittenAnswer await() throws InterruptedException {
        try {
            return answer.get();
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof RuntimeException known
                    ? known
                    : new IllegalStateException("a text failed", failed.getCause());
        }
    }
}
