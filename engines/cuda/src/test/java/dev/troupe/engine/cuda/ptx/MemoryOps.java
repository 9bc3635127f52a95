package dev.troupe.engine.cuda.ptx;

import static dev.troupe.engine.cuda.ptx.Warp.LANES;

import dev.troupe.engine.cuda.ptx.DeviceMemory.Allocation;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Loads and stores. An address is a register and an offset, or a variable and an offset. */
final class MemoryOps {
    static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle FLOAT = MethodHandles.byteArrayViewVarHandle(float[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle DOUBLE = MethodHandles.byteArrayViewVarHandle(double[].class,
            ByteOrder.LITTLE_ENDIAN);

    private MemoryOps() {
    }

    /** A transfer between one register of a lane and bytes. */
    @FunctionalInterface
    private interface Transfer {
        void run(Warp warp, int lane, byte[] bytes, int at);
    }

    /**
     * An address of each lane.
     *
     * @param wide its register of 64 bits; negative if it has none
     * @param narrow its register of 32 bits; negative if it has none
     */
    record Address(int wide, int narrow, long offset) {
        static Address of(String operand, Registers registers, Map<String, Integer> variables) {
            String inner = operand.substring(1, operand.length() - 1);
            int plus = inner.indexOf('+');
            String base = plus < 0 ? inner : inner.substring(0, plus);
            long offset = plus < 0 ? 0 : Long.parseLong(inner.substring(plus + 1));
            if (!base.startsWith("%")) {
                return new Address(-1, -1, offset + variables.get(base));
            }
            return registers.fileOf(base) == 'l'
                    ? new Address(registers.wide(base), -1, offset)
                    : new Address(-1, registers.integer(base), offset);
        }

        boolean isSame(Warp warp) {
            if (wide >= 0) {
                long[] bases = warp.longs[wide];
                return Arrays.mismatch(bases, 1, LANES, bases, 0, LANES - 1) < 0;
            }
            if (narrow >= 0) {
                int[] bases = warp.ints[narrow];
                return Arrays.mismatch(bases, 1, LANES, bases, 0, LANES - 1) < 0;
            }
            return true;
        }

        long of(Warp warp, int lane) {
            long base = wide >= 0 ? warp.longs[wide][lane] : narrow >= 0 ? warp.ints[narrow][lane] : 0;
            return base + offset;
        }
    }

    /** The instruction, or null if it is of another kind. */
    static Op of(Statement s, Registers registers, Map<String, Integer> variables) {
        boolean isLoad = s.base().equals("ld");
        if (!isLoad && !s.base().equals("st")) {
            return null;
        }
        int parts = s.has("v2") ? 2 : s.has("v4") ? 4 : 1;
        int width = width(s.type());
        int first = isLoad ? 0 : 1;
        List<Transfer> transfers = new ArrayList<>();
        for (int part = 0; part < parts; part++) {
            transfers.add(isLoad
                    ? load(s.operands().get(part), s.type(), registers)
                    : store(s.operands().get(first + part), s.type(), registers));
        }
        Transfer whole = parts == 1 ? transfers.getFirst() : (warp, lane, bytes, at) -> {
            for (int part = 0; part < parts; part++) {
                transfers.get(part).run(warp, lane, bytes, at + part * width);
            }
        };
        Address address = Address.of(s.operands().get(isLoad ? parts : 0), registers, variables);
        int size = parts * width;
        if (s.has("param")) {
            return parameter(whole, address);
        }
        if (isLoad && s.has("f32") && parts == 1) {
            int to = registers.real(s.operands().getFirst());
            return s.has("shared") ? sharedFloats(to, address) : globalFloats(to, address);
        }
        if (s.has("shared")) {
            return shared(whole, address, size, isLoad);
        }
        return s.has("global") ? global(whole, address, size) : null;
    }

    private static int width(String type) {
        return Integer.parseInt(type.substring(1)) / 8;
    }

    private static Op parameter(Transfer transfer, Address address) {
        return (warp, lanes) -> {
            for (int lane = 0; lane < LANES; lane++) {
                if ((lanes >>> lane & 1) != 0) {
                    transfer.run(warp, lane, warp.block.parameters, (int) address.of(warp, lane));
                }
            }
        };
    }

    /** The most frequent loads have their own loops, and a single access if all lanes read the same. */
    private static Op sharedFloats(int to, Address address) {
        return (warp, lanes) -> {
            SharedMemory memory = warp.block.shared;
            float[] result = warp.floats[to];
            if (lanes == -1 && address.isSame(warp)) {
                int at = memory.readingOfAll(warp, address.of(warp, 0), Float.BYTES);
                Arrays.fill(result, (float) FLOAT.get(memory.bytes(), at));
                return;
            }
            for (int lane = 0; lane < LANES; lane++) {
                if ((lanes >>> lane & 1) != 0) {
                    int at = memory.reading(warp, lane, address.of(warp, lane), Float.BYTES);
                    result[lane] = (float) FLOAT.get(memory.bytes(), at);
                }
            }
        };
    }

    private static Op globalFloats(int to, Address address) {
        return (warp, lanes) -> {
            DeviceMemory memory = warp.block.memory;
            float[] result = warp.floats[to];
            for (int lane = 0; lane < LANES; lane++) {
                if ((lanes >>> lane & 1) != 0) {
                    long from = address.of(warp, lane);
                    Allocation found = memory.of(warp, lane, from, Float.BYTES);
                    result[lane] = (float) FLOAT.get(found.bytes(), (int) (from - found.address()));
                }
            }
        };
    }

    private static Op shared(Transfer transfer, Address address, int size, boolean isLoad) {
        return (warp, lanes) -> {
            SharedMemory memory = warp.block.shared;
            for (int lane = 0; lane < LANES; lane++) {
                if ((lanes >>> lane & 1) != 0) {
                    long from = address.of(warp, lane);
                    int at = isLoad ? memory.reading(warp, lane, from, size) : memory.writing(warp, lane, from, size);
                    transfer.run(warp, lane, memory.bytes(), at);
                }
            }
        };
    }

    private static Op global(Transfer transfer, Address address, int size) {
        return (warp, lanes) -> {
            DeviceMemory memory = warp.block.memory;
            for (int lane = 0; lane < LANES; lane++) {
                if ((lanes >>> lane & 1) != 0) {
                    long from = address.of(warp, lane);
                    Allocation found = memory.of(warp, lane, from, size);
                    transfer.run(warp, lane, found.bytes(), (int) (from - found.address()));
                }
            }
        };
    }

    private static Transfer load(String operand, String type, Registers registers) {
        return switch (registers.fileOf(operand)) {
            case 'f' -> {
                int to = registers.real(operand);
                yield (warp, lane, bytes, at) -> warp.floats[to][lane] = (float) FLOAT.get(bytes, at);
            }
            case 'd' -> {
                int to = registers.precise(operand);
                yield (warp, lane, bytes, at) -> warp.doubles[to][lane] = (double) DOUBLE.get(bytes, at);
            }
            case 'l' -> {
                int to = registers.wide(operand);
                yield switch (type) {
                    case "u64", "b64", "s64" ->
                        (warp, lane, bytes, at) -> warp.longs[to][lane] = (long) LONG.get(bytes, at);
                    case "s32" -> (warp, lane, bytes, at) -> warp.longs[to][lane] = (int) INT.get(bytes, at);
                    case "u32" ->
                        (warp, lane, bytes, at) -> warp.longs[to][lane] = (int) INT.get(bytes, at) & 0xFFFF_FFFFL;
                    case "u16" ->
                        (warp, lane, bytes, at) -> warp.longs[to][lane] = (short) SHORT.get(bytes, at) & 0xFFFFL;
                    default -> throw new IllegalArgumentException("no load of " + type + " to 64 bits");
                };
            }
            default -> {
                int to = registers.integer(operand);
                yield width(type) == 2
                        ? (warp, lane, bytes, at) -> warp.ints[to][lane] = (short) SHORT.get(bytes, at) & 0xFFFF
                        : (warp, lane, bytes, at) -> warp.ints[to][lane] = (int) INT.get(bytes, at);
            }
        };
    }

    private static Transfer store(String operand, String type, Registers registers) {
        return switch (type) {
            case "f32" -> {
                int from = registers.real(operand);
                yield (warp, lane, bytes, at) -> FLOAT.set(bytes, at, warp.floats[from][lane]);
            }
            case "f64" -> {
                int from = registers.precise(operand);
                yield (warp, lane, bytes, at) -> DOUBLE.set(bytes, at, warp.doubles[from][lane]);
            }
            case "b64", "u64" -> {
                int from = registers.wide(operand);
                yield (warp, lane, bytes, at) -> LONG.set(bytes, at, warp.longs[from][lane]);
            }
            case "b32", "u32" -> {
                if (registers.fileOf(operand) == 'l') { // the lower half
                    int from = registers.wide(operand);
                    yield (warp, lane, bytes, at) -> INT.set(bytes, at, (int) warp.longs[from][lane]);
                }
                int from = registers.integer(operand);
                yield (warp, lane, bytes, at) -> INT.set(bytes, at, warp.ints[from][lane]);
            }
            case "b16", "u16" -> {
                int from = registers.integer(operand);
                yield (warp, lane, bytes, at) -> SHORT.set(bytes, at, (short) warp.ints[from][lane]);
            }
            default -> throw new IllegalArgumentException("no store of " + type);
        };
    }
}
