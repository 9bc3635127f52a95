package dev.troupe.look.model;

import dev.troupe.engine.Engine;
import dev.troupe.generate.Continuation;
import dev.troupe.generate.Generator;
import dev.troupe.tokenizer.Tokenizer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A bounded queue of texts, and the thread that writes them with one model. A slot has one text at a time, and a text that
 * ends makes room for the first that waits (continuous batching, Yu et al. 2022). In each period the texts in slots get a
 * token each by one forward of all, in which long prompts are read in parts. With exact rows no text changes a bit of
 * another.
 *
 * <p>Thread rule: any thread.
 */
public final class GenerationQueue implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(GenerationQueue.class);
    private static final Duration LONGEST_PROMPT = Duration.ofMinutes(2);

    private final Engine engine;
    private final AdaptedGenerators generators;
    private final Tokenizer tokenizer;
    private final Set<Integer> ends;
    private final int slots;
    private final int most;
    private final Thread thread;
    /** The texts in slots; only the thread changes the list. */
    private final List<Slot> active = new ArrayList<>();
    private final Deque<Submission> waiting = new ArrayDeque<>();
    private boolean isClosing;
    private boolean isCancelling;
    private long ended;
    private long refused;
    private long promptTokens;
    private long tokens;

    /**
     * The numbers of a queue.
     *
     * @param active texts in slots now
     * @param waiting texts that wait for a slot now
     * @param ended texts that were written, cancelled or failed
     * @param refused submissions for which the queue had no room
     * @param promptTokens tokens of the prompts that were read
     * @param tokens tokens of texts that have ended
     */
    public record Counts(int active, int waiting, long ended, long refused, long promptTokens, long tokens) {
    }

    private record Slot(Submission submission, Continuation text, WrittenText written) {
    }

    /**
     * Starts the thread.
     *
     * @param engine closed with this, after the generators
     * @param ends the tokens that end a text
     * @param slots the most texts at a time
     * @param most the most texts that wait for a slot
     */
    GenerationQueue(Engine engine, AdaptedGenerators generators, Tokenizer tokenizer, Set<Integer> ends, int slots,
            int most) {
        this.engine = engine;
        this.generators = generators;
        this.tokenizer = tokenizer;
        this.ends = Set.copyOf(ends);
        this.slots = slots;
        this.most = most;
        this.thread = Thread.ofPlatform().daemon().name("generation").start(this::run);
    }

    /** Returns the most texts that one submission may have. */
    public int capacity() {
        return slots + most;
    }

    /**
     * Adds texts, all of them or none.
     *
     * @throws QueueFullException if there is no room for all of them, or the queue is closed
     * @throws IllegalArgumentException if there are more than {@link #capacity}, for which there is never room
     */
    public synchronized void submit(List<Submission> texts) {
        if (isClosing) {
            throw new QueueFullException("no text is taken any more: the model is being closed", true);
        }
        if (texts.size() > capacity()) {
            throw new IllegalArgumentException("a submission must have at most " + capacity() + " texts, but has "
                    + texts.size());
        }
        int free = slots - active.size() + most - waiting.size();
        if (texts.size() > free) {
            refused += texts.size();
            throw new QueueFullException("the queue has room for " + free + " texts, but the request has "
                    + texts.size() + ": " + slots + " are written at a time and " + most
                    + " wait; send it again later", false);
        }
        waiting.addAll(texts);
        notifyAll();
    }

    /**
     * Writes a text and waits for it.
     *
     * @param shown receives each piece of the text, on another thread
     * @throws InterruptedException if this thread was interrupted; the text is cancelled
     */
    public WrittenAnswer write(TextRequest request, Consumer<String> shown) throws InterruptedException {
        if (Thread.currentThread() == thread) {
            throw new IllegalStateException("a receiver of pieces must not wait for another text: it is called by the"
                    + " thread that writes all texts; write the next one from another thread");
        }
        AnswerCollector answer = new AnswerCollector(shown);
        Submission submission = new Submission(request, answer);
        submit(List.of(submission));
        try {
            return answer.await();
        } finally {
            submission.cancel(); // it has ended, or its reader was interrupted
        }
    }

    /**
     * Writes texts, as many at a time as there are slots.
     *
     * @param shown receives each text when it and all texts before it are written, on the calling thread
     * @throws QueueFullException if there is no room for all of them
     * @throws InterruptedException if this thread was interrupted; the texts are cancelled
     */
    public void writeAll(List<TextRequest> requests, Consumer<WrittenAnswer> shown) throws InterruptedException {
        List<AnswerCollector> answers = new ArrayList<>();
        List<Submission> submissions = new ArrayList<>();
        for (TextRequest request : requests) {
            answers.add(new AnswerCollector(_ -> {
            }));
            submissions.add(new Submission(request, answers.getLast()));
        }
        submit(submissions);
        try {
            for (AnswerCollector answer : answers) {
                shown.accept(answer.await());
            }
        } finally {
            submissions.forEach(Submission::cancel);
        }
    }

    public synchronized Counts counts() {
        return new Counts(active.size(), waiting.size(), ended, refused, promptTokens, tokens);
    }

    private void run() {
        try {
            while (admit()) {
                period();
            }
        } catch (Error failure) {
            LOG.error("the thread that writes texts ended", failure);
            throw failure;
        } finally {
            abandon();
            generators.close();
            engine.close();
        }
    }

    /** Fills free slots, and waits for a text if none is in a slot; returns false after the last one of a closed queue. */
    private boolean admit() {
        List<Submission> cancelled = new ArrayList<>();
        boolean continues;
        synchronized (this) {
            while (active.isEmpty() && waiting.isEmpty() && !isClosing) {
                try {
                    wait();
                } catch (InterruptedException _) {
                    isClosing = true; // nobody interrupts this thread but a JVM that ends
                }
            }
            waiting.removeIf(text -> (text.isCancelled() || isCancelling) && cancelled.add(text));
            continues = !active.isEmpty() || !waiting.isEmpty() || !isClosing;
        }
        cancelled.forEach(text -> deliver(text, () -> text.listener().end(new TextEnd(TextEnd.Reason.CANCELLED, "", 0)),
                0));
        for (Submission next = nextToBegin(); next != null; next = nextToBegin()) {
            begin(next);
        }
        return continues;
    }

    /** Returns the first text that waits if a slot is free, else null. */
    private synchronized Submission nextToBegin() {
        return active.size() < slots ? waiting.poll() : null;
    }

    private void begin(Submission submission) {
        TextRequest request = submission.request();
        try {
            Slot slot = new Slot(submission,
                    generators.of(request.adapter()).begin(request.prompt(), request.sampling()),
                    new WrittenText(tokenizer, request.stops()));
            synchronized (this) {
                active.add(slot);
                promptTokens += request.prompt().length;
            }
        } catch (RuntimeException failure) {
            deliver(submission, () -> submission.listener().failed(failure), 0);
        } catch (Error failure) {
            deliver(submission, () -> submission.listener().failed(new IllegalStateException(failure)), 0);
            throw failure;
        }
    }

    /** Reads the next rows of all texts in slots, and writes a token of each that is read. Texts of an adapter are apart. */
    private void period() {
        for (Slot slot : List.copyOf(active)) {
            if (slot.submission.isCancelled() || isCancelling()) {
                end(slot, TextEnd.Reason.CANCELLED);
            }
        }
        Map<Generator, List<Slot>> byGenerator = active.stream().collect(
                Collectors.groupingBy(slot -> slot.text.generator(), LinkedHashMap::new, Collectors.toList()));
        byGenerator.forEach((generator, some) -> {
            try {
                generator.read(some.stream().map(Slot::text).toList());
            } catch (RuntimeException failure) {
                some.forEach(slot -> leave(slot, () -> slot.submission.listener().failed(failure)));
                return;
            }
            some.stream().filter(slot -> slot.text.isReady()).forEach(this::step);
        });
    }

    /** Writes the next token of a text that is read. */
    private void step(Slot slot) {
        TextRequest request = slot.submission.request();
        try {
            int token = slot.text.draw();
            if (ends.contains(token) || request.stopTokens().contains(token)) {
                end(slot, TextEnd.Reason.STOP);
                return;
            }
            String shown = slot.written.add(token);
            boolean isWeighed = request.likeliest() >= 0;
            slot.submission.listener().piece(new TextPiece(shown, token,
                    isWeighed
                            ? OptionalDouble.of(slot.text.probability(token).logProbability())
                            : OptionalDouble.empty(),
                    isWeighed ? slot.text.likeliest(request.likeliest()) : List.of()));
            if (slot.written.isStopped()) {
                end(slot, TextEnd.Reason.STOP);
            } else if (slot.text.count() == request.most()) {
                end(slot, TextEnd.Reason.LENGTH);
            }
        } catch (RuntimeException failure) {
            leave(slot, () -> slot.submission.listener().failed(failure));
        }
    }

    private synchronized boolean isCancelling() {
        return isCancelling;
    }

    private void end(Slot slot, TextEnd.Reason reason) {
        leave(slot, () -> slot.submission.listener()
                .end(new TextEnd(reason, slot.written.rest(), slot.text.count())));
    }

    private void leave(Slot slot, Runnable last) {
        slot.text.close();
        synchronized (this) {
            active.remove(slot);
        }
        deliver(slot.submission, last, slot.text.count());
    }

    /** Delivers the last call of a text. */
    private void deliver(Submission submission, Runnable last, int written) {
        synchronized (this) {
            ended++;
            tokens += written;
        }
        try {
            last.run();
        } catch (RuntimeException failure) {
            submission.cancel();
            LOG.warn("the receiver of a text failed at its end", failure);
        }
    }

    /** Fails what is left after an error of the machine. */
    private void abandon() {
        List<Submission> left = new ArrayList<>();
        synchronized (this) {
            isClosing = true;
            active.forEach(slot -> left.add(slot.submission));
            left.addAll(waiting);
            waiting.clear();
        }
        List.copyOf(active).forEach(slot -> slot.text.close());
        synchronized (this) {
            active.clear();
        }
        IllegalStateException failure = new IllegalStateException("the thread that writes texts ended before this one");
        left.forEach(text -> deliver(text, () -> text.listener().failed(failure), 0));
    }

    /**
     * Takes no text any more, and waits for those that it has.
     *
     * @return whether all have ended
     */
    public boolean drain(Duration limit) throws InterruptedException {
        synchronized (this) {
            isClosing = true;
            notifyAll();
        }
        return thread.join(limit);
    }

    /** Takes no text any more, and cancels those that it has; does not wait. */
    public synchronized void cancel() {
        isClosing = true;
        isCancelling = true;
        notifyAll();
    }

    /** Cancels all texts, and waits until the memory of the engine is released: the time of one token, or of a prompt. */
    @Override
    public void close() {
        cancel();
        try {
            if (!thread.join(LONGEST_PROMPT)) {
                LOG.warn("the model has read a prompt for {} s; its memory is released afterwards",
                        LONGEST_PROMPT.toSeconds());
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
