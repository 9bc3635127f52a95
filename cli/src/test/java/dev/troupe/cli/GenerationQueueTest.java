package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.generate.Sampling;
import dev.troupe.look.model.Generation;
import dev.troupe.look.model.GenerationQueue;
import dev.troupe.look.model.Submission;
import dev.troupe.look.model.TextEnd;
import dev.troupe.look.model.TextListener;
import dev.troupe.look.model.TextPiece;
import dev.troupe.look.model.TextRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The end of a queue of texts. */
@Tag("real")
@Timeout(120)
class GenerationQueueTest {
    @TempDir
    private Path directory;

    /** As a second Ctrl-C does while the answers in progress are awaited. */
    @Test
    void shouldEndTextsAtOnceWhileTheyAreAwaited() throws Exception {
        SmallModel.write(directory, "llama", "qwen", Map.of("key-value-heads", 2));
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch cancelled = new CountDownLatch(1);
        BlockingQueue<TextEnd> ends = new LinkedBlockingQueue<>();
        TextListener listener = new TextListener() {
            @Override
            public void piece(TextPiece piece) {
                begun.countDown();
                try {
                    cancelled.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }

            @Override
            public void end(TextEnd end) {
                ends.add(end);
            }

            @Override
            public void failed(RuntimeException failure) {
                throw failure;
            }
        };
        try (Generation generation = Generation.of(directory, List.of());
                GenerationQueue other = generation.open(60, 1, 1)) {
            TextRequest request = new TextRequest(generation.tokens("To be"), 20, new Sampling(0, 0, 1), List.of(),
                    Set.of(),
                    -1);
            other.submit(List.of(new Submission(request, listener), new Submission(request, listener)));
            begun.await();
            CompletableFuture<Boolean> drained = CompletableFuture.supplyAsync(() -> {
                try {
                    return other.drain(Duration.ofSeconds(100));
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            other.cancel();
            cancelled.countDown();
            assertTrue(drained.get());
            assertEquals(List.of(TextEnd.Reason.CANCELLED, TextEnd.Reason.CANCELLED),
                    ends.stream().map(TextEnd::reason).toList());
        }
    }
}
