package dev.troupe.engine.cpu.library;

import static dev.troupe.engine.cpu.library.MachineCode.F2;
import static dev.troupe.engine.cpu.library.MachineCode.MAP_0F;
import static dev.troupe.engine.cpu.library.MachineCode.MAP_0F38;
import static dev.troupe.engine.cpu.library.MachineCode.MAP_0F3A;
import static dev.troupe.engine.cpu.library.MachineCode.NONE;
import static dev.troupe.engine.cpu.library.MachineCode.R11;
import static dev.troupe.engine.cpu.library.MachineCode.R8;
import static dev.troupe.engine.cpu.library.MachineCode.R9;
import static dev.troupe.engine.cpu.library.MachineCode.RAX;
import static dev.troupe.engine.cpu.library.MachineCode.RDI;
import static dev.troupe.engine.cpu.library.MachineCode.RSI;
import static dev.troupe.engine.cpu.library.MachineCode.X66;

/**
 * The machine code that splits floats into panels of {@link TileCode}, for the calling convention of System V: floats in
 * rdi, the panel in rsi, the bytes from a row of floats to the next in rdx, the number of blocks in rcx, and in r8 the
 * memory of the range. The first part is the nearest number of bfloat16, the second the nearest to the rest, and so on.
 *
 * <p>The range is two vectors: the smallest magnitudes less one, zero counting as the largest, and the largest magnitudes,
 * as whole numbers without a sign. The Vector API takes ten times as long: its compiler gives up on so many vectors.
 */
final class SplitCode {
    /** Bytes of the constants: the mask of a magnitude, and the order in which numbers of two rows become one row. */
    static final int CONSTANT_BYTES = 128;
    private static final int VECTOR_BYTES = 64;
    private static final int ROWS = 32;
    private static final int PAIRS = 16;

    // Vectors: two of floats, three for parts, two of the range, three of constants.
    private static final int X = 0;
    private static final int Y = 1;
    private static final int MAGNITUDE = 2;
    private static final int BOTH = 3;
    private static final int NUMBERS = 4;
    private static final int LEAST = 6;
    private static final int MOST = 7;
    private static final int MASK = 8;
    private static final int ONES = 9;
    private static final int TURNS = 10;

    private final MachineCode code = new MachineCode();

    private SplitCode(long constants) {
        code.address(R9, constants);
        load(MASK, R9, 0);
        load(TURNS, R9, VECTOR_BYTES);
        code.vectors(MAP_0F3A, X66, false, 0x25, ONES, ONES, ONES).bytes(0xff); // vpternlogd
        code.vectors(MAP_0F, X66, false, 0xef, MOST, MOST, MOST); // vpxord
        code.vectors(MAP_0F, X66, false, 0xeb, LEAST, ONES, ONES); // vpord
    }

    /** Returns the code for 32 rows of a left side. */
    static MachineCode ofRows(int parts, long constants) {
        SplitCode made = new SplitCode(constants);
        MachineCode code = made.code;
        code.bytes(0x41, 0xba).number(ROWS); // mov r10d, 32
        int row = code.position();
        code.bytes(0x48, 0x89, 0xf8, 0x49, 0x89, 0xf3, 0x49, 0x89, 0xc9); // mov rax, rdi; mov r11, rsi; mov r9, rcx
        int block = code.position();
        made.load(X, RAX, 0);
        made.load(Y, RAX, VECTOR_BYTES);
        made.count(X);
        made.count(Y);
        for (int part = 0; part < parts; part++) {
            made.round(BOTH);
            made.store(BOTH, R11, part * TileCode.PART_BYTES);
            if (part < parts - 1) {
                made.widen(NUMBERS, part * TileCode.PART_BYTES);
                made.subtract(X, NUMBERS);
                made.widen(NUMBERS, part * TileCode.PART_BYTES + VECTOR_BYTES / 2);
                made.subtract(Y, NUMBERS);
            }
        }
        code.bytes(0x48, 0x05).number(2 * VECTOR_BYTES); // add rax, 128
        code.bytes(0x49, 0x81, 0xc3).number(parts * TileCode.PART_BYTES); // add r11, bytes of a block
        code.bytes(0x49, 0xff, 0xc9).loop(block); // dec r9
        code.bytes(0x48, 0x01, 0xd7); // add rdi, rdx
        code.bytes(0x48, 0x81, 0xc6).number(VECTOR_BYTES); // add rsi, 64
        code.bytes(0x49, 0xff, 0xca).loop(row); // dec r10
        return made.end();
    }

