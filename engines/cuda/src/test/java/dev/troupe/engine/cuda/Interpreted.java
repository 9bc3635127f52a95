package dev.troupe.engine.cuda;

import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.check.CheckedEngine;
import dev.troupe.engine.cuda.blas.StandInCublasLt;
import dev.troupe.engine.cuda.ptx.InterpretedDevice;
import dev.troupe.engine.cuda.ptx.PtxModule;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.UnaryOperator;

/** Engines on the interpreter, each with its own orders. */
final class Interpreted {
    static final PtxModule MODULE = new PtxModule(Ptx.text());
    /** Each repetition draws other orders, so a few show what thousands would on a GPU. */
    static final int REPEATS = 2;
    /** The number of devices so far, so that each draws its own orders. */
    private static final Random ORDERS = new Random(1);

    private Interpreted() {
    }

    /** Whether a case is in every build: attention of up to 17 places, and some of the many products. */
    static boolean isQuick(String kernelCase) {
        boolean isLong = kernelCase.contains("T 700") || kernelCase.contains("ttention") && kernelCase.contains("T 97");
        boolean isOneOfMany = kernelCase.startsWith("matmul") && !kernelCase.endsWith("accumulate");
        return !isLong && (!isOneOfMany || kernelCase.hashCode() % 3 == 0);
    }

    /** The module with a defect: the text of one kernel is changed. */
    static PtxModule planted(String kernel, UnaryOperator<String> defect) {
        String text = Ptx.text();
        int begin = text.indexOf(".entry " + kernel + "(");
        int end = text.indexOf(".entry ", begin + 1);
        String body = text.substring(begin, end < 0 ? text.length() : end);
        String changed = defect.apply(body);
        assertNotEquals(body, changed, "the defect changes nothing in " + kernel);
        return new PtxModule(text.substring(0, begin) + changed + text.substring(begin + body.length()));
    }

    /** Draws orders from a seed, from now on. */
    static void drawFrom(long seed) {
        ORDERS.setSeed(seed);
    }

    static InterpretedDevice device() {
        return new InterpretedDevice(MODULE, ORDERS);
    }

    /** An engine on a device that does nothing before somebody waits. */
    static Engine lateEngine(DataType computeType) {
        return on(lateDevice(), computeType);
    }

    /** A device that does nothing before somebody waits. */
    static InterpretedDevice lateDevice() {
        return InterpretedDevice.late(MODULE, ORDERS);
    }

    /**
     * Late devices of a machine, two or more.
     *
     * @param bridges the ordinals of devices that reach each other's memory
     */
    static List<InterpretedDevice> machine(int count, List<Set<Integer>> bridges) {
        return InterpretedDevice.machine(MODULE, ORDERS, count, bridges);
    }

    /** One late GPU, as each of several processes has it. */
    static List<InterpretedDevice> processes(int count) {
        return InterpretedDevice.processes(MODULE, ORDERS, count);
    }

    static Engine engine(DataType computeType) {
        return on(device(), computeType);
    }

    /** One of the engines of a device, with products by a stand-in for cuBLASLt, as far as its tables list them. */
    static Engine withCublasLt(InterpretedDevice device, DataType computeType) {
        return new CheckedEngine(
                new CudaEngine(device, computeType, Optional.of(new StandInCublasLt(device).library())));
    }

    static Engine on(InterpretedDevice device, DataType computeType) {
        return new CheckedEngine(new CudaEngine(device, computeType));
    }
}
