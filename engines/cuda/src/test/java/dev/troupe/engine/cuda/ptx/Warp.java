package dev.troupe.engine.cuda.ptx;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;

/**
 * 32 threads of a block. Lanes that a branch has parted run one group after another, the one with the earliest instruction
 * first, and are together again where they meet; if an instruction needs all of them, the first wait.
 *
 * <p>Thread rule: one thread.
 */
final class Warp {
    static final int LANES = 32;
    private static final int EVERYBODY = -1;

    final PtxKernel kernel;
    final Block block;
    /** The number of this warp in the block. */
    final int index;
    final int[][] ints;
    final long[][] longs;
    final float[][] floats;
    final double[][] doubles;
    final int[] predicates;
    private final int[] someInts = new int[LANES];
    private final long[] someLongs = new long[LANES];
    private final float[] someFloats = new float[LANES];
    /** Copies to shared memory in progress, one list for each closed group; the last is open. */
    final Deque<Runnable> openCopies = new ArrayDeque<>();
    final Deque<Deque<Runnable>> closedCopies = new ArrayDeque<>();

    private final int[] next = new int[LANES];
    private int live;
    private int active;
    private int waiting;
    private int pc;
    private int limit;
    private boolean isAtBarrier;

    Warp(PtxKernel kernel, Block block, int index) {
        this.kernel = kernel;
        this.block = block;
        this.index = index;
        Registers registers = kernel.registers();
        ints = new int[registers.ints().size()][LANES];
        longs = new long[registers.longs().size()][LANES];
        floats = new float[registers.floats().size()][LANES];
        doubles = new double[registers.doubles().size()][LANES];
        predicates = new int[registers.predicateCount()];
        for (int i = 0; i < ints.length; i++) {
            Arrays.fill(ints[i], registers.ints().get(i));
        }
        for (int i = 0; i < longs.length; i++) {
            Arrays.fill(longs[i], registers.longs().get(i));
        }
        for (int i = 0; i < floats.length; i++) {
            Arrays.fill(floats[i], registers.floats().get(i));
        }
        for (int i = 0; i < doubles.length; i++) {
            Arrays.fill(doubles[i], registers.doubles().get(i));
        }
    }

    void begin() {
        live = EVERYBODY;
        waiting = 0;
        isAtBarrier = false;
        openCopies.clear();
        closedCopies.clear();
        Arrays.fill(next, 0);
    }

    boolean hasEnded() {
        return live == 0;
    }

    boolean isAtBarrier() {
        return isAtBarrier;
    }

    /** The number of a lane's thread in the block. */
    int thread(int lane) {
        return index * LANES + lane;
    }

    /** Runs until all lanes have ended or are at a barrier. */
    void run() {
        isAtBarrier = false;
        try {
            while (live != 0 && !isAtBarrier) {
                choose();
                runTogether();
            }
        } catch (PtxFault fault) {
            throw fault;
        } catch (RuntimeException failure) {
            throw new IllegalStateException("%s: %s".formatted(kernel.name(), kernel.code()[pc].text()), failure);
        }
    }

    /** Chooses the lanes with the earliest instruction among those that do not wait. */
    private void choose() {
        int free = live & ~waiting;
        if (free == 0) {
            int lane = Integer.numberOfTrailingZeros(live);
            pc = next[lane];
            if (live != EVERYBODY || Arrays.stream(next).anyMatch(place -> place != pc)) {
                throw fault(lane, "some lanes of the warp wait here, and others elsewhere or not at all");
            }
            waiting = 0;
            free = live;
        }
        pc = Integer.MAX_VALUE;
        limit = Integer.MAX_VALUE;
        for (int lane = 0; lane < LANES; lane++) {
            if ((free >>> lane & 1) != 0) {
                pc = Math.min(pc, next[lane]);
            }
        }
        active = 0;
        for (int lane = 0; lane < LANES; lane++) {
            if ((live >>> lane & 1) != 0) {
                if (next[lane] == pc) {
                    active |= 1 << lane;
                } else if ((free >>> lane & 1) != 0) {
                    limit = Math.min(limit, next[lane]);
                }
            }
        }
        waiting &= ~active;
    }

    /** Runs the chosen lanes until some leave them or others are to be joined. */
    private void runTogether() {
        Instruction[] code = kernel.code();
        while (pc < limit) {
            Instruction instruction = code[pc];
            int lanes = active;
            if (instruction.guard() >= 0) {
                int predicate = predicates[instruction.guard()];
                lanes &= instruction.negated() ? ~predicate : predicate;
            }
            switch (instruction.kind()) {
                case PLAIN -> {
                    if (lanes != 0) {
                        instruction.op().run(this, lanes);
                    }
                    pc++;
                }
                case TOGETHER -> {
                    if (lanes != EVERYBODY) {
                        part(active, pc);
                        waiting |= active;
                        return;
                    }
                    instruction.op().run(this, lanes);
                    pc++;
                }
                case BRANCH -> {
                    if (lanes == active) {
                        pc = instruction.target();
                    } else if (lanes == 0) {
                        pc++;
                    } else {
                        part(lanes, instruction.target());
                        part(active & ~lanes, pc + 1);
                        return;
                    }
                }
                case BARRIER -> {
                    if (active != EVERYBODY) {
                        part(active, pc);
                        waiting |= active;
                        return;
                    }
                    part(active, pc + 1);
                    isAtBarrier = true;
                    return;
                }
                case EXIT -> {
                    live &= ~lanes;
                    part(active & ~lanes, pc + 1);
                    return;
                }
            }
        }
        part(active, pc);
    }

    private void part(int lanes, int at) {
        for (int lane = 0; lane < LANES; lane++) {
            if ((lanes >>> lane & 1) != 0) {
                next[lane] = at;
            }
        }
    }

    /** The destination of a result: the register, or a temporary if some lanes keep their values. */
    int[] intsFor(int register, int lanes) {
        return lanes == EVERYBODY ? ints[register] : someInts;
    }

    long[] longsFor(int register, int lanes) {
        return lanes == EVERYBODY ? longs[register] : someLongs;
    }

    float[] floatsFor(int register, int lanes) {
        return lanes == EVERYBODY ? floats[register] : someFloats;
    }

    /** Copies a result from the temporary to the register of these lanes. */
    void settleInts(int register, int lanes) {
        if (lanes != EVERYBODY) {
            for (int lane = 0; lane < LANES; lane++) {
                if ((lanes >>> lane & 1) != 0) {
                    ints[register][lane] = someInts[lane];
                }
            }
        }
    }

    void settleLongs(int register, int lanes) {
        if (lanes != EVERYBODY) {
            for (int lane = 0; lane < LANES; lane++) {
                if ((lanes >>> lane & 1) != 0) {
                    longs[register][lane] = someLongs[lane];
                }
            }
        }
    }

    void settleFloats(int register, int lanes) {
        if (lanes != EVERYBODY) {
            for (int lane = 0; lane < LANES; lane++) {
                if ((lanes >>> lane & 1) != 0) {
                    floats[register][lane] = someFloats[lane];
                }
            }
        }
    }

    void settlePredicate(int register, int lanes, int bits) {
        predicates[register] = predicates[register] & ~lanes | bits & lanes;
    }

    PtxFault fault(int lane, String what) {
        return new PtxFault(
                "%s, block (%d, %d), thread %d: %s, at \"%s\"".formatted(kernel.name(), block.x(), block.y(),
                        thread(lane), what, kernel.code()[pc].text()));
    }
}