    /** Returns the code for 32 columns of a right side, with two rows in one, their numbers in turn. */
    static MachineCode ofColumns(int parts, long constants) {
        SplitCode made = new SplitCode(constants);
        MachineCode code = made.code;
        int block = code.position();
        code.bytes(0x41, 0xba).number(PAIRS); // mov r10d, 16
        int pair = code.position();
        code.bytes(0x48, 0x8d, 0x04, 0x17); // lea rax, [rdi + rdx]
        for (int tile = 0; tile < 2; tile++) {
            made.load(X, RDI, tile * VECTOR_BYTES);
            made.load(Y, RAX, tile * VECTOR_BYTES);
            made.count(X);
            made.count(Y);
            for (int part = 0; part < parts; part++) {
                made.round(BOTH);
                code.vectors(MAP_0F38, X66, true, 0x8d, BOTH, TURNS, BOTH); // vpermw
                made.store(BOTH, RSI, part * TileCode.PART_BYTES + tile * TileCode.TILE_BYTES);
                if (part < parts - 1) {
                    made.shiftUp(NUMBERS, BOTH);
                    made.subtract(X, NUMBERS);
                    code.vectors(MAP_0F, X66, false, 0x72, 2, NUMBERS, BOTH).bytes(16); // vpsrld
                    made.shiftUp(NUMBERS, NUMBERS);
                    made.subtract(Y, NUMBERS);
                }
            }
        }
        code.bytes(0x48, 0x8d, 0x3c, 0x10); // lea rdi, [rax + rdx]
        code.bytes(0x48, 0x81, 0xc6).number(VECTOR_BYTES); // add rsi, 64
        code.bytes(0x49, 0xff, 0xca).loop(pair); // dec r10
        code.bytes(0x48, 0x81, 0xc6).number((long) parts * TileCode.PART_BYTES - TileCode.TILE_BYTES); // add rsi, rest
        code.bytes(0x48, 0xff, 0xc9).loop(block); // dec rcx
        return made.end();
    }

    /** Extends the range by the magnitudes of a vector of floats. */
    private void count(int floats) {
        code.vectors(MAP_0F, X66, false, 0xdb, MAGNITUDE, floats, MASK); // vpandd
        code.vectors(MAP_0F38, X66, false, 0x3f, MOST, MOST, MAGNITUDE); // vpmaxud
        code.vectors(MAP_0F, X66, false, 0xfe, MAGNITUDE, MAGNITUDE, ONES); // vpaddd
        code.vectors(MAP_0F38, X66, false, 0x3b, LEAST, LEAST, MAGNITUDE); // vpminud
    }

    /** vcvtne2ps2bf16: X in the lower half, Y in the upper one. */
    private void round(int to) {
        code.vectors(MAP_0F38, F2, false, 0x72, to, Y, X);
    }

    /** The floats of 16 numbers that were stored. */
    private void widen(int to, int offset) {
        code.memory(MAP_0F38, X66, 0x33, to, R11, offset); // vpmovzxwd
        shiftUp(to, to);
    }

    private void shiftUp(int to, int from) {
        code.vectors(MAP_0F, X66, false, 0x72, 6, to, from).bytes(16); // vpslld
    }

    private void subtract(int from, int what) {
        code.vectors(MAP_0F, NONE, false, 0x5c, from, from, what); // vsubps
    }

    private void load(int vector, int base, int offset) {
        code.memory(MAP_0F, NONE, 0x10, vector, base, offset); // vmovups
    }

    private void store(int vector, int base, int offset) {
        code.memory(MAP_0F, NONE, 0x11, vector, base, offset); // vmovups
    }

    private MachineCode end() {
        store(LEAST, R8, 0);
        store(MOST, R8, VECTOR_BYTES);
        return code.bytes(0xc5, 0xf8, 0x77, 0xc3); // vzeroupper; ret
    }
}
