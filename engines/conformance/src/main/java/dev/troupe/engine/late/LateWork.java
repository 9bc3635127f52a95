package dev.troupe.engine.late;

import dev.troupe.engine.Fence;
import dev.troupe.engine.Fence.Instants;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * The pending work of a late engine. Work in order runs in the order of the calls; copies at fences run independently, at
 * any time from their fence on. A random draw at each call selects the work that runs; awaited work always runs.
 *
 * <p>Thread rule: any thread; work runs on the thread that calls or waits, one piece at a time.
 */
final class LateWork {
    /** The most work that runs at one call. */
    private static final int MOST_AT_ONCE = 40;

    private final Random random;
    /** One of this many calls runs some work. */
    private final int rarity;
    private final Deque<Job> ordered = new ArrayDeque<>();
    private final List<Copy> copies = new ArrayList<>();
    private Job latest;
    private RuntimeException failure;

    /** A call, and the tensors that it uses. */
    static sealed class Job permits Copy {
        final String name;
        private final List<LateTensor> uses;
        private final Runnable work;
        boolean isDone;

        Job(String name, List<LateTensor> uses, Runnable work) {
            this.name = name;
            this.uses = List.copyOf(uses);
            this.work = work;
        }

        /** A tensor that this and another use; null if there is none. */
        private LateTensor shared(Job other) {
            for (LateTensor mine : uses) {
                for (LateTensor theirs : other.uses) {
                    if (mine.overlaps(theirs)) {
                        return mine;
                    }
                }
            }
            return null;
        }
    }

    static final class Copy extends Job {
        /** Null after it is done. */
        private Job after;
        private final boolean writesTensor;
        private final Runnable begin;
        private boolean hasBegun;

        /**
         * @param after the preceding work, in order or another copy; null if that is done
         * @param begin is run as soon as the preceding work is done
         */
        Copy(String name, LateTensor tensor, Job after, boolean writesTensor, Runnable begin, Runnable work) {
            super(name, List.of(tensor), work);
            this.after = after;
            this.writesTensor = writesTensor;
            this.begin = begin;
        }
    }

    LateWork(Random random) {
        this.random = random;
        this.rarity = new int[]{2, 8, 64, Integer.MAX_VALUE}[random.nextInt(4)];
    }

    /** Refuses every call after a failure. */
    synchronized void requireWhole() {
        if (failure != null) {
            throw new IllegalStateException("a call that ran late had failed: " + failure.getMessage(), failure);
        }
    }

    synchronized boolean hasFailed() {
        return failure != null;
    }

    synchronized void ask(Job job) {
        requireWhole();
        for (Copy copy : copies) {
            LateTensor shared = job.shared(copy);
            if (shared != null && (copy.writesTensor || job.name.equals("close"))) {
                throw misuse(job.name, shared, copy.name + " in progress still uses it");
            }
        }
        ordered.add(job);
        latest = job;
        if (random.nextInt(rarity) == 0) {
            runSome();
        }
    }

    /** Adds a copy; returns the fence at its end. */
    synchronized Fence ask(Copy copy) {
        requireWhole();
        boolean isBefore = copy.after != null && !copy.after.isDone && !(copy.after instanceof Copy);
        for (Job job : ordered) {
            LateTensor shared = isBefore ? null : job.shared(copy);
            if (shared != null) {
                throw misuse(copy.name, shared,
                        job.name + " was asked for before and may not have run: copy at a fence after it");
            }
            isBefore = isBefore && job != copy.after;
        }
        copies.add(copy);
        beginCopies();
        return new LateFence(copy);
    }

    private IllegalStateException misuse(String name, LateTensor tensor, String why) {
        failure = new IllegalStateException(String.format(Locale.ROOT, "%s: %s is not free: %s", name, tensor, why));
        return new IllegalStateException(failure.getMessage());
    }

    /** The fence after all work in order. */
    synchronized Fence fence() {
        requireWhole();
        return latest == null || latest.isDone ? Fence.REACHED : new LateFence(latest);
    }

    /** Instants at which work in order has run. */
    Instants instants(int count) {
        return new LateInstants(count);
    }

    /** The work before a fence of this engine; null for none. */
    static Job behind(Fence fence) {
        return fence instanceof LateFence late ? late.job : null;
    }

    synchronized void finish() {
        requireWhole();
        while (!ordered.isEmpty()) {
            runNext();
        }
        requireWhole();
    }

    synchronized void clear() {
        ordered.clear();
        copies.clear();
    }

    private void runSome() {
        for (int left = 1 + random.nextInt(MOST_AT_ONCE); left > 0; left--) {
            List<Copy> begun = copies.stream().filter(copy -> copy.hasBegun).toList();
            if (!begun.isEmpty() && (ordered.isEmpty() || random.nextInt(8) == 0)) {
                run(begun.get(random.nextInt(begun.size())));
            } else if (!ordered.isEmpty()) {
                runNext();
            }
        }
    }

    private void runNext() {
        run(ordered.peekFirst());
        ordered.pollFirst();
        beginCopies();
    }

    private void beginCopies() {
        for (Copy copy : copies) {
            if (!copy.hasBegun && (copy.after == null || copy.after.isDone)) {
                copy.hasBegun = true;
                guarded(copy.begin);
            }
        }
    }

    private void run(Job job) {
        guarded(job.work);
        job.isDone = true;
        if (job instanceof Copy copy) {
            copy.after = null;
            copies.remove(job);
            beginCopies();
        }
    }

    private void finish(Copy copy) {
        if (copy.after instanceof Copy before && !before.isDone) {
            finish(before);
        }
        while (!copy.hasBegun && !ordered.isEmpty()) {
            runNext();
        }
        if (!copy.isDone) {
            run(copy);
        }
    }

    private void guarded(Runnable work) {
        try {
            if (failure == null) {
                work.run();
            }
        } catch (RuntimeException broken) {
            failure = broken;
        }
    }

    /** Marks are pieces of work, so that their times are times of the work. */
    private final class LateInstants implements Instants {
        private final Job[] marks;
        private final long[] nanos;

        LateInstants(int count) {
            marks = new Job[count];
            nanos = new long[count];
        }

        @Override
        public void mark(int number) {
            synchronized (LateWork.this) {
                nanos[number] = 0;
                marks[number] = new Job("mark", List.of(), () -> nanos[number] = System.nanoTime());
                ask(marks[number]);
            }
        }

        @Override
        public long nanos(int number) {
            synchronized (LateWork.this) {
                requireWhole();
                return nanos[number];
            }
        }

        @Override
        public void await(int number) {
            synchronized (LateWork.this) {
                while (!marks[number].isDone && !ordered.isEmpty()) {
                    runNext();
                }
                requireWhole();
            }
        }
    }

    private final class LateFence implements Fence {
        private final Job job;

        LateFence(Job job) {
            this.job = job;
        }

        @Override
        public boolean isReached() {
            synchronized (LateWork.this) {
                if (!job.isDone && random.nextInt(4) == 0) {
                    runSome();
                }
                requireWhole();
                return job.isDone;
            }
        }

        @Override
        public void await() {
            synchronized (LateWork.this) {
                if (job instanceof Copy copy) {
                    finish(copy);
                } else {
                    while (!job.isDone && !ordered.isEmpty()) {
                        runNext();
                    }
                }
                requireWhole();
            }
        }
    }
}
