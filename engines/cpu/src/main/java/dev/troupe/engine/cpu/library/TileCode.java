package dev.troupe.engine.cpu.library;

/**
 * The machine code of a product of two panels on AMX, for the calling convention of System V: a in rdi, b in rsi, c in rdx,
 * the bytes from a row of c to the next in rcx, the number of blocks in r8, and in r9 an address of which each block
 * requests as many bytes ahead as it reads of b.
 *
 * <p>A panel is 32 rows of a, or 32 columns of b, in blocks of 32 along k. A block has for each part of a number, the
 * leading one first, two tiles of 1 KiB. Tiles 0 to 3 hold c, 4 and 5 are of a, 6 and 7 of b.
 */
final class TileCode {
    static final int TILE_BYTES = 1024;
    static final int PART_BYTES = 2 * TILE_BYTES;
    private static final int LINE = 64;

    // A base and an index register, as the SIB byte of a tile's address.
    private static final int A_BY_RAX = 0x07;
    private static final int B_BY_RAX = 0x06;
    private static final int C_BY_RCX = 0x0a;
    // The last byte of the VEX prefix of instructions on tiles, by its mandatory prefix.
    private static final int NONE = 0x78;
    private static final int LOAD = 0x7b;
    private static final int STORE = 0x7a;

    private final MachineCode code = new MachineCode();

    private TileCode() {
    }

    /**
     * Returns the code of c = sum of products of parts.
     *
     * @param parts parts of each number
     * @param products the parts of a and b that are multiplied, in the order in which their products are added
     * @param configuration the address of the configuration of tiles
     */
    static MachineCode of(int parts, int[][] products, long configuration) {
        TileCode made = new TileCode();
        MachineCode code = made.code;
        int blockBytes = parts * PART_BYTES;
        code.address(10, configuration);
        code.bytes(0xc4, 0xc2, NONE, 0x49, 0x02); // ldtilecfg [r10]
        code.bytes(0xb8).number(LINE); // mov eax, 64
        for (int tile = 0; tile < 4; tile++) {
            code.bytes(0xc4, 0xe2, LOAD, 0x49, 0xc0 | tile << 3); // tilezero
        }
        int loop = code.position();
        made.block(parts, products);
        code.bytes(0x48, 0x81, 0xc7).number(blockBytes); // add rdi, blockBytes
        code.bytes(0x48, 0x81, 0xc6).number(blockBytes); // add rsi, blockBytes
        code.bytes(0x49, 0x81, 0xc1).number(blockBytes); // add r9, blockBytes
        code.bytes(0x49, 0xff, 0xc8).loop(loop); // dec r8
        made.move(STORE, 0, C_BY_RCX, 0);
        made.move(STORE, 1, C_BY_RCX, LINE);
        code.bytes(0x48, 0x89, 0xc8, 0x48, 0xc1, 0xe0, 0x04); // mov rax, rcx; shl rax, 4
        code.bytes(0x48, 0x01, 0xc2); // add rdx, rax
        made.move(STORE, 2, C_BY_RCX, 0);
        made.move(STORE, 3, C_BY_RCX, LINE);
        return code.bytes(0xc4, 0xe2, NONE, 0x49, 0xc0, 0xc3); // tilerelease; ret
    }

    private void block(int parts, int[][] products) {
        int lines = parts * PART_BYTES / LINE;
        int ahead = 0;
        for (int i = 0; i < products.length; i++) {
            int a = products[i][0];
            int b = products[i][1];
            if (i == 0 || products[i - 1][0] != a) {
                move(LOAD, 4, A_BY_RAX, a * PART_BYTES);
                move(LOAD, 5, A_BY_RAX, a * PART_BYTES + TILE_BYTES);
            }
            if (i == 0 || products[i - 1][1] != b) {
                move(LOAD, 6, B_BY_RAX, b * PART_BYTES);
                move(LOAD, 7, B_BY_RAX, b * PART_BYTES + TILE_BYTES);
            }
            multiply(0, 4, 6);
            multiply(1, 4, 7);
            multiply(2, 5, 6);
            multiply(3, 5, 7);
            for (; ahead < lines * (i + 1) / products.length; ahead++) {
                code.bytes(0x41, 0x0f, 0x18, 0x91).number(ahead * LINE); // prefetcht1 [r9 + line]
            }
        }
    }

    private void move(int prefix, int tile, int address, int offset) {
        code.bytes(0xc4, 0xe2, prefix, 0x4b, 0x84 | tile << 3, address).number(offset);
    }

    /** tdpbf16ps: c += a b. */
    private void multiply(int c, int a, int b) {
        code.bytes(0xc4, 0xe2, (~b & 0xf) << 3 | 2, 0x5c, 0xc0 | c << 3 | a);
    }
}
