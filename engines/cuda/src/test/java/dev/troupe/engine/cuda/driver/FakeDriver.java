package dev.troupe.engine.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A driver of two GPUs with native functions that call this object, so that they are called as the real ones
 * are: by their names, with the types of cuda.h (the parameters of the methods) and by the machine's calling convention.
 */
@SuppressWarnings("restricted")
class FakeDriver implements SymbolLookup {
    static final int DONE = 0;
    static final int OUT_OF_MEMORY = 2;
    static final int PEER_ACCESS_ALREADY_ENABLED = 704;
    private static final long MOST_BYTES = 4096;
    private static final MemoryLayout POINTER = ADDRESS
            .withTargetLayout(MemoryLayout.sequenceLayout(MOST_BYTES, JAVA_BYTE));
    private static final MemoryLayout HANDLE = MemoryLayout.structLayout(MemoryLayout.sequenceLayout(64, JAVA_BYTE));

    /** The calls with an effect, in order. */
    final List<String> calls = new ArrayList<>();
    /** Results of functions in place of {@link #DONE}, by name. */
    final Map<String, Integer> refusals = new HashMap<>();
    /** By the ordinal of a GPU: the first byte of its UUID. */
    int[] uuids = {7, 8};
    boolean arePeers = true;
    private final Map<String, MemorySegment> functions = new HashMap<>();
    private final MemorySegment sentence = Arena.global().allocateFrom("as the test wants");

    FakeDriver() {
        for (Method method : FakeDriver.class.getMethods()) {
            if (method.getName().startsWith("cu")) {
                MemoryLayout[] parameters = Arrays.stream(method.getParameters()).map(parameter -> {
                    Class<?> type = parameter.getType();
                    boolean isValue = parameter.isAnnotationPresent(ByValue.class);
                    return type == int.class ? JAVA_INT : type == long.class ? JAVA_LONG : isValue ? HANDLE : POINTER;
                }).toArray(MemoryLayout[]::new);
                try {
                    functions.put(method.getName(), Linker.nativeLinker().upcallStub(
                            MethodHandles.lookup().unreflect(method).bindTo(this),
                            FunctionDescriptor.of(JAVA_INT, parameters), Arena.global()));
                } catch (IllegalAccessException impossible) {
                    throw new IllegalStateException(impossible);
                }
            }
        }
    }

    /** A parameter of 64 bytes that is passed by value. */
    @Retention(RetentionPolicy.RUNTIME)
    @interface ByValue {
    }

    @Override
    public Optional<MemorySegment> find(String name) {
        return Optional.ofNullable(functions.get(name));
    }

    private int called(String name, String arguments) {
        calls.add(name + " " + arguments);
        return refusals.getOrDefault(name, DONE);
    }

    private static void write(MemorySegment result, long value) {
        result.set(JAVA_LONG, 0, value);
    }

    public int cuGetErrorString(int status, MemorySegment result) {
        result.set(ADDRESS, 0, sentence);
        return DONE;
    }

    public int cuCtxSetCurrent(long context) {
        return DONE;
    }

    public int cuDevicePrimaryCtxRetain(MemorySegment result, int gpu) {
        write(result, 100 + gpu);
        return DONE;
    }

    public int cuModuleLoadData(MemorySegment result, MemorySegment text) {
        write(result, 1);
        return DONE;
    }

    public int cuModuleGetFunction(MemorySegment result, long module, MemorySegment name) {
        write(result, 2);
        return DONE;
    }

    public int cuDeviceGetDefaultMemPool(MemorySegment result, int gpu) {
        write(result, 200 + gpu);
        return DONE;
    }

    public int cuMemPoolSetAttribute(long pool, int attribute, MemorySegment value) {
        return DONE;
    }

    public int cuDeviceGetCount(MemorySegment result) {
        result.set(JAVA_INT, 0, uuids.length);
        return DONE;
    }

    public int cuDeviceGetUuid_v2(MemorySegment result, int gpu) {
        result.asSlice(0, 16).fill((byte) 0).set(JAVA_BYTE, 0, (byte) uuids[gpu]);
        return DONE;
    }

    public int cuDeviceCanAccessPeer(MemorySegment result, int gpu, int peer) {
        result.set(JAVA_INT, 0, arePeers ? 1 : 0);
        return called("cuDeviceCanAccessPeer", gpu + " " + peer);
    }

    public int cuCtxEnablePeerAccess(long peer, int flags) {
        return called("cuCtxEnablePeerAccess", peer + " " + flags);
    }

    public int cuMemPoolSetAccess(long pool, MemorySegment access, long count) {
        return called("cuMemPoolSetAccess", pool + " " + access.get(JAVA_INT, 0) + "," + access.get(JAVA_INT, 4) + ","
                + access.get(JAVA_INT, 8) + " " + count);
    }

    public int cuMemAlloc_v2(MemorySegment result, long bytes) {
        write(result, 5_000_000_000L);
        return called("cuMemAlloc_v2", "" + bytes);
    }

    public int cuMemFree_v2(long address) {
        return called("cuMemFree_v2", "" + address);
    }

    public int cuIpcGetMemHandle(MemorySegment result, long address) {
        for (int at = 0; at < 64; at++) {
            result.set(JAVA_BYTE, at, (byte) (address + at));
        }
        return called("cuIpcGetMemHandle", "" + address);
    }

    public int cuIpcOpenMemHandle_v2(MemorySegment result, @ByValue MemorySegment handle, int flags) {
        boolean isWhole = true;
        for (int at = 0; at < 64; at++) {
            isWhole &= handle.get(JAVA_BYTE, at) == (byte) (5_000_000_000L + at);
        }
        write(result, 6_000_000_000L);
        return called("cuIpcOpenMemHandle_v2", handle.byteSize() + " " + isWhole + " " + flags);
    }

    public int cuIpcCloseMemHandle(long address) {
        return called("cuIpcCloseMemHandle", "" + address);
    }
}
