package dev.troupe.engine.cpu.loop;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * The threads of one engine: the thread that calls a kernel, and parked helpers. Work is cut into pieces by its size alone,
 * and each thread takes neighbouring pieces. The result of a piece does not depend on its thread.
 *
 * <p>Thread rule: one caller at a time.
 */
public final class WorkerPool implements AutoCloseable {
    @FunctionalInterface
    public interface Piece {
        /**
         * Computes the units {@code from} to {@code from + count - 1}.
         *
         * @param member the owner of the scratch memory to use, from 0 to the number of threads - 1
         */
        void compute(long from, int count, int member);
    }

    private static final int MEMBER_BITS = 16;
    /**
     * Spins of a waiting thread before it parks: some tens of microseconds, in which the next kernel of a layer usually
     * arrives, and about the time of a wake-up.
     */
    private static final int LOOKS = 400;

    private final Thread[] helpers;
    private final AtomicInteger working = new AtomicInteger();

    // The current work; written by the caller before `call`, read by helpers after it.
    private Piece piece;
    private long unitCount;
    private int pieceUnits;
    private int pieceCount;
    private Thread caller;
    private Throwable failure;

    /** The number of the call, and in the lowest bits its number of members; negative after the last call. */
    private volatile long call;

    public WorkerPool(int threads) {
        helpers = new Thread[threads - 1];
        for (int i = 0; i < helpers.length; i++) {
            int member = i + 1;
            helpers[i] = Thread.ofPlatform().daemon().name("cpu-engine-helper-" + member).start(() -> help(member));
        }
    }

    public int threads() {
        return helpers.length + 1;
    }

    /** Computes all units, {@code grain} in a piece; the last piece may be smaller. Returns when all are done. */
    public void share(long units, int grain, Piece piece) {
        int pieces = Math.toIntExact((units + grain - 1) / grain);
        int members = Math.min(threads(), pieces);
        if (members == 1) {
            run(piece, units, grain, 0, pieces, 0);
            return;
        }
        this.piece = piece;
        unitCount = units;
        pieceUnits = grain;
        pieceCount = pieces;
        caller = Thread.currentThread();
        working.set(members - 1);
        call = ((call >>> MEMBER_BITS) + 1 << MEMBER_BITS) + members;
        for (int i = 1; i < members; i++) {
            LockSupport.unpark(helpers[i - 1]);
        }
        Throwable own = null;
        try {
            runOf(0, members);
        } catch (RuntimeException | Error thrown) {
            own = thrown;
        }
        for (int look = 0; working.get() > 0; look++) {
            waitAfter(look);
        }
        this.piece = null;
        Throwable theirs = failure;
        failure = null;
        if (own != null || theirs != null) {
            throw new IllegalStateException("a kernel failed: " + (own != null ? own : theirs),
                    own != null ? own : theirs);
        }
    }

    private void help(int member) {
        long done = 0;
        int look = 0;
        while (true) {
            long now = call;
            if (now < 0) {
                return;
            }
            if (now == done) {
                waitAfter(look++);
                continue;
            }
            done = now;
            look = 0;
            // The fields belong to this call only while the caller waits for this member.
            int members = (int) (now & (1 << MEMBER_BITS) - 1);
            if (member >= members) {
                continue;
            }
            try {
                runOf(member, members);
            } catch (RuntimeException | Error thrown) {
                failure = thrown;
            }
            Thread waiting = caller;
            if (working.decrementAndGet() == 0) {
                LockSupport.unpark(waiting);
            }
        }
    }

    private void waitAfter(int look) {
        if (look < LOOKS) {
            Thread.onSpinWait();
        } else {
            LockSupport.park(this);
        }
    }

    private void runOf(int member, int members) {
        int first = (int) ((long) pieceCount * member / members);
        int end = (int) ((long) pieceCount * (member + 1) / members);
        run(piece, unitCount, pieceUnits, first, end, member);
    }

    private static void run(Piece piece, long units, int grain, int first, int end, int member) {
        for (int i = first; i < end; i++) {
            long from = (long) i * grain;
            piece.compute(from, (int) Math.min(grain, units - from), member);
        }
    }

    @Override
    public void close() {
        call = -1;
        for (Thread helper : helpers) {
            LockSupport.unpark(helper);
        }
    }
}
