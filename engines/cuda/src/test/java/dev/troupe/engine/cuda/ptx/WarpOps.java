package dev.troupe.engine.cuda.ptx;

import static dev.troupe.engine.cuda.ptx.Warp.LANES;

import dev.troupe.engine.Bfloat16;
import dev.troupe.engine.cuda.ptx.DeviceMemory.Allocation;
import dev.troupe.engine.cuda.ptx.MemoryOps.Address;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Map;

/** Instructions that all lanes of a warp take together, and copies that end later than they begin. */
final class WarpOps {
    private WarpOps() {
    }

    /** Whether all lanes must execute an instruction together. */
    static boolean isTogether(Statement s) {
        return switch (s.base()) {
            case "shfl", "vote", "ldmatrix", "mma", "cp" -> true;
            default -> false;
        };
    }

    /** The instruction, or null if it is of another kind. */
    static Op of(Statement s, Registers registers, Map<String, Integer> variables) {
        return switch (s.name()) {
            case "shfl.sync.bfly.b32" -> shuffled(s, registers, true);
            case "shfl.sync.idx.b32" -> shuffled(s, registers, false);
            case "vote.sync.ballot.b32" -> votes(s, registers);
            case "ldmatrix.sync.aligned.m8n8.x4.shared.b16" -> matrices(s, registers, variables, false);
            case "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16" -> matrices(s, registers, variables, true);
            case "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32" -> multiplied(s, registers);
            case "cp.async.cg.shared.global", "cp.async.ca.shared.global" -> copy(s, registers, variables);
            case "cp.async.commit_group" -> (warp, lanes) -> {
                warp.closedCopies.add(new ArrayDeque<>(warp.openCopies));
                warp.openCopies.clear();
            };
            case "cp.async.wait_group" -> awaited(Integer.parseInt(s.operands().getFirst()));
            default -> null;
        };
    }

    private static Op shuffled(Statement s, Registers registers, boolean isButterfly) {
        boolean isReal = registers.fileOf(s.operands().get(0)) == 'f';
        int to = isReal ? registers.real(s.operands().get(0)) : registers.integer(s.operands().get(0));
        int from = isReal ? registers.real(s.operands().get(1)) : registers.integer(s.operands().get(1));
        int lanes = registers.integer(s.operands().get(2));
        return (warp, _) -> {
            int[] ints = isReal ? null : warp.ints[from].clone();
            float[] floats = isReal ? warp.floats[from].clone() : null;
            for (int lane = 0; lane < LANES; lane++) {
                int other = (isButterfly ? lane ^ warp.ints[lanes][lane] : warp.ints[lanes][lane]) & LANES - 1;
                if (isReal) {
                    warp.floats[to][lane] = floats[other];
                } else {
                    warp.ints[to][lane] = ints[other];
                }
            }
        };
    }

    private static Op votes(Statement s, Registers registers) {
        int to = registers.integer(s.operands().get(0));
        int from = registers.predicate(s.operands().get(1));
        return (warp, _) -> Arrays.fill(warp.ints[to], warp.predicates[from]);
    }

    /** Lane l gives the address of row l % 8 of matrix l / 8, and has two neighbours of each matrix. */
    private static Op matrices(Statement s, Registers registers, Map<String, Integer> variables, boolean transposed) {
        int[] to = integers(s, registers, 0, 4);
        Address address = Address.of(s.operands().get(4), registers, variables);
        return (warp, _) -> {
            SharedMemory memory = warp.block.shared;
            int[] rows = new int[LANES];
            for (int lane = 0; lane < LANES; lane++) {
                rows[lane] = memory.reading(warp, lane, address.of(warp, lane), 16);
            }
            for (int matrix = 0; matrix < 4; matrix++) {
                for (int lane = 0; lane < LANES; lane++) {
                    int outer = lane / 4;
                    int inner = lane % 4 * 2;
                    int low = transposed ? rows[matrix * 8 + inner] + 2 * outer : rows[matrix * 8 + outer] + 2 * inner;
                    int high = transposed ? rows[matrix * 8 + inner + 1] + 2 * outer : low + 2;
                    warp.ints[to[matrix]][lane] = (short) MemoryOps.SHORT.get(memory.bytes(), low) & 0xFFFF
                            | (short) MemoryOps.SHORT.get(memory.bytes(), high) << 16;
                }
            }
        };
    }

