package dev.troupe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Texts of a model that a run trained, from a program. */
@Tag("real")
@Timeout(120)
class TroupeGeneratorTest {
    @TempDir
    private static Path directory;

    @BeforeAll
    static void train() throws InterruptedException {
        Troupe.train(SmallTraining.spec(directory.resolve("run")).set("model.sequence-length", 64).build(),
                TrainingData.ofText(SmallTraining.TEXT), _ -> {
                });
    }

    private static TroupeGenerator.Builder builder() {
        return TroupeGenerator.builder(directory.resolve("run"));
    }

    private static GenerationOptions seeded(long seed) {
        return GenerationOptions.builder().tokens(12).temperature(1.5).seed(seed).build();
    }

    @Test
    void shouldRefuseToWaitForATextOnTheThreadThatWritesAll() throws Exception {
        try (TroupeGenerator generator = builder().open()) {
            IllegalStateException refused = assertThrows(IllegalStateException.class,
                    () -> generator.generate("To be", seeded(1), _ -> {
                        try {
                            generator.generate("or not", seeded(2));
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        }
                    }));
            assertTrue(refused.getMessage().contains("from another thread"), refused.getMessage());
            assertFalse(generator.generate("To be", seeded(1)).text().isEmpty());
        }
    }

    @Test
    void shouldWriteTheSameTextsAloneAndAtTheSameTime() throws Exception {
        List<String> alone = new ArrayList<>();
        try (TroupeGenerator generator = builder().slots(1).open()) {
            for (int text = 0; text < 12; text++) {
                alone.add(generator.generate("To be" + text, seeded(text)).text());
            }
            assertEquals(64, generator.context());
        }
        assertTrue(alone.stream().distinct().count() > 6, alone.toString());
        try (TroupeGenerator generator = builder().slots(5).open();
                ExecutorService threads = Executors.newFixedThreadPool(12)) {
            List<Callable<String>> texts = new ArrayList<>();
            for (int text = 0; text < 12; text++) {
                int number = text;
                texts.add(() -> {
                    StringBuilder pieces = new StringBuilder();
                    TroupeGenerator.Text whole = generator.generate("To be" + number, seeded(number), pieces::append);
                    assertEquals(whole.text(), pieces.toString());
                    assertTrue(whole.tokens() == 12 || whole.isComplete());
                    return whole.text();
                });
            }
            List<String> together = new ArrayList<>();
            for (Future<String> text : threads.invokeAll(texts)) {
                together.add(text.get());
            }
            assertEquals(alone, together);
        }
        SmallTraining.requireNothingLeft();
    }

    @Test
    void shouldEndATextAtAStop() throws InterruptedException {
        try (TroupeGenerator generator = TroupeGenerator.open(directory.resolve("run/checkpoints/step-000004"))) {
            String whole = generator.generate("To be", seeded(3)).text();
            String stop = whole.substring(whole.length() / 2, whole.length() / 2 + 1);
            TroupeGenerator.Text text = generator.generate("To be",
                    GenerationOptions.builder().tokens(12).temperature(1.5).seed(3).stop(stop).build());
            assertEquals(whole.substring(0, whole.indexOf(stop)), text.text());
            assertTrue(text.isComplete());
            assertEquals(5, text.promptTokens());
        }
    }

    @Test
    void shouldCancelATextWhenItIsClosedOrItsReceiverFails() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch closing = new CountDownLatch(1);
        TroupeGenerator generator = builder().open();
        try (ExecutorService threads = Executors.newFixedThreadPool(1)) {
            assertEquals("enough",
                    assertThrows(IllegalStateException.class, () -> generator.generate("To be", seeded(1), _ -> {
                        throw new IllegalStateException("enough");
                    })).getMessage());
            Future<?> text = threads.submit(() -> assertThrows(IllegalStateException.class,
                    () -> generator.generate("To be", seeded(1), _ -> {
                        begun.countDown();
                        try {
                            assertTrue(closing.await(30, TimeUnit.SECONDS));
                        } catch (InterruptedException interrupted) {
                            throw new IllegalStateException(interrupted);
                        }
                    })));
            assertTrue(begun.await(30, TimeUnit.SECONDS));
            Thread close = Thread.ofPlatform().start(generator::close);
            while (close.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait(); // until it waits for the text
            }
            closing.countDown();
            text.get(30, TimeUnit.SECONDS);
            close.join();
        }
        assertThrows(IllegalStateException.class, () -> generator.generate("To be", seeded(1)));
    }

    @Test
    void shouldRefuseInSentences() {
        refused("has none of their files", () -> TroupeGenerator.open(directory));
        refused("context must be at most 64", () -> builder().context(65).open());
        refused("tokens must be at least 1", () -> GenerationOptions.builder().tokens(0));
        refused("top-p above 0", () -> GenerationOptions.builder().topP(0).build());
        try (TroupeGenerator generator = builder().open()) {
            refused("5 tokens and 60 more are 65",
                    () -> generator.generate("To be", GenerationOptions.builder().tokens(60).build()));
            refused("need a chat template, but the tokenizer is bytes",
                    () -> generator.chat(List.of(TroupeGenerator.Message.user("To be?")),
                            GenerationOptions.defaults()));
        }
    }

    private static void refused(String part, Executable request) {
        String sentence = assertThrows(RequestException.class, request).getMessage();
        assertTrue(sentence.contains(part), sentence);
    }
}
