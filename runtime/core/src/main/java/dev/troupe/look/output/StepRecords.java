package dev.troupe.look.output;

import dev.troupe.rank.idle.IdleTime;
import dev.troupe.rank.idle.MeasuredStep;
import dev.troupe.rank.idle.MeasuredTrace;
import dev.troupe.rank.idle.StepTimes;
import dev.troupe.rank.idle.Usual;
import dev.troupe.tokenizer.file.FileReason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The records of a run's interesting steps. A file {@code steps/000412.json} exists for the newest twenty, the slowest
 * thirty and the newest with a tag; {@code trace.json} for Perfetto has the newest ten. A separate thread splits idle time
 * by cause. If it is late, steps are left out; training does not wait.
 *
 * <p>Thread rule: {@link #continueAt} before the first step, {@link #add} on the coordinator's thread; {@link #close} on
 * any, once.
 */
public final class StepRecords implements AutoCloseable {
    public static final String DIRECTORY = "steps";
    /** The file for Perfetto in the directory of the run. */
    static final String TRACE = "trace.json";

    private static final int NEWEST = 20;
    private static final int SLOWEST = 30;
    private static final int TAGGED = 100;
    private static final int TRACED = 10;
    private static final int MOST_WAITING = 16;
    /** At about 56 bytes each; the limit for a step. */
    private static final int MOST_ACTIONS = 20_000;
    /**
     * The inverse of the share of time spent on writing, for the newest step's file and for all files, within the limits
     * below. A step of a small model takes some milliseconds of a core, about 1 % of its computation.
     */
    private static final long SHARE = 1000;
    /** The range of the time between two writes of all files. */
    private static final long WRITE_EVERY_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final long MOST_OUT_OF_DATE_NANOS = TimeUnit.MINUTES.toNanos(2);
    /** The range for the newest step's file, so that a killed run leaves one of its last steps. */
    private static final long WRITE_NEWEST_EVERY_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long MOST_OUT_OF_DATE_NEWEST_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long LOOK_EVERY_MILLIS = 100;
    private static final long PATIENCE_SECONDS = 10;

    /** A step with a file now or soon; its times are dropped once they are written. */
    private record Entry(long number, long nanos, boolean isTagged, MeasuredStep unwritten) {
    }

    private final Path directory;
    private final Consumer<MeasuredStep> measured;
    private final Consumer<String> trouble;
    private final BlockingQueue<StepTimes> waiting = new ArrayBlockingQueue<>(MOST_WAITING);
    private final Map<Long, Entry> kept = new TreeMap<>();
    private final Deque<MeasuredStep> newest = new ArrayDeque<>();
    private final Set<Long> written = new HashSet<>();
    /** Started with the first step. */
    private Thread thread;
    private volatile boolean isClosing;
    private Usual usual = Usual.UNKNOWN;
    private boolean isTroubled;

    /**
     * Creates the records of a run.
     *
     * @param measured receives each step with its idle time by cause, on this object's thread
     * @param trouble receives a sentence if a file cannot be written; the run continues without it
     */
    StepRecords(Path directory, Consumer<MeasuredStep> measured, Consumer<String> trouble) {
        this.directory = directory;
        this.measured = measured;
        this.trouble = trouble;
    }

    /** Removes the files of another run from a directory. */
    static void clear(Path directory) throws IOException {
        Files.deleteIfExists(directory.resolve(TRACE));
        Files.deleteIfExists(directory.resolve(ProcessMemory.FILE));
        Path steps = directory.resolve(DIRECTORY);
        if (Files.isDirectory(steps)) {
            try (Stream<Path> files = Files.list(steps)) {
                for (Path file : files.toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    /**
     * Takes over the files of an earlier process. Files from the step at which the run continues are removed, since these
     * steps are repeated.
     */
    void continueAt(long firstStep) {
        Path steps = directory.resolve(DIRECTORY);
        if (!Files.isDirectory(steps)) {
            return;
        }
        try (Stream<Path> files = Files.list(steps)) {
            for (Path file : files.toList()) {
                Optional<StepHead> before = StepHead.number(file).filter(number -> number < firstStep)
                        .flatMap(number -> StepHead.read(file).filter(head -> head.number() == number));
                if (before.isPresent()) {
                    StepHead head = before.get();
                    kept.put(head.number(), new Entry(head.number(), head.nanos(), !head.tags().isEmpty(), null));
                    written.add(head.number());
                } else {
                    Files.delete(file);
                }
            }
        } catch (IOException failure) {
            report(failure);
        }
    }

    /** Adds a step; one that is too large is left out. */
    synchronized void add(StepTimes step) {
        if (thread == null) {
            thread = Thread.ofPlatform().name("step-records").daemon().start(this::record);
        }
        if (step.ranks().stream().mapToLong(rank -> rank.ends().length).sum() <= MOST_ACTIONS) {
            waiting.offer(step);
        }
    }

    private void record() {
        long next = System.nanoTime() + WRITE_EVERY_NANOS;
        long nextNewest = System.nanoTime();
        try {
            while (!isClosing || !waiting.isEmpty()) {
                StepTimes step = waiting.poll(LOOK_EVERY_MILLIS, TimeUnit.MILLISECONDS);
                if (step != null) {
                    take(step);
                }
                long begin = System.nanoTime();
                if (begin - next >= 0) {
                    write();
                    next = begin + pause(begin, WRITE_EVERY_NANOS, MOST_OUT_OF_DATE_NANOS);
                }
                begin = System.nanoTime();
                if (step != null && begin - nextNewest >= 0) {
                    writeStep(step.step());
                    nextNewest = begin + pause(begin, WRITE_NEWEST_EVERY_NANOS, MOST_OUT_OF_DATE_NEWEST_NANOS);
                }
            }
            write();
            writeTrace();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt(); // never happens: the thread belongs to this class
        }
    }

    /** Returns the time from the beginning of a write to the next one. */
    private static long pause(long begin, long least, long most) {
        return Math.clamp(SHARE * (System.nanoTime() - begin), least, most);
    }

    private void take(StepTimes step) {
        usual = usual.with(step);
        MeasuredStep measured = new MeasuredStep(step, IdleTime.of(step, usual), usual);
        this.measured.accept(measured);
        kept.put(step.step(), new Entry(step.step(), measured.nanos(), !measured.tags().isEmpty(), measured));
        newest.addLast(measured);
        if (newest.size() > TRACED) {
            newest.removeFirst();
        }
        List<Entry> byNumber = new ArrayList<>(kept.values());
        Set<Long> worth = new HashSet<>();
        byNumber.reversed().stream().limit(NEWEST).forEach(entry -> worth.add(entry.number()));
        byNumber.stream().sorted(Comparator.comparingLong(Entry::nanos).reversed()).limit(SLOWEST)
                .forEach(entry -> worth.add(entry.number()));
        byNumber.reversed().stream().filter(Entry::isTagged).limit(TAGGED)
                .forEach(entry -> worth.add(entry.number()));
        kept.keySet().retainAll(worth);
    }

    private void write() {
        try {
            Path steps = Files.createDirectories(directory.resolve(DIRECTORY));
            for (Entry entry : List.copyOf(kept.values())) {
                write(steps, entry);
            }
            for (Long number : List.copyOf(written)) {
                if (!kept.containsKey(number)) {
                    Files.deleteIfExists(steps.resolve(fileName(number)));
                    written.remove(number);
                }
            }
            ReplacedFile.write(directory.resolve(ProcessMemory.FILE), ProcessMemory.text());
        } catch (IOException failure) {
            report(failure);
        }
    }

    private void writeStep(long number) {
        try {
            write(Files.createDirectories(directory.resolve(DIRECTORY)), kept.get(number));
        } catch (IOException failure) {
            report(failure);
        }
    }

    private void write(Path steps, Entry entry) throws IOException {
        if (entry.unwritten() != null) {
            ReplacedFile.write(steps.resolve(fileName(entry.number())), StepJson.write(entry.unwritten()));
            written.add(entry.number());
            kept.put(entry.number(), new Entry(entry.number(), entry.nanos(), entry.isTagged(), null));
        }
    }

    private void writeTrace() {
        if (newest.isEmpty()) {
            return;
        }
        try {
            ReplacedFile.write(directory.resolve(TRACE), MeasuredTrace.of(List.copyOf(newest)));
        } catch (IOException failure) {
            report(failure);
        }
    }

    private void report(IOException failure) {
        if (!isTroubled) {
            isTroubled = true;
            String why = FileReason.of(failure);
            trouble.accept("The times of steps cannot be written to " + directory.resolve(DIRECTORY) + ": " + why);
        }
    }

    public static String fileName(long step) {
        return String.format(Locale.ROOT, "%06d.json", step);
    }

    @Override
    public synchronized void close() {
        isClosing = true;
        if (thread == null) {
            return;
        }
        try {
            thread.join(TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS));
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
