package dev.troupe.engine.cpu.library;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Machine code of x86-64 with vectors of 512 bits, as it is written, and its way into executable memory. Encodings: Intel 64
 * and IA-32 Architectures Software Developer's Manual, volume 2, chapters 2.3 and 2.7 and the page of each instruction.
 *
 * <p>Thread rule: one thread at a time; a finished function on any thread.
 */
final class MachineCode {
    // The mandatory prefixes and the maps of opcodes, as EVEX encodes them.
    static final int NONE = 0;
    static final int X66 = 1;
    static final int F3 = 2;
    static final int F2 = 3;
    static final int MAP_0F = 1;
    static final int MAP_0F38 = 2;
    static final int MAP_0F3A = 3;

    // Registers of addresses, by their number.
    static final int RAX = 0;
    static final int RSI = 6;
    static final int RDI = 7;
    static final int R8 = 8;
    static final int R9 = 9;
    static final int R11 = 11;

    // From Linux: sys/mman.h.
    private static final int READ_WRITE = 3;
    private static final int READ_EXECUTE = 5;
    private static final int PRIVATE_ANONYMOUS = 0x22;
    private static final long PAGE = 4096;
    private static final int BYTE = 0xff;
    private static final int REGISTER = 0xc0;
    private static final int WITH_OFFSET = 0x80;

    /** A constant, which the compiler inlines. A call takes microseconds, so the state of the thread need not change. */
    private static final MethodHandle CALL = call();

    private final ByteArrayOutputStream code = new ByteArrayOutputStream();

    /** Bytes of an instruction. */
    MachineCode bytes(int... values) {
        for (int value : values) {
            code.write(value);
        }
        return this;
    }

    /** A number of 32 bits in an instruction. */
    MachineCode number(long value) {
        return number(value, Integer.BYTES);
    }

    private MachineCode number(long value, int length) {
        for (int i = 0; i < length; i++) {
            code.write((int) (value >>> Byte.SIZE * i) & BYTE);
        }
        return this;
    }

    /** Loads an address into r8 to r15. */
    MachineCode address(int register, long value) {
        return bytes(0x49, 0xb8 | register & 7).number(value, Long.BYTES);
    }

    int position() {
        return code.size();
    }

    /** Jumps to a position if the last count did not reach zero. */
    MachineCode loop(int position) {
        bytes(0x0f, 0x85);
        return number(position - code.size() - Integer.BYTES);
    }

    /**
     * An instruction on vectors 0 to 15.
     *
     * @param wide whether elements have the second size of the instruction
     */
    MachineCode vectors(int map, int prefix, boolean wide, int opcode, int to, int left, int right) {
        return prefix(map, prefix, wide, to, left, right).bytes(opcode, REGISTER | (to & 7) << 3 | right & 7);
    }

    /** An instruction with an operand in memory, at a register and an offset. */
    MachineCode memory(int map, int prefix, int opcode, int vector, int base, int offset) {
        return prefix(map, prefix, false, vector, 0, base)
                .bytes(opcode, WITH_OFFSET | (vector & 7) << 3 | base & 7).number(offset);
    }

    private MachineCode prefix(int map, int prefix, boolean wide, int register, int second, int last) {
        int inverted = 0x50 | (register < 8 ? 0x80 : 0) | (last < 8 ? 0x20 : 0);
        return bytes(0x62, inverted | map, (wide ? 0x80 : 0) | (~second & 0xf) << 3 | 4 | prefix, 0x48);
    }

    /**
     * Returns this code in executable memory, for {@link #call}.
     *
     * @throws IllegalStateException with a reason, if the system permits no such code
     */
    MemorySegment function() throws Throwable {
        MethodHandle map = ofSystem("mmap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
        MethodHandle protect = ofSystem("mprotect", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
        long address = (long) map.invokeExact(0L, PAGE, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0L);
        if (address == -1) {
            throw new IllegalStateException("the system has no memory for code");
        }
        at(address).copyFrom(MemorySegment.ofArray(code.toByteArray()));
        if ((int) protect.invokeExact(address, PAGE, READ_EXECUTE) != 0) {
            throw new IllegalStateException("the system permits no code made at run time");
        }
        return at(address);
    }

    /** Calls a function with up to six numbers. Any thread. */
    static void call(MemorySegment function, long first, long second, long third, long fourth, long fifth, long sixth) {
        try {
            CALL.invokeExact(function, first, second, third, fourth, fifth, sixth);
        } catch (Throwable failure) {
            throw new IllegalStateException("machine code could not be called: " + failure, failure);
        }
    }

    @SuppressWarnings("restricted")
    private static MemorySegment at(long address) {
        return MemorySegment.ofAddress(address).reinterpret(PAGE);
    }

    @SuppressWarnings("restricted")
    private static MethodHandle call() {
        return Linker.nativeLinker().downcallHandle(
                FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
                Linker.Option.critical(false));
    }

    @SuppressWarnings("restricted")
    private static MethodHandle ofSystem(String name, MemoryLayout result, MemoryLayout... arguments) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name),
                FunctionDescriptor.of(result, arguments));
    }
}