    /** d [16 x 8] = a [16 x 16] b [16 x 8] + c; what is added up is cut, not rounded, as tensor cores do. */
    private static Op multiplied(Statement s, Registers registers) {
        int[] d = reals(s, registers, 0);
        int[] a = integers(s, registers, 4, 4);
        int[] b = integers(s, registers, 8, 2);
        int[] c = reals(s, registers, 10);
        return (warp, _) -> {
            double[][] left = new double[16][16];
            double[][] right = new double[8][16];
            for (int lane = 0; lane < LANES; lane++) {
                for (int part = 0; part < 4; part++) {
                    pair(warp.ints[a[part]][lane], left[lane / 4 + part % 2 * 8], lane % 4 * 2 + part / 2 * 8);
                }
                for (int part = 0; part < 2; part++) {
                    pair(warp.ints[b[part]][lane], right[lane / 4], lane % 4 * 2 + part * 8);
                }
            }
            for (int part = 0; part < 4; part++) {
                for (int lane = 0; lane < LANES; lane++) {
                    double[] row = left[lane / 4 + part / 2 * 8];
                    double[] column = right[lane % 4 * 2 + part % 2];
                    double sum = warp.floats[c[part]][lane];
                    for (int k = 0; k < 16; k++) {
                        sum += row[k] * column[k];
                    }
                    warp.floats[d[part]][lane] = cut(sum);
                }
            }
        };
    }

    private static void pair(int bits, double[] to, int at) {
        to[at] = Bfloat16.toFloat((short) bits);
        to[at + 1] = Bfloat16.toFloat((short) (bits >>> 16));
    }

    private static float cut(double number) {
        float nearest = (float) number;
        return Math.abs(nearest) > Math.abs(number) ? Math.nextAfter(nearest, 0) : nearest;
    }

    /**
     * Copies some bytes, the first of them from memory and the others zero, when they are waited for. A GPU may write them
     * at once, so that no other thread may read or write there from now on.
     */
    private static Op copy(Statement s, Registers registers, Map<String, Integer> variables) {
        Address to = Address.of(s.operands().get(0), registers, variables);
        Address from = Address.of(s.operands().get(1), registers, variables);
        int bytes = Integer.parseInt(s.operands().get(2));
        int sizes = registers.integer(s.operands().get(3));
        return (warp, _) -> {
            for (int lane = 0; lane < LANES; lane++) {
                int own = lane;
                long target = to.of(warp, lane);
                long source = from.of(warp, lane);
                int size = warp.ints[sizes][lane];
                warp.block.shared.writing(warp, lane, target, bytes);
                warp.openCopies.add(() -> copy(warp, own, target, bytes, source, size));
            }
        };
    }

    private static void copy(Warp warp, int lane, long target, int bytes, long source, int size) {
        SharedMemory shared = warp.block.shared;
        int at = shared.writing(warp, lane, target, bytes);
        Arrays.fill(shared.bytes(), at, at + bytes, (byte) 0);
        if (size > 0) {
            Allocation found = warp.block.memory.of(warp, lane, source, bytes);
            System.arraycopy(found.bytes(), (int) (source - found.address()), shared.bytes(), at, size);
        }
    }

    private static Op awaited(int open) {
        return (warp, _) -> {
            while (warp.closedCopies.size() > open) {
                warp.closedCopies.poll().forEach(Runnable::run);
            }
        };
    }

    private static int[] integers(Statement s, Registers registers, int first, int count) {
        int[] places = new int[count];
        for (int i = 0; i < count; i++) {
            places[i] = registers.integer(s.operands().get(first + i));
        }
        return places;
    }

    private static int[] reals(Statement s, Registers registers, int first) {
        int[] places = new int[4];
        for (int i = 0; i < 4; i++) {
            places[i] = registers.real(s.operands().get(first + i));
        }
        return places;
    }
}
